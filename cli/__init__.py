"""The shell: the only floor that prints. Defines the exit codes of all verbs, and how output ends that nobody reads.

Imported by: cli.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

EXIT_FOUND, EXIT_USAGE, EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_INTERRUPTED = 1, 2, 3, 4, 130


unprinted: list[OSError] = []  # why stdout has not taken all of the answer, but for a reader who wants no more


def put(line: str, file: "TextIO") -> bool:
    """Print a line at once, in a pipe without click, which takes 30 ms to load; return whether it was taken."""
    try:
        if file.isatty() or (file.encoding or "").lower() != "utf-8":
            import click

            click.echo(line, file)
        else:
            file.write(f"{line}\n")
            file.flush()
    except OSError as error:
        drop(file, error)
        return False
    return True


def drop(file: "TextIO", error: OSError) -> None:
    """Drop what a file has not taken and will not take: its reader closed the pipe (`… | head`), or the disk is full.

    The verb goes on: `eventlog redact … --yes | head -1` erases.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())
    if file is sys.stdout and not isinstance(error, BrokenPipeError):
        unprinted.append(error)
