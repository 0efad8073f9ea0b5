"""Imports of the past: a reader per source yields events as of then, `import_past` adds what the log lacks.

Ids are derived from the source: any number of imports, interrupted anywhere, add each event once.

Imported by: app, cli.
"""
