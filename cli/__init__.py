"""The shell: the only floor that prints. Defines the exit codes of all verbs.

Imported by: cli.
"""

EXIT_FOUND, EXIT_USAGE, EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_INTERRUPTED = 1, 2, 3, 4, 130
