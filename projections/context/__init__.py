"""The context of a session: people's files, notes, recent facts, memories and summaries, within a budget.

Imported inside agents' hooks, but for `agent_context.py`, which programs are given.

Imported by: app.
"""
