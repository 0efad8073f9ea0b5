"""The folded state of each closed day, kept in `cache/`; delete it freely.

A checkpoint is good for exactly the files it was made of: names, sizes and a digest of their bytes; and for the
versions of the states. What was withdrawn when it was made is in it without its words. Files whose stamp (size, times,
inode) is unchanged are not read again to compare the digest, as git does. Anything else, and anything damaged (it
begins with a checksum of itself), is ignored and made anew.
"""

import hashlib
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from eventlog.days import Damage, Day
from eventlog.files import read_regular, replace_file

_FORMAT = 2
_CHECKSUM = 4  # bytes

States = dict[type[Any], Any]  # type of state -> state
DayFileStamp = tuple[str, int, int, int, int]


class DayFold(msgspec.Struct):
    """What a day's events led to.

    `left_out` are copies of another day's events, `strays` may have copies; `withheld` are withdrawn, and told without
    their words.
    """

    states: States
    events: int
    damage: list[Damage]
    strays: list[str]
    left_out: frozenset[str]
    withheld: frozenset[str] = frozenset()


class _Saved(msgspec.Struct, array_like=True):
    format: int
    stamps: list[DayFileStamp]
    digests: list[str]
    states: dict[str, tuple[int, msgspec.Raw]]  # name -> version, encoded state
    events: int
    damage: list[Damage]
    strays: list[str]
    left_out: list[str]
    withheld: list[str]


_decoder = msgspec.msgpack.Decoder(_Saved)


class Checkpoints:
    """The checkpoints of one store, for certain kinds of state."""

    def __init__(self, cache_dir: str, kinds: Collection[type[Any]]) -> None:
        self._dir = Path(cache_dir) / "checkpoints"
        self._decoders = {kind: msgspec.msgpack.Decoder(kind) for kind in kinds}

    def find(self, day: Day) -> DayFold | None:
        """The day's checkpoint; None where there is no good one."""
        try:
            saved = _unpack(self._path(day).read_bytes())
            if saved.format != _FORMAT or not _describes(saved, day):
                return None
            states = {kind: self._restore(saved, kind) for kind in self._decoders}
        except (OSError, LookupError, msgspec.MsgspecError):
            return None
        left_out, withheld = frozenset(saved.left_out), frozenset(saved.withheld)
        return DayFold(states, saved.events, saved.damage, saved.strays, left_out, withheld)

    def keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        """Keep what was folded of files that bore these stamps before they were read.

        Files that changed meanwhile get no checkpoint. Whatever goes wrong (a full disk, a state that cannot be
        encoded) is no error: the day is folded again the next time.
        """
        with suppress(Exception):
            self._keep(day, stamps, folded)

    def sweep(self, dates: Collection[str]) -> None:
        """Remove the checkpoints of all other days: those are gone."""
        for path in self._dir.glob("*.msgpack"):
            if path.stem not in dates:
                with suppress(OSError):
                    path.unlink()

    def _keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        digests = [_digest(file) for file in day.files]
        if stamps_of(day) != stamps:
            return
        states = {
            kind.__name__: (kind.version, msgspec.Raw(msgspec.msgpack.encode(state)))
            for kind, state in folded.states.items()
        }
        left_out, withheld = sorted(folded.left_out), sorted(folded.withheld)
        told = (folded.events, folded.damage, folded.strays, left_out, withheld)
        replace_file(str(self._path(day)), _pack(_Saved(_FORMAT, stamps, digests, states, *told)), durable=False)

    def _path(self, day: Day) -> Path:
        return self._dir / f"{day.date}.msgpack"

    def _restore(self, saved: _Saved, kind: type[Any]) -> Any:
        """Raises LookupError where the checkpoint has no such state, or one of another version."""
        version, encoded = saved.states[kind.__name__]
        if version != kind.version:
            raise LookupError(kind.__name__)
        return self._decoders[kind].decode(encoded)


def stamps_of(day: Day) -> list[DayFileStamp]:
    """Name, size, modification and change time, and inode of each of the day's files."""
    return [_stamp(Path(file)) for file in day.files]


def _stamp(file: Path) -> DayFileStamp:
    """Zeros for a file that is gone: no checkpoint is like that."""
    try:
        stat = file.stat()
    except OSError:
        return file.name, 0, 0, 0, 0
    return file.name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _pack(saved: _Saved) -> bytes:
    data = msgspec.msgpack.encode(saved)
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big") + data


def _unpack(packed: bytes) -> _Saved:
    """Raises LookupError or MsgspecError where these are not bytes of `_pack`."""
    data = memoryview(packed)[_CHECKSUM:]
    if zlib.crc32(data).to_bytes(_CHECKSUM, "big") != packed[:_CHECKSUM]:
        raise LookupError("checksum")
    return _decoder.decode(data)


def _describes(saved: _Saved, day: Day) -> bool:
    now = stamps_of(day)
    if now == saved.stamps:
        return True
    if [stamp[:2] for stamp in now] != [stamp[:2] for stamp in saved.stamps]:
        return False
    return [_digest(file) for file in day.files] == saved.digests


def _digest(file: str) -> str:
    return hashlib.blake2b(read_regular(file), digest_size=16).hexdigest()
