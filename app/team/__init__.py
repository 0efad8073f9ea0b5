"""Decisions of a team: files of its repository, which a person agrees to before they reach the log.

Imported by: app, cli.
"""
