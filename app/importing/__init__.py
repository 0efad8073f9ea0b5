"""Import of what happened before: a reader per source yields plain events as of then, a writer adds what the log lacks.

Ids are derived from the source, so that any number of imports, interrupted anywhere, add each thing once.

Imported by: cli.
"""
