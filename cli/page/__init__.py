"""The page in a browser: its HTML, and the server on loopback that keeps it current.

Imported by: cli.
"""
