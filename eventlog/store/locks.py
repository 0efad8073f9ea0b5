"""A lock between processes that the kernel takes back, however its holder ends.

`filelock`, which stands in on Windows, loads a good part of the standard library: a replay would wait for it.
"""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from eventlog.fast import os
from eventlog.store.dayfile import is_at, wait_for
from eventlog.store.files import OURS, PATIENCE, busy, make_dirs, not_stored

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def lock(path: str, patience: float | None = None) -> AbstractContextManager[object]:
    """Take a lock between processes, released by the `with` around it.

    Raises NotStored where there can be none, Busy where its holder does not let go in so many seconds.
    """
    try:
        make_dirs(os.path.dirname(path))
        return HeldLock(path, patience) if fcntl else _by_filelock(path, patience)
    except OSError as error:
        raise not_stored(error, path) from error


def _by_filelock(path: str, patience: float | None) -> AbstractContextManager[object]:
    from filelock import FileLock, Timeout

    try:
        return FileLock(path, mode=OURS).acquire(timeout=PATIENCE if patience is None else patience)
    except Timeout as error:
        raise busy(path, patience) from error


class HeldLock:
    """A file that is locked until the `with` around it ends; filelock takes it alike."""

    def __init__(self, path: str, patience: float | None = None) -> None:
        """Wait for it, so many seconds; raises OSError where there can be none, Busy where it is not to be had."""
        while True:
            self._fd = os.open(path, _OPEN, OURS)
            try:
                wait_for(self._fd, fcntl.LOCK_EX, path, patience)
                if is_at(os.fstat(self._fd), path):  # not one that was removed meanwhile
                    return
            except BaseException:
                os.close(self._fd)
                raise
            os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)  # also where a child still has the file
        os.close(self._fd)
