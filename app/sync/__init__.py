"""The same memory on all machines of a user: what leaves, segments, keys, remotes, and the exchange itself.

Imported by: app, cli.
"""
