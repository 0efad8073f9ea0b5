"""A replay and every file it writes: the cache, knowledge, knowledge bases, copies for hosts.

Imported by: app, cli.
"""
