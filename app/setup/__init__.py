"""Setting up a machine: install, doctor, completion, configuration.

Imported by: cli.
"""
