"""Questions about the log, each answered by a value; nothing is changed.

Imported by: app, cli.
"""
