"""Backups of hosts' files from before us, kept in the store: `backups/<hash of the path>.json`.

As long as a file is exactly what an installation made of it, uninstalling gives back the very bytes; after others
have changed it, only our entries are taken out. The backup stays until then.
"""

import base64
import hashlib
from pathlib import Path

import msgspec

from eventlog.format import codec
from eventlog.format.ids import digest
from eventlog.store import Store
from eventlog.store.files import replace_file


class Backup(msgspec.Struct):
    """One file: its bytes before (None: there was none), and a digest of those after."""

    path: str
    before: str | None
    after: str
    made_dirs: list[str] = []

    @property
    def data(self) -> bytes | None:
        """The bytes before."""
        return None if self.before is None else base64.b64decode(self.before)


def find(store: Store, path: Path) -> Backup | None:
    """The backup of a file; None where there is none that can be read."""
    return _read(_place(store, path))


def keep(store: Store, path: Path, now: bytes | None, before: bytes | None, after: bytes, made_dirs: list[str]) -> None:
    """Remember what the file was without us, and what it has become; `now` is what it was until now. Raises NotStored.

    Where an earlier installation made it what it was until now, the bytes before that one are remembered.
    Directories made for another file count for this one too: whichever is removed last takes them away.
    """
    known = find(store, path)
    encoded = None if before is None else base64.b64encode(before).decode()
    if known and now is not None and fingerprint(now) == known.after:
        encoded, made_dirs = known.before, known.made_dirs
    else:
        made_dirs = [*_made_above(store, path), *made_dirs]
    made = Backup(str(path), encoded, fingerprint(after), made_dirs)
    replace_file(str(_place(store, path)), msgspec.json.encode(made))


def forget(store: Store, path: Path) -> None:
    """The file is as it was."""
    _place(store, path).unlink(missing_ok=True)


def fingerprint(data: bytes) -> str:
    """Digest a content, to tell it from others."""
    return hashlib.sha256(data).hexdigest()


def _made_above(store: Store, path: Path) -> list[str]:
    """The directories above a file that were made for others, outermost first."""
    above = {str(parent) for parent in path.parents}
    others = (_read(place) for place in Path(store.root, "backups").glob("*.json"))
    return sorted({made for other in others if other for made in other.made_dirs} & above, key=len)


def _read(place: Path) -> Backup | None:
    try:
        found: Backup = codec.decode_json(place.read_bytes(), Backup)
    except (OSError, ValueError):
        return None
    return found


def _place(store: Store, path: Path) -> Path:
    return Path(store.root, "backups", f"{path.name}-{digest(str(path), 8).hex()}.json")
