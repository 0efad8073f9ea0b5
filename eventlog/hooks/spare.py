"""`cache/hook-errors.spare`: room on the disk for saying that the disk is full.

Blank lines, overwritten in place: a file system that does not copy on write needs no new block for that.
Imported by the first hook of a store, and by those that fail.
"""

from eventlog.files import make_dirs
from eventlog.lean import os
from eventlog.store import Store

_SIZE = 8192  # bytes
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def reserve(store: Store) -> None:
    """See to it that the room is there; never raises."""
    try:
        make_dirs(store.cache)
        fd = os.open(store.spare, _CREATE, 0o600)
    except OSError:
        return
    try:
        os.write(fd, b"\n" * _SIZE)
    except OSError:
        os.unlink(store.spare)
    finally:
        os.close(fd)


def write(store: Store, line: bytes) -> None:
    """Put a line into the room that is left, none where there is none; raises OSError where there never was any."""
    fd = os.open(store.spare, os.O_RDWR)
    try:
        used = len(os.read(fd, _SIZE).rstrip(b"\n"))
        at = used + 1 if used else 0
        if at + len(line) < _SIZE:
            os.lseek(fd, at, os.SEEK_SET)
            os.write(fd, line)
    finally:
        os.close(fd)
