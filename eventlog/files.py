"""How files and directories of a store come to be: for the owner only, whole, and durable where it is promised.

Imported inside agents' hooks: os only; filelock when a lock is asked for.
"""

import os

from eventlog.errors import NotStored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager


_OURS = 0o600
_ENDING = ".tmp"
_ADDED = len(".0a1b2c3d") + len(_ENDING)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def make_dirs(path: str) -> None:
    """Create a directory and its parents, mode 0700, and make their names durable."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_dirs(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    sync_dir(parent or ".")


def sync_dir(path: str) -> None:
    """Make new names in a directory durable, where the system can (Windows cannot open one)."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: str, data: bytes, *, durable: bool = True, mode: int = _OURS) -> None:
    """Make `data` the whole content of a file of that mode, or leave the old one; raises NotStored.

    Temp file beside it, write, fsync, rename, fsync of the directory; a cache may leave out the syncs.
    """
    temporary = f"{path}.{os.urandom(4).hex()}{_ENDING}"
    try:
        make_dirs(os.path.dirname(path))
        with os.fdopen(os.open(temporary, _CREATE, _OURS), "wb") as opened:
            if mode != _OURS:
                os.chmod(temporary, mode)  # whatever the umask
            opened.write(data)
            opened.flush()
            if durable:
                os.fsync(opened.fileno())
        os.replace(temporary, path)
        if durable:
            sync_dir(os.path.dirname(path))
    except OSError as error:
        _remove(temporary)
        raise not_stored(error, path) from error
    except BaseException:
        _remove(temporary)
        raise


def sweep(path: str) -> None:
    """Remove what writers of this file left beside it when they were killed; only for who holds its lock."""
    directory, name = os.path.split(path)
    for other in os.listdir(directory) if os.path.isdir(directory) else ():
        if other.startswith(f"{name}.") and other.endswith(_ENDING) and len(other) == len(name) + _ADDED:
            _remove(f"{directory}/{other}")


def lock(path: str) -> "AbstractContextManager[object]":
    """A lock between processes, taken at once and released by the `with` around it; waits without end.

    Raises NotStored where there can be none.
    """
    from filelock import FileLock

    try:
        make_dirs(os.path.dirname(path))
        return FileLock(path, mode=0o600).acquire()
    except OSError as error:
        raise not_stored(error, path) from error


def not_stored(error: OSError, path: str) -> NotStored:
    """What a failed write means to the one who asked for it."""
    return NotStored(
        f"not stored: {error.strerror or error}",
        where=path,
        hint="free some space or fix the permissions, then do it again; nothing was written",
    )


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
