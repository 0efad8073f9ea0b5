"""From what a person says to what the log calls it: projects, agents, types, times, ids; and back to short ids.

Imported by: app, cli.
"""
