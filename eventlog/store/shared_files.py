"""Files that people and other programs save, too: read within a root, replaced and removed without losing a save.

Imported while a session waits to begin: standard library only.
"""

import errno

from eventlog.fast import os
from eventlog.fast.sha import sha256
from eventlog.store import files
from eventlog.store.files import ADDED, ENDING, HEX, MODE_PRIVATE, READ, is_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FDS = "/proc/self/fd"  # open files of this process, on Linux
_HERE, _RENAME_EXCHANGE = -100, 2  # AT_FDCWD, and a flag of renameat2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_MANY = 16  # files: to sync fewer one by one waits for less than all that others have written
_DIGITS = 16  # of the digests in the name of a file that is being exchanged
_SWAP = ".swap"
_SWAP_ADDED = len(".0a1b2c3d") + 2 * (_DIGITS + 1) + len(_SWAP)


class ChangedMeanwhile(Exception):
    """The file has changed since it was read; it stays as it is."""


def replace_if_unchanged(path: str, data: bytes, seen: bytes | None, *, mode: int = MODE_PRIVATE) -> None:
    """Replace the content of a file that was read as `seen` (None: absent), durably.

    Raises ChangedMeanwhile or NotStored.
    """
    put_in_place(files.write_beside(path, data, mode=mode, durable=True), path, data, seen)
    try:
        files.sync_dir(os.path.dirname(path))
    except OSError as error:
        raise files.not_stored(error, path) from error


def put_in_place(temporary: str, path: str, data: bytes, seen: bytes | None) -> None:
    """Give a file written beside `path` its name, where that was read as `seen`; raises ChangedMeanwhile or NotStored.

    Never replaces a file it did not read: both files are exchanged in one step, and a save in that very moment goes
    back to its place. Where the system cannot exchange files (other than Linux, some file systems) the last check is
    just before the rename.
    """
    ready = f"{temporary.removesuffix(ENDING)}.{_digest(data)}.{_digest(seen or b'')}{_SWAP}"
    try:
        os.replace(temporary, ready)
        if seen is None:
            _create(ready, path)
        else:
            _swap(ready, path, data, seen)
    except OSError as error:
        raise files.not_stored(error, path) from error
    finally:
        files.remove(temporary)
        _remove_own(ready)


def make_durable(paths: "Sequence[str]") -> None:
    """Make files durable that were written just now, many of them in one step; raises NotStored."""
    try:
        if len(paths) < _MANY or not _sync_file_system(paths[0]):
            for path in paths:
                files.sync_file(path, with_name=False)
    except OSError as error:
        raise files.not_stored(error, paths[0]) from error


def _sync_file_system(path: str) -> bool:
    """Make durable all that was written to the file system of a file; False where the system cannot."""
    import ctypes

    try:
        call = ctypes.CDLL(None).syncfs
    except (AttributeError, OSError, TypeError):
        return False
    fd = os.open(path, READ)
    try:
        return bool(call(fd) == 0)
    finally:
        os.close(fd)


def remove_if_unchanged(path: str, seen: bytes) -> None:
    """Remove a file that was read as `seen`; raises ChangedMeanwhile or NotStored.

    It is renamed and looked at before it goes: a save in that very moment goes back to its place, or stands beside a
    newer one as `….edited-<digest>`.
    """
    digest = _digest(seen)
    renamed = f"{path}.{os.urandom(4).hex()}.{digest}.{digest}{_SWAP}"
    try:
        os.replace(path, renamed)
        if _content(renamed) != seen:
            _create(renamed, path)
            files.remove(renamed)
            raise ChangedMeanwhile
        os.unlink(renamed)
    except FileNotFoundError:  # another program removed it, and meant it
        return
    except OSError as error:
        raise files.not_stored(error, path) from error
    finally:
        _remove_own(renamed)


def _create(temporary: str, path: str) -> None:
    """Link a file to that name, unless a file has it; raises ChangedMeanwhile or OSError."""
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise ChangedMeanwhile from error
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise ChangedMeanwhile from None
        os.replace(temporary, path)


def _swap(temporary: str, path: str, data: bytes, seen: bytes) -> None:
    if not _exchange(temporary, path):
        if _content(path) != seen:
            raise ChangedMeanwhile
        os.replace(temporary, path)
        return
    if _content(temporary) == seen:
        return
    _exchange(temporary, path)
    if _content(temporary) != data:  # saved again between the two exchanges: the newer save is the file
        _exchange(temporary, path)
    raise ChangedMeanwhile


