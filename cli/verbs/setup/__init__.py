"""The verbs that set up a machine.

Imported by: cli.
"""
