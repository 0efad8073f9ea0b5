"""Erase texts from the log, and from everything that was made of it.

Imported by: app, cli.
"""
