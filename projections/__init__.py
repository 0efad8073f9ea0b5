"""Views of the log: every file of the knowledge directory is one projection of it, rebuilt by replay.

Imported by: projections, app, cli.
"""