def _exchange(first: str, second: str) -> bool:
    """Exchange two files in one step; False where the system cannot. Raises OSError where one is not there."""
    import ctypes  # a replay that replaces no file of a person's has no need of it

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = (os.fsencode(first), os.fsencode(second))
    if call(_HERE, ctypes.c_char_p(names[0]), _HERE, ctypes.c_char_p(names[1]), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    if code == errno.ENOENT:
        raise ChangedMeanwhile
    raise OSError(code, os.strerror(code), second)


def sweep(path: str) -> None:
    """Remove what writers of this file left beside it when they were killed; only for who holds its lock.

    What a person had saved while one was killed in the middle of an exchange is kept as `….edited-<digest>`.
    """
    directory, name = os.path.split(path)
    for second in os.listdir(directory) if os.path.isdir(directory) else ():
        if _is_temporary(second) and second[:-ADDED] == name:
            files.remove(f"{directory}/{second}")
        elif _is_swap(second) and second[:-_SWAP_ADDED] == name:
            _remove_own(f"{directory}/{second}")


def sweep_tree(root: str, before: float) -> None:
    """Remove what killed writers left anywhere under a directory before that time, in seconds since the epoch."""
    for directory, _, names in os.walk(root):
        for path in [f"{directory}/{name}" for name in names if _is_temporary(name) or _is_swap(name)]:
            if _changed_at(path) < before:
                (_remove_own if _is_swap(path) else files.remove)(path)


def _remove_own(temporary: str) -> None:
    """Remove an exchanged file if its content is what was written or what was read; set anything else aside."""
    written, seen = temporary.removesuffix(_SWAP).split(".")[-2:]
    try:
        data = _content(temporary)
        if data is None:
            return
        if _digest(data) in (written, seen):
            os.unlink(temporary)
        else:
            path = temporary[:-_SWAP_ADDED]
            os.replace(temporary, f"{path}.edited-{_digest(data)}")
    except OSError:
        return


def _content(path: str) -> bytes | None:
    try:
        return files.read_regular(path)
    except FileNotFoundError:
        return None


def _digest(data: bytes) -> str:
    return sha256(data)[:_DIGITS]


def _is_swap(name: str) -> bool:
    """Return whether a file is named as `replace_if_unchanged` names what it exchanges."""
    parts = name[-_SWAP_ADDED:].split(".") if name.endswith(_SWAP) else [""]
    lengths = [len(part) for part in parts]
    return lengths == [0, 8, _DIGITS, _DIGITS, 4] and HEX.issuperset("".join(parts[1:4])) and parts[4] == _SWAP[1:]


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return float("inf")


class NotConfined(Exception):
    """A path leads out of its root, or to no regular file; the message explains which, without naming the path."""


def real_path(path: "Path | str | int", root: "Path | str") -> str:
    """Follow every symbolic link of a path, or find where an open file lies; raises NotConfined where out of `root`.

    Links in a circle are taken as they are, unlike by `Path.resolve`: opening them fails. What a path led to may be
    another file when it is opened; where an open file lies, only Linux tells.
    """
    above = os.path.realpath(str(root))
    if isinstance(path, int):
        try:
            real = os.readlink(f"{FDS}/{path}")
        except OSError:
            return above
    else:
        try:
            real = os.path.realpath(str(path))
        except OSError as error:  # no link any more when it was read
            raise NotConfined("changed while it was followed") from error
    if real != above and not real.startswith(above.rstrip("/") + "/"):
        raise NotConfined(f"leads out of {root}, to {real}")
    return real


def read_below(root: "Path | str", path: "Path | str", longest: int) -> bytes:
    """Read the first `longest` bytes of a file below `root`; raises NotConfined or OSError."""
    fd = os.open(real_path(path, root), READ)
    try:
        real_path(fd, root)
        with os.fdopen(fd, "rb", closefd=False) as opened:
            if not is_regular(os.fstat(fd)):  # a pipe would never end
                raise NotConfined("is not a regular file")
            return opened.read(longest)
    finally:  # of a directory, too, which no file can be made of
        os.close(fd)


def _is_temporary(name: str) -> bool:
    """Return whether a file is named as `replace_file` names what is not finished: `MEMORY.md.0a1b2c3d.tmp`."""
    return len(name) > ADDED and name[-ADDED] == "." and name.endswith(ENDING) and HEX.issuperset(name[1 - ADDED : -4])
