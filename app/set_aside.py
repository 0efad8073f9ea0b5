"""Copies of edited MEMORY.md files, set aside when the files were written anew: which ones nobody has read yet.

A copy is `MEMORY.md.edited-…` beside its file. Most have what a replay has read and could not put into events; some
were saved in the very moment of the write, and nobody has read them.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from eventlog import stamps
from eventlog.errors import NotStored
from eventlog.files import read_regular, replace_file
from eventlog.projections.views.memory import MEMORY
from eventlog.stamps import Stamp
from eventlog.store import Store

_MARK = ".edited-"
_decoder = msgspec.json.Decoder(dict[str, Stamp])


class SetAside:
    """The copies of a store as they are now, and as they were when they were read."""

    def __init__(self, store: Store) -> None:
        self._root = Path(store.knowledge)
        self._list = store.cached("copies.json")
        there = (str(path) for pattern in MEMORY.owns for path in self._root.glob(f"{pattern}{_MARK}*"))
        self._there = {path: stamps.of_file(path) for path in there}
        self._read = _remembered(self._list) if self._there else {}

    def unread(self) -> dict[Path, bytes]:
        """Read the copies that nobody has read; one that cannot be read is left alone."""
        found = {}
        for path in sorted(path for path, stamp in self._there.items() if self._read.get(path) != stamp):
            with suppress(OSError):
                found[Path(path)] = read_regular(path)
        return found

    def remember(self) -> None:
        """Note that all copies have been read; where that cannot be noted, they are read once more."""
        if self._there != self._read:
            with suppress(NotStored):
                replace_file(self._list, msgspec.json.encode(self._there), durable=False)

    def original(self, copy: Path) -> str:
        """Name the file a copy was made of, relative to the knowledge directory."""
        return copy.with_name(copy.name.partition(_MARK)[0]).relative_to(self._root).as_posix()


def _remembered(path: str) -> dict[str, Stamp]:
    try:
        return _decoder.decode(read_regular(path))
    except (OSError, msgspec.MsgspecError):
        return {}
