"""The verbs that add events to the log.

Imported by: cli.
"""
