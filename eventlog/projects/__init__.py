"""From a path to the project it belongs to, by git's own files; no process is started.

Imported by: eventlog, projections, app, cli.
"""
