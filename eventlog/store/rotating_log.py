"""Logs beside the log, in `cache/`: a line for each thing noticed, bounded, lost with the cache.

Imported inside agents' hooks, when there is something to note: standard library only.
"""

from eventlog.fast import os


def append(path: str, line: bytes, largest: int, *, starts_anew: bool = True) -> None:
    """Add a line to the file; raises OSError, also where the disk takes only a part of it, which is taken back.

    A file of more than `largest` bytes is started anew, the old one kept as `.1`; or else it takes no more lines.
    """
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        before = os.fstat(fd).st_size
        if before > largest:
            if not starts_anew:
                return
            os.replace(path, f"{path}.1")
        written = os.write(fd, line + b"\n")
        if written <= len(line):
            if os.fstat(fd).st_size == before + written:  # no other line has come behind it
                os.ftruncate(fd, before)
            raise OSError("no space for the whole line")
    finally:
        os.close(fd)
