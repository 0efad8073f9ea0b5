"""Files and directories of a store: made for the owner only, whole, and durable where that is promised; stamped.

Imported inside agents' hooks: os only.
"""

from eventlog.fast import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from eventlog.format.errors import Busy, NotStored

    Content = bytes | Callable[[BinaryIO], None]


FileStamp = tuple[int, int, int, int]  # size in bytes, modification and change time in nanoseconds, inode
NO_FILE: FileStamp = (0, 0, 0, 0)
PATIENCE = 10.0  # seconds; the holder of a lock for longer is stopped, or very slow
_SHOWN = 60  # characters of a command

MODE_PRIVATE = 0o600
_MODE_DIRECTORY = 0o700
ENDING = ".tmp"
ADDED = len(".0a1b2c3d") + len(ENDING)
HEX = frozenset("0123456789abcdef")
READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_PIECE = 32 << 10  # bytes


def _seek_and_read(fd: int, size: int, offset: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, size)


read_at = getattr(os, "pread", _seek_and_read)  # Windows has no pread


def make_dirs(path: str, *, durable: bool = True) -> None:
    """Create a directory and its parents, mode 0700, and make their names durable; a cache may leave out the syncs."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_dirs(parent, durable=durable)
    try:
        os.mkdir(path or ".", _MODE_DIRECTORY)
    except FileExistsError:
        return
    # the umask may have taken rights; some disks refuse chmod, even of the same mode
    if os.stat(path).st_mode & _MODE_DIRECTORY != _MODE_DIRECTORY:
        os.chmod(path, _MODE_DIRECTORY)
    if durable:
        sync_dir(parent)
        _named.add(_identity(path))


def sync_dir(path: str) -> None:
    """Sync new names in a directory ("": here), where the system can (Windows cannot open a directory)."""
    if os.name == "nt":
        return
    fd = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        from errno import EINVAL

        if error.errno != EINVAL:  # a file system without syncs of directories, such as a shared folder
            raise
    finally:
        os.close(fd)


_named: set[tuple[str, int, int]] = set()  # directories whose own names this process has made durable


def _identity(directory: str) -> tuple[str, int, int]:
    found = os.stat(directory)
    return directory, found.st_dev, found.st_ino


def sync_names_of(path: str) -> None:
    """Make the name of a directory and of the one above durable: who made them may have died before the sync."""
    for directory in (path, os.path.dirname(path)):
        if (itself := _identity(directory or ".")) not in _named:
            try:
                sync_dir(os.path.dirname(directory))
            except PermissionError:  # a directory of another user, which may be passed but not opened
                return
            _named.add(itself)


def keep_owners_rights() -> None:
    """Clear the owner's bits of the umask: the owner must be able to use every file of a store."""
    os.umask(os.umask(0) & 0o077)


def open_regular(path: str) -> int:
    """Open a file to read it; raises OSError for all but regular files: others block, or never end."""
    check_regular(os.stat(path))  # to open a device may be enough to disturb it
    fd = os.open(path, READ)
    try:
        check_regular(os.fstat(fd))
    except BaseException:
        os.close(fd)
        raise
    return fd


def check_regular(found: os.stat_result) -> None:
    """Raise OSError where this is a directory, a FIFO, a socket or a device."""
    if not is_regular(found):
        raise OSError(0, "not a regular file")


def is_regular(found: os.stat_result) -> bool:
    """Return whether this is a file, as `S_ISREG` does; `_stat` would be one more module for each hook to load."""
    return found.st_mode & 0o170000 == 0o100000  # noqa: PLR2004 - inode(7)


def read_regular(path: str, limit: int = -1, start: int = 0) -> bytes:
    """Read a regular file, or at most so many bytes of it, from an offset on; raises OSError.

    Below zero, `start` counts from the end.
    """
    with os.fdopen(open_regular(path), "rb") as opened:
        if start:
            opened.seek(_offset(opened.fileno(), start))
        return opened.read(limit)


def _offset(fd: int, start: int) -> int:
    return start if start >= 0 else max(0, os.fstat(fd).st_size + start)


def read(path: str, limit: int = -1) -> bytes | None:
    """Read a file as `read_regular` does; None where that fails: a careful reader reports why."""
    try:
        return read_regular(path, limit)
    except OSError:
        return None


def pieces_of(path: str, start: int) -> "Iterator[bytes]":
    """Read a regular file as `pieces` does; below zero, `start` counts from the end. Raises OSError."""
    fd = open_regular(path)
    try:
        yield from pieces(fd, _offset(fd, start))
    finally:
        os.close(fd)


def pieces(fd: int, start: int) -> "Iterator[bytes]":
    """Read the lines of a file that begin at an offset or later, by pieces of whole lines; the last may lack its end.

    Short pieces, each in the memory of the one before: a system takes longer to find new memory than to fill it.
    """
    size, begins = _PIECE, start == 0
    start -= not begins  # a line begins at an offset where the byte before ends one
    while data := read_at(fd, size, start):
        is_last = len(data) < size
        end = len(data) if is_last else data.rfind(b"\n") + 1
        if not end:
            size *= 4  # for a long line
            continue
        yield data[0 if begins else data.find(b"\n") + 1 or end : end]
        if is_last:
            return
        start, size, begins = start + end, _PIECE, True


