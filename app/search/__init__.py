"""Search: an index beside the log that each reader brings up to date, and what is asked of it.

Imported by: app, cli.
"""
