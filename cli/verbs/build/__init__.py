"""The verbs that replay the log and write files.

Imported by: cli.
"""
