"""The verbs that hosts and models call.

Imported by: cli.
"""
