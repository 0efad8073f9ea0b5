"""Reading and replacing a file that belongs to a host: never half, never through a symbolic link's place, same mode."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from eventlog.format.errors import BadRequest, NotStored, system_reason
from eventlog.store.files import replace_file

_NEW_FILE = 0o644
_NEW_DIRECTORY = 0o755  # at most: the user's umask may take more away


def read(path: Path) -> bytes | None:
    """Read the bytes of the file, None where there is none; raises BadRequest."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadRequest(
            f"cannot be read: {system_reason(error)[0]}", where=str(path), hint="make it a readable file"
        ) from error


def text_of(data: bytes | None, path: Path) -> str:
    """Decode the text of the file, "" where there is none; raises BadRequest."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"not UTF-8, at byte {error.start}", where=str(path), hint="save it as UTF-8; nothing was changed"
        ) from error


def write(path: Path, data: bytes) -> list[str]:
    """Replace the file, and name the directories made for it, outermost first; raises NotStored."""
    target = Path(os.path.realpath(path))
    mode = _NEW_FILE
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & 0o222:  # replacing a file asks nobody's leave but its directory's
            raise NotStored("the file is read-only", where=str(path), hint=f"chmod u+w {target}, then do it again")
    made = _make_dirs(target.parent)
    replace_file(str(target), data, mode=mode)
    return made


def remove(path: Path, made_dirs: Iterable[str]) -> None:
    """Remove the file (of a symbolic link, what it leads to), and those directories as far as they are empty.

    Raises NotStored.
    """
    try:
        Path(os.path.realpath(path)).unlink(missing_ok=True)
        for made in reversed([*made_dirs]):
            Path(made).rmdir()
    except OSError as error:
        if path.exists():
            raise NotStored(f"cannot be removed: {system_reason(error)[0]}", where=str(path)) from error


def _make_dirs(directory: Path) -> list[str]:
    missing = [str(path) for path in (directory, *directory.parents) if not path.exists()][::-1]
    try:
        for path in missing:
            Path(path).mkdir(mode=_NEW_DIRECTORY, exist_ok=True)
    except OSError as error:
        raise NotStored(
            f"the directory cannot be made: {system_reason(error)[0]}", where=str(directory), hint="make it by hand"
        ) from error
    return missing
