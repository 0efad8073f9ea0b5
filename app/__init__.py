"""Use cases: one function per thing a user can ask; the only floor that writes people's files. Nothing is printed.

Imported by: app, cli.
"""