def names_in(directory: str) -> list[str]:
    """List the names in a directory; none where it cannot be read."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def file_stamp(path: str) -> FileStamp:
    """Make the stamp of a file, to detect later changes; `NO_FILE` where there is none to look at."""
    try:
        return stamp_from(os.stat(path))
    except OSError:
        return NO_FILE


def stamp_from(found: os.stat_result) -> FileStamp:
    """Make the stamp of a file from its metadata."""
    # with the change time: a program may set a file's modification time back, but never that
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def append_bounded(path: str, line: bytes, largest: float = float("inf"), *, starts_anew: bool = True) -> None:
    """Append a line to a log in the cache; raises OSError, also for a partial write, which is cut back.

    A file of more than `largest` bytes becomes `.1` and a new one begins; else, without `starts_anew`, it is full.
    """
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, MODE_PRIVATE)
    try:
        before = os.fstat(fd).st_size
        if before > largest:
            if not starts_anew:
                return
            os.replace(path, f"{path}.1")
        written = os.write(fd, line + b"\n")
        if written <= len(line):
            if os.fstat(fd).st_size == before + written:  # no other line has come behind it
                os.ftruncate(fd, before)
            raise OSError("no space for the whole line")
    finally:
        os.close(fd)


def write_note(path: str, data: bytes) -> None:
    """Overwrite a small file of the cache, neither atomically nor durably; ignores a disk that refuses it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        try:
            fd = os.open(path, flags, MODE_PRIVATE)
        except FileNotFoundError:
            make_dirs(os.path.dirname(path), durable=False)
            fd = os.open(path, flags, MODE_PRIVATE)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)
    except OSError:
        pass


def sync_file(path: str, *, with_name: bool = True) -> None:
    """Make durable what others wrote into a file, and its name, unless that is older; raises OSError."""
    fd = open_regular(path)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    if with_name:
        sync_dir(os.path.dirname(path))


def replace_file(path: str, data: "Content", *, durable: bool = True, mode: int = MODE_PRIVATE) -> None:
    """Replace the whole content of a file by `data`, or by what it writes, or leave the old file; raises NotStored.

    Temp file beside it, write, fsync, rename, fsync of the directory; a cache may leave out the syncs.
    """
    temporary = write_beside(path, data, mode=mode, durable=durable)
    try:
        os.replace(temporary, path)
        if durable:
            sync_dir(os.path.dirname(path))
    except BaseException as error:
        remove(temporary)
        if isinstance(error, OSError):
            raise not_stored(error, path) from error
        raise


def write_beside(path: str, data: "Content", *, mode: int = MODE_PRIVATE, durable: bool) -> str:
    """Write a new file that is going to take the place of `path`, and return its name; raises NotStored."""
    temporary = f"{path}.{os.urandom(4).hex()}{ENDING}"
    try:
        make_dirs(os.path.dirname(path), durable=durable)
        write_temporary(temporary, data, durable=durable, mode=mode)
    except BaseException as error:
        remove(temporary)
        if isinstance(error, OSError):
            raise not_stored(error, path) from error
        raise
    return temporary


def write_temporary(temporary: str, data: "Content", *, durable: bool, mode: int) -> None:
    """Write a new file that is going to take the place of another; raises OSError."""
    with os.fdopen(os.open(temporary, _CREATE, MODE_PRIVATE), "wb") as opened:
        if mode != MODE_PRIVATE:
            os.chmod(temporary, mode)  # whatever the umask
        if callable(data):
            data(opened)
        else:
            opened.write(data)
        opened.flush()
        if durable:
            os.fsync(opened.fileno())


def is_locked(path: str) -> bool:
    """Return whether another process holds the lock of the file, without waiting for it; filelock takes it alike."""
    try:
        import fcntl

        fd = os.open(path, READ)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def busy(path: str, patience: float | None = None) -> "Busy":
    """Make the error of a lock that is not released within so many seconds; it names the holder if it can."""
    from eventlog.format.errors import Busy

    waited = PATIENCE if patience is None else patience
    holder = _holder(path)
    who = f"process {holder}{_command(holder)}" if holder else "another program"
    named = "" if holder else f"`fuser -v {path}` names it; "
    pid = holder or "PID"
    where = os.path.dirname(path) if path.endswith(".lock") else path
    hint = f"{named}let it go on if it is stopped (kill -CONT {pid}), or end it (kill {pid}), then try again"
    return Busy(f"{who} has been at work here for {waited:.0f} seconds", where=where, hint=hint)


def _holder(path: str) -> str:
    """Find which process has locked a file, as Linux lists them: `1: FLOCK ADVISORY WRITE 4242 08:01:1312 0 EOF`."""
    try:
        found = os.stat(path)
        lines = read_regular("/proc/locks").decode("ascii", "replace").splitlines()
    except OSError:
        return ""
    major, minor = found.st_dev >> 8 & 0xFFF, found.st_dev & 0xFF | found.st_dev >> 12 & 0xFFF00
    itself = [f"{major:02x}:{minor:02x}:{found.st_ino}"]
    holders = [words[4] for words in map(str.split, lines) if words[5:6] == itself and words[1] == "FLOCK"]
    return next((pid for pid in holders if pid.isdigit() and pid != "0"), "")


def _command(pid: str) -> str:
    """Return the command of a process, shortened, in brackets; "" where the system hides it."""
    words = (read(f"/proc/{pid}/cmdline") or b"").decode("utf-8", "replace").replace("\0", " ").strip()
    shown = "".join(char if char.isprintable() else " " for char in words[:_SHOWN])
    return f" ({shown}{'…' if len(words) > _SHOWN else ''})" if shown else ""


def not_stored(error: OSError, path: str) -> "NotStored":
    """Make the error of a failed write, in plain words."""
    from eventlog.format import errors
    from eventlog.format.errors import NotStored

    what, remedy = errors.system_reason(error)
    return NotStored(f"not stored: {what}", where=errors.place_of(error, path), hint=remedy)


def remove(path: str, *, must: bool = False) -> None:
    """Remove a file, where that can be done; raises NotStored where it must be gone, and is not."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        if must:
            raise not_stored(error, path) from error
