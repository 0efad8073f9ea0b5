"""The shell: the only floor that prints. Defines the exit codes of all verbs, and how output ends that nobody reads.

Imported by: cli.
"""

import os
import sys

EXIT_FOUND, EXIT_USAGE, EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_INTERRUPTED = 1, 2, 3, 4, 130


def close_pipe() -> int:
    """Drop what stdout has not taken: the reader closed the pipe (`eventlog query | head`), or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
