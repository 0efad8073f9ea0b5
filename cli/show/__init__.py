"""Format ids, times, events and changes for people and programs.

Imported by: cli.
"""
