"""Replace a day file by another under its lock: the one exception to "no line is ever changed", for erasing and repair.

Writers that wait for the lock find another file at the path, and open that; readers see the old file or the new one.
"""

from collections.abc import Callable
from stat import S_IMODE

from eventlog.fast import os
from eventlog.store.dayfile import is_at, wait_for
from eventlog.store.files import ENDING, check_regular, not_stored, open_regular, remove, sync_dir, write_temporary

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def rewrite(path: str, make: Callable[[bytes], bytes | None], patience: float | None = None) -> bool:
    """Give a file of the log the bytes made of its own; None leaves it as it is. Tells whether it was replaced.

    Raises NotStored, or Busy where a writer holds the lock for so many seconds.
    """
    temporary = f"{path}.{os.urandom(4).hex()}{ENDING}"
    try:
        fd = _locked(path, patience)
    except OSError as error:
        raise not_stored(error, path) from error
    try:
        with os.fdopen(fd, "rb") as opened:
            here = os.fstat(opened.fileno())
            data = make(opened.read())
            if data is None:
                return False
            write_temporary(temporary, data, durable=True, mode=S_IMODE(here.st_mode))
            os.replace(temporary, path)
            sync_dir(os.path.dirname(path))
            return True
    except OSError as error:
        raise not_stored(error, path) from error
    finally:
        remove(temporary)


def _locked(path: str, patience: float | None) -> int:
    """Open the file at the path, and lock it against writers; raises OSError or Busy."""
    while True:
        fd = open_regular(path)
        try:
            check_regular(os.fstat(fd))
            if fcntl:
                wait_for(fd, fcntl.LOCK_EX, path, patience)
            if is_at(os.fstat(fd), path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
