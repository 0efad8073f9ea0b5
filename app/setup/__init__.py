"""Setting up a machine and caring for its store: install, doctor, completion, configuration, seals, backups.

Imported by: app, cli.
"""
