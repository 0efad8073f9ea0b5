"""Locks between processes, and the notes beside them: in `cache/`, or in `locks/` where there can be no cache."""

import errno
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from eventlog.format.errors import Busy, NotStored
from eventlog.store import Store, locks


def locked(store: Store, path: str, patience: float | None = None) -> AbstractContextManager[object]:
    """Take the lock of that path in the cache, for the `with` around it; none on a disk on which nobody can write.

    Raises NotStored where there can be none, Busy where its holder does not let go in so many seconds.
    """
    try:
        return locks.lock(usable(store, path), patience)
    except Busy:
        raise
    except NotStored as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EROFS:
            return nullcontext()
        raise


def usable(store: Store, path: str) -> str:
    """Return the path of a file in the cache, or of the one in its place where that cannot be written; makes neither.

    All programs of one user get the same.
    """
    wanted = existing = Path(path)
    while not os.path.lexists(existing):
        existing = existing.parent
    is_there = existing == wanted
    is_right = existing.is_file() if is_there else existing.is_dir()
    may_be = is_right and os.access(existing, os.R_OK | os.W_OK | (0 if is_there else os.X_OK))
    return path if may_be else f"{store.root}/locks/{wanted.name}"
