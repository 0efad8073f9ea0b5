"""Names that people type, as the log has them: projects, agents, types, times, ids; and short ids for people.

Imported by: app, cli.
"""
