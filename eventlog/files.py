"""How files and directories of a store come to be: for the owner only, whole, and durable where it is promised.

Imported inside agents' hooks: os only; filelock when a lock is asked for.
"""

import os
from stat import S_ISREG

from eventlog.errors import Busy, NotStored

_HERE, _RENAME_EXCHANGE = -100, 2  # AT_FDCWD, and a flag of renameat2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager


PATIENCE = 30.0  # seconds; whoever holds a lock for longer is stopped, or very slow

_OURS = 0o600
_DIGITS = 16  # of the digests in the name of a file that is being exchanged
_ENDING = ".tmp"
_ADDED = len(".0a1b2c3d") + len(_ENDING)
_HEX = frozenset("0123456789abcdef")
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_SWAP = ".swap"
_SWAP_ADDED = len(".0a1b2c3d") + 2 * (_DIGITS + 1) + len(_SWAP)
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
    os.chmod(path, 0o700)  # whatever the umask
    sync_dir(parent or ".")


def keep_owners_rights() -> None:
    """Let no umask take from the owner what every file and directory of ours is made for."""
    os.umask(os.umask(0) & 0o077)


def sync_dir(path: str) -> None:
    """Make new names in a directory durable, where the system can (Windows cannot open one)."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_names(path: str) -> None:
    """Make the names in a directory durable, and its own, whoever made it and may have died before that."""
    sync_dir(path)
    for above in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        try:
            sync_dir(above or ".")
        except PermissionError:  # a directory we may pass through, but not open: not ours
            return


def open_regular(path: str) -> int:
    """Open a file to read it; raises OSError for all but regular files: others block, or never end."""
    fd = os.open(path, _READ)
    try:
        check_regular(os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def check_regular(found: os.stat_result) -> None:
    """Raise OSError where this is a directory, a FIFO, a socket or a device."""
    if not S_ISREG(found.st_mode):
        raise OSError(0, "not a regular file")


def read_regular(path: str) -> bytes:
    """Read all bytes of a regular file; raises OSError."""
    with os.fdopen(open_regular(path), "rb") as opened:
        return opened.read()


def sync_file(path: str) -> None:
    """Make durable what others wrote into a file, and its name; raises OSError."""
    fd = open_regular(path)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_dir(os.path.dirname(path))


def replace_file(path: str, data: bytes, *, durable: bool = True, mode: int = _OURS) -> None:
    """Make `data` the whole content of a file of that mode, or leave the old one; raises NotStored.

    Temp file beside it, write, fsync, rename, fsync of the directory; a cache may leave out the syncs.
    """
    temporary = f"{path}.{os.urandom(4).hex()}{_ENDING}"
    try:
        make_dirs(os.path.dirname(path))
        _write(temporary, data, durable=durable, mode=mode)
        os.replace(temporary, path)
        if durable:
            sync_dir(os.path.dirname(path))
    except OSError as error:
        _remove(temporary)
        raise not_stored(error, path) from error
    except BaseException:
        _remove(temporary)
        raise


def _write(temporary: str, data: bytes, *, durable: bool, mode: int) -> None:
    with os.fdopen(os.open(temporary, _CREATE, _OURS), "wb") as opened:
        if mode != _OURS:
            os.chmod(temporary, mode)  # whatever the umask
        opened.write(data)
        opened.flush()
        if durable:
            os.fsync(opened.fileno())


class Overtaken(Exception):
    """The file had become another than the one that was read; it stays."""


def exchange_file(path: str, data: bytes, seen: bytes | None, *, mode: int = _OURS) -> None:
    """Make `data` the content of a file that was read as `seen` (None: was not there); raises Overtaken or NotStored.

    Both files are exchanged in one step and what comes out is looked at: a save in that very moment goes back to its
    place. Where the system cannot exchange files (other than Linux, some file systems) the last look is just before
    the rename. A file made anew is never put in the place of another.
    """
    name = f"{path}.{os.urandom(4).hex()}"
    ready = f"{name}.{_digest(data)}.{_digest(seen or b'')}{_SWAP}"
    try:
        make_dirs(os.path.dirname(path))
        _write(f"{name}{_ENDING}", data, durable=True, mode=mode)
        os.replace(f"{name}{_ENDING}", ready)
        if seen is None:
            _put_in(ready, path)
        else:
            _take_turns(ready, path, data, seen)
        sync_dir(os.path.dirname(path))
    except OSError as error:
        raise not_stored(error, path) from error
    finally:
        _remove(f"{name}{_ENDING}")
        _remove_own(ready)


def _put_in(temporary: str, path: str) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise Overtaken from error
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise Overtaken from None
        os.replace(temporary, path)


def _take_turns(temporary: str, path: str, data: bytes, seen: bytes) -> None:
    if not _exchange(temporary, path):
        if _content(path) != seen:
            raise Overtaken
        os.replace(temporary, path)
        return
    if _content(temporary) == seen:
        return
    _exchange(temporary, path)
    if _content(temporary) != data:  # saved again between the two exchanges: the newer save is the file
        _exchange(temporary, path)
    raise Overtaken


def _exchange(one: str, other: str) -> bool:
    """Exchange two files in one step; False where the system cannot. Raises OSError where one is not there."""
    import ctypes
    import errno

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = (os.fsencode(one), os.fsencode(other))
    if call(_HERE, ctypes.c_char_p(names[0]), _HERE, ctypes.c_char_p(names[1]), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM):
        return False
    if code == errno.ENOENT:
        raise Overtaken
    raise OSError(code, os.strerror(code), other)


def sweep(path: str) -> None:
    """Remove what writers of this file left beside it when they were killed; only for who holds its lock.

    What a person had saved while one was killed in the middle of an exchange is kept as `….edited-<digest>`.
    """
    directory, name = os.path.split(path)
    for other in os.listdir(directory) if os.path.isdir(directory) else ():
        if is_temporary(other) and other[:-_ADDED] == name:
            _remove(f"{directory}/{other}")
        elif _is_swap(other) and other[:-_SWAP_ADDED] == name:
            _remove_own(f"{directory}/{other}")


def _remove_own(temporary: str) -> None:
    """Remove what was exchanged if it is what its name says, ours or what was read; keep anything else aside."""
    ours, seen = temporary.removesuffix(_SWAP).split(".")[-2:]
    try:
        data = _content(temporary)
        if data is None:
            return
        if _digest(data) in (ours, seen):
            os.unlink(temporary)
        else:
            path = temporary[:-_SWAP_ADDED]
            os.replace(temporary, f"{path}.edited-{_digest(data)}")
    except OSError:
        return


def _content(path: str) -> bytes | None:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def sweep_tree(root: str, before: float) -> None:
    """Remove what killed writers left anywhere under a directory before that time, in seconds since the epoch."""
    for directory, _, names in os.walk(root):
        for path in [f"{directory}/{name}" for name in names if is_temporary(name) or _is_swap(name)]:
            if _changed_at(path) < before:
                (_remove_own if _is_swap(path) else _remove)(path)


def is_temporary(name: str) -> bool:
    """Tell whether a file is named as `replace_file` names what is not finished: `MEMORY.md.0a1b2c3d.tmp`."""
    return (
        len(name) > _ADDED
        and name[-_ADDED] == "."
        and name.endswith(_ENDING)
        and _HEX.issuperset(name[1 - _ADDED : -4])
    )


def _is_swap(name: str) -> bool:
    """Whether a file is named as `exchange_file` names what it exchanges."""
    parts = name[-_SWAP_ADDED:].split(".")
    lengths = [len(part) for part in parts]
    return lengths == [0, 8, _DIGITS, _DIGITS, 4] and _HEX.issuperset("".join(parts[1:4])) and parts[4] == _SWAP[1:]


def lock(path: str) -> "AbstractContextManager[object]":
    """Take a lock between processes, released by the `with` around it.

    Raises NotStored where there can be none, Busy where its holder does not let go.
    """
    from filelock import FileLock, Timeout

    try:
        make_dirs(os.path.dirname(path))
        return FileLock(path, mode=0o600).acquire(timeout=PATIENCE)
    except Timeout as error:
        raise busy(path) from error
    except OSError as error:
        raise not_stored(error, path) from error


def busy(path: str) -> Busy:
    """Make the error of a lock that is not to be had."""
    return Busy(
        f"another process has held this lock for {PATIENCE:.0f} seconds",
        where=path,
        hint=f"`fuser -v {path}` names it; let it go on if it is stopped (kill -CONT PID), or end it, then try again",
    )


def not_stored(error: OSError, path: str) -> NotStored:
    """What a failed write means to the one who asked for it."""
    return NotStored(
        f"not stored: {error.strerror or error}",
        where=path,
        hint="free some space or fix the permissions, then do it again",
    )


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return float("inf")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
