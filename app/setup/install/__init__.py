"""Registering with agents: their own configuration files, changed by a few bytes and back.

Imported by: app, cli.
"""
