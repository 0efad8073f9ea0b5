"""`cache/hook-errors.spare` and `cache/hooks-lost`: what can still be said where the disk is full.

The first has blank lines, overwritten in place: a file system that does not copy on write needs no new block for that.
The second counts the events that nothing could keep: it is as many bytes long, all of them a hole, and was last
modified when the first one was lost. To make it longer takes no block; to make it at all, a name in a directory.
Imported by the first hook of a store, and by those that fail.
"""

import time

from eventlog.fast import os
from eventlog.store import Store
from eventlog.store.files import MODE_PRIVATE, check_regular, make_dirs

_SIZE = 16_384  # bytes
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_COUNT = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def reserve(store: Store) -> None:
    """See to it that the room is there; never raises."""
    try:
        make_dirs(store.cache)
        os.close(os.open(counters(store)[0], _COUNT, MODE_PRIVATE))
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
    """Put a line into the room that is left, none where there is none; raises OSError where there never was any."""
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


def counters(store: Store) -> tuple[str, str]:
    """Name the files in which lost events are counted: the second where there can be nothing in the store."""
    return store.cached("hooks-lost"), f"{store.root}.lost"


def count(store: Store) -> None:
    """Count an event that nothing could keep; raises OSError where that cannot be done either."""
    inside, beside = counters(store)
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
    """Let no two hooks write at once, until the file is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(fd, fcntl.LOCK_EX)
