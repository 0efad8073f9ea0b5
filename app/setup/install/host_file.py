"""Edit a file that belongs to a host, and undo that: never half, with the mode it had, through a symbolic link.

A backup in the store (`backups/<hash of the path>.json`) holds the file from before us. As long as a file is exactly
what an installation made of it, `restore` returns these bytes; after others have changed it, it removes only our
entries. The backup stays until then. A file, its backup and the directories made for it change under one lock.
"""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from eventlog.fast.sha import sha256
from eventlog.format import codec
from eventlog.format.errors import BadRequest, NotStored, system_reason
from eventlog.format.ids import digest
from eventlog.store import Store
from eventlog.store.files import replace_file
from eventlog.store.locks import locked

_NEW_FILE = 0o644
_NEW_DIRECTORY = 0o755  # at most: the user's umask may remove rights


class FileChange(NamedTuple):
    """A file of a host, and what an edit did to it."""

    path: Path
    done: Literal["installed", "unchanged", "removed", "absent"]


def change(
    store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str], *, dry_run: bool = False
) -> FileChange:
    """Write the edited text where it differs, and keep the text without our entries for `restore`.

    With `dry_run` nothing is written, and what would be is returned.
    """
    if dry_run:
        text = read_text(path)
        return FileChange(path, "unchanged" if edit_of(path, edit, text) == text else "installed")
    with locked(store, store.lock("install")):
        now = _read(path)
        text = _decode(now, path)
        after = edit_of(path, edit, text).encode()
        if (now or b"") == after:  # no empty file where another process has removed it meanwhile
            return FileChange(path, "unchanged")
        before = None if now is None else edit_of(path, strip, text).encode()
        made_dirs = rewrite(path, after)
        _keep_backup(store, path, now, before, after, made_dirs)
        return FileChange(path, "installed")


def restore(store: Store, path: Path, strip: Callable[[str], str], is_empty: Callable[[str], bool]) -> FileChange:
    """Undo `change`: exactly, else by removing our entries, and the file where the rest is empty."""
    with locked(store, store.lock("install")):
        now, backup = _read(path), _backup(_backup_path(store, path))
        if now is None:
            _backup_path(store, path).unlink(missing_ok=True)
            return FileChange(path, "absent")
        remaining: bytes | None = edit_of(path, strip, _decode(now, path)).encode()
        if remaining == now:
            return FileChange(path, "absent")
        if backup and backup.after == sha256(now):
            remaining = backup.before
        elif (not backup or backup.before is None) and remaining is not None and is_empty(remaining.decode()):
            remaining = None
        if remaining is None:
            _remove(path, backup.made_dirs if backup else ())
        else:
            rewrite(path, remaining)
        _backup_path(store, path).unlink(missing_ok=True)
        return FileChange(path, "removed")


def read_text(path: Path) -> str:
    """Read the text of a file, "" for a missing file; raises BadRequest."""
    return _decode(_read(path), path)


def edit_of(path: Path, edit: Callable[[str], str], text: str) -> str:
    """Edit a text; a BadRequest names the file, which stays unchanged."""
    try:
        return edit(text)
    except BadRequest as error:
        hint = error.hint or "correct the file by hand, then do it again; it was not changed"
        raise BadRequest(error.what, where=os.fspath(path), hint=hint) from error


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadRequest(
            f"cannot be read: {system_reason(error)[0]}", where=str(path), hint="make it a readable file"
        ) from error


def _decode(data: bytes | None, path: Path) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"not UTF-8, at byte {error.start}", where=str(path), hint="save it as UTF-8") from error


def rewrite(path: Path, data: bytes) -> list[str]:
    """Replace the file; list the directories made for it, outermost first. Raises NotStored."""
    target = Path(os.path.realpath(path))
    mode = _NEW_FILE
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & 0o222:  # to replace a file needs rights of its directory only
            raise NotStored("the file is read-only", where=str(path), hint=f"chmod u+w {target}, then do it again")
    made_dirs = _make_dirs(target.parent)
    replace_file(str(target), data, mode=mode)
    return made_dirs


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


def _remove(path: Path, made_dirs: Iterable[str]) -> None:
    """Remove the file (of a symbolic link, its target), and those of the directories that are empty then."""
    try:
        Path(os.path.realpath(path)).unlink(missing_ok=True)
        for directory in reversed([*made_dirs]):
            Path(directory).rmdir()
    except OSError as error:
        if path.exists():
            raise NotStored(f"cannot be removed: {system_reason(error)[0]}", where=str(path)) from error


# ------------------------------------------------------------------------------------------------ backups


class _Backup(msgspec.Struct):
    """A file: its bytes before (None: no file), and a digest of those after."""

    path: str
    before: bytes | None  # base64 in JSON
    after: str
    made_dirs: list[str] = []


def _keep_backup(
    store: Store, path: Path, now: bytes | None, before: bytes | None, after: bytes, made_dirs: list[str]
) -> None:
    """Write the backup of a file that was `now`, would be `before` without us, and has become `after`.

    Where an earlier installation made it what it was, the bytes before that installation stay. Directories made for
    another file count for this file too: whichever is removed last removes them.
    """
    earlier = _backup(_backup_path(store, path))
    if earlier and now is not None and sha256(now) == earlier.after:
        before, made_dirs = earlier.before, earlier.made_dirs
    else:
        above = {str(parent) for parent in path.parents}
        others = (_backup(other) for other in Path(store.root, "backups").glob("*.json"))
        shared = {directory for other in others if other for directory in other.made_dirs} & above
        made_dirs = [*sorted(shared, key=len), *made_dirs]
    backup = _Backup(str(path), before, sha256(after), made_dirs)
    replace_file(str(_backup_path(store, path)), msgspec.json.encode(backup))


def _backup(path: Path) -> _Backup | None:
    """Read a backup; None where it is missing or damaged."""
    try:
        found: _Backup = codec.decode_json(path.read_bytes(), _Backup)
    except (OSError, ValueError):
        return None
    return found


def _backup_path(store: Store, path: Path) -> Path:
    return Path(store.root, "backups", f"{path.name}-{digest(str(path), 8).hex()}.json")
