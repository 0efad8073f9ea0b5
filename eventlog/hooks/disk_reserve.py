"""Notes on a full disk: `cache/hook-errors.spare` and `cache/hooks-lost`.

The first has blank lines, overwritten in place: a file system that does not copy on write needs no new block for that.
The second counts lost events: its size is their number, all of it a hole, and its modification time that of the first
lost event. Growing it takes no block; creating it, a name in a directory. Imported by the first hook of a store, and by
hooks that fail.
"""

import time

from eventlog.fast import os
from eventlog.store import Store
from eventlog.store.files import MODE_PRIVATE, check_regular, make_dirs

_SIZE = 16_384  # bytes
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_COUNT = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def reserve(store: Store) -> None:
    """Create room for notes; never raises."""
    try:
        make_dirs(store.cache, durable=False)
        os.close(os.open(store.lost[0], _COUNT, MODE_PRIVATE))
        fd = os.open(store.spare, _CREATE, MODE_PRIVATE)
    except OSError:
        return
    try:
        os.write(fd, b"\n" * _SIZE)
    except OSError:
        os.unlink(store.spare)
    finally:
        os.close(fd)


def write(store: Store, line: bytes) -> None:
    """Write a line into the reserved room, if it fits; raises OSError where no room was ever reserved."""
    fd = os.open(store.spare, os.O_RDWR)
    try:
        _lock(fd)
        used = len(os.read(fd, _SIZE).rstrip(b"\n"))
        at = used + 1 if used else 0
        if at + len(line) < min(_SIZE, os.fstat(fd).st_size):
            os.lseek(fd, at, os.SEEK_SET)
            os.write(fd, line)
    finally:
        os.close(fd)


def count(store: Store) -> None:
    """Count a lost event; raises OSError."""
    inside, beside = store.lost
    try:
        _count(inside)
    except OSError:
        _count(beside)


def _count(path: str) -> None:
    fd = os.open(path, _COUNT, MODE_PRIVATE)
    try:
        _lock(fd)
        found = os.fstat(fd)
        check_regular(found)
        first = found.st_mtime_ns if found.st_size else time.time_ns()
        os.ftruncate(fd, found.st_size + 1)
        os.utime(fd, ns=(first, first))
    finally:
        os.close(fd)


def _lock(fd: int) -> None:
    """Lock the file until it is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(fd, fcntl.LOCK_EX)
