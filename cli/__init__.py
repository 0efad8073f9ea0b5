"""The shell: the only floor that prints. Defines the exit codes of all verbs, and how output ends that nobody reads.

Imported by: cli.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

EXIT_FOUND, EXIT_USAGE, EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_INTERRUPTED = 1, 2, 3, 4, 130


def close_pipe(file: "TextIO | None" = None) -> int:
    """Drop what a file, else stdout, has not taken: its reader closed the pipe (`… | head`), or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (file or sys.stdout).fileno())
    return 0
