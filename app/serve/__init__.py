"""The answers a host waits for: the context a session starts with, and its receipt.

Imported by: app, cli.
"""
