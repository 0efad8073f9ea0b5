"""The settings of a user: `config.yaml` read with its mistakes named, and a cached copy of its values for hooks.

Imported by: eventlog, projections, app, cli.
"""
