"""The fold of a replay: days, conversations, rows and documents, each updated where the log has changed; pure.

Imported by: projections, app, cli.
"""
