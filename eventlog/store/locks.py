"""Locks between processes, in `cache/`, or in `locks/` where the cache cannot be written.

The kernel releases a lock however its holder ends. `filelock` stands in on Windows only: to import it takes 40 ms, for
which every replay and every recorded event would wait, and it would save twenty lines.

Imported while an agent's command waits: standard library only, and little of it.
"""

from eventlog.fast import os
from eventlog.format.errors import Busy, NotStored
from eventlog.store.dayfile import open_locked
from eventlog.store.files import MODE_PRIVATE, PATIENCE, busy, make_dirs, not_stored

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from eventlog.store import Store

_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def lock(path: str, patience: float | None = None) -> "AbstractContextManager[object]":
    """Take a lock between processes, released by the `with` around it.

    Raises NotStored where it cannot be made, Busy where its holder does not release it in so many seconds.
    """
    try:
        make_dirs(os.path.dirname(path), durable=False)
        return _HeldLock(open_locked(path, patience, _open)) if fcntl else _by_filelock(path, patience)
    except OSError as error:
        raise not_stored(error, path) from error


def _by_filelock(path: str, patience: float | None) -> "AbstractContextManager[object]":
    from filelock import FileLock, Timeout

    try:
        return FileLock(path, mode=MODE_PRIVATE).acquire(timeout=PATIENCE if patience is None else patience)
    except Timeout as error:
        raise busy(path, patience) from error


def _open(path: str) -> int:
    return os.open(path, _OPEN, MODE_PRIVATE)


class _HeldLock:
    """A file that is locked until the `with` around it ends; filelock takes it alike."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: "TracebackType | None"
    ) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)  # also where a child still has the file
        os.close(self._fd)


def locked(store: "Store", path: str, patience: float | None = None) -> "AbstractContextManager[object]":
    """Take the lock of that path in the cache, for the `with` around it; none on a disk that cannot be written.

    Raises NotStored where it cannot be made, Busy where its holder does not release it in so many seconds.
    """
    try:
        return lock(usable(store, path), patience)
    except Busy:
        raise
    except NotStored as error:
        from contextlib import nullcontext
        from errno import EROFS

        if isinstance(error.__cause__, OSError) and error.__cause__.errno == EROFS:
            return nullcontext()
        raise


def usable(store: "Store", path: str) -> str:
    """Return the path of a file in the cache, or in `locks/` where that cannot be written; creates neither.

    All programs of a user get the same path.
    """
    existing = path
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    is_there = existing == path
    is_right = os.path.isfile(existing) if is_there else os.path.isdir(existing)
    may_be = is_right and os.access(existing, os.R_OK | os.W_OK | (0 if is_there else os.X_OK))
    return path if may_be else f"{store.root}/locks/{os.path.basename(path)}"
