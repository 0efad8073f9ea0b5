"""A lock between processes that the kernel takes back, however its holder ends.

`filelock`, which stands in on Windows, loads a good part of the standard library: a replay would wait for it.
"""

import fcntl
import os
from types import TracebackType
from typing import Self

from eventlog.dayfile import is_at, wait_for
from eventlog.files import OURS

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


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
