"""The verbs that ask the log.

Imported by: cli.
"""
