"""The use cases that add events to the log: saves, plans, edits, withdrawals and what takes them back.

Imported by: app, cli.
"""
