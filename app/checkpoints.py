"""The folded state of each closed day, kept in `cache/` for the engine; delete it freely.

A checkpoint is good for exactly the files it was made of: names, sizes and a digest of their bytes; and for the
versions of the states. What was withdrawn when it was made is in it without its words. Files whose stamp (size, times,
inode) is unchanged are not read again to compare the digest, as git does. Anything else, and anything damaged (it
begins with a checksum of itself), is ignored and made anew.
"""

import hashlib
import zlib
from collections.abc import Collection, Hashable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from eventlog.damage import Damage
from eventlog.days import Day
from eventlog.files import read_regular, replace_file
from eventlog.projections.engine.day_fold import DayFileStamp, DayFold, stamps_of

_FORMAT = 2
_CHECKSUM = 4  # bytes


class _Saved(msgspec.Struct, array_like=True):
    format: int
    stamps: list[DayFileStamp]
    digests: list[str]
    states: dict[str, tuple[int, msgspec.Raw]]  # name -> version, encoded state
    events: int
    damage: list[Damage]
    misdated: list[str]
    left_out: list[str]
    withheld: list[str]


_decoder = msgspec.msgpack.Decoder(_Saved)


class Checkpoints:
    """The checkpoints of one store; without `reads` none is looked at, without `writes` none is made or removed."""

    def __init__(self, directory: str, *, reads: bool = True, writes: bool = True) -> None:
        self._dir = Path(directory)
        self._reads = reads
        self.keeps = writes

    def find(self, day: Day, kinds: Collection[type[Any]]) -> DayFold | None:
        """Return the day's checkpoint; None where there is no good one."""
        if not self._reads:
            return None
        try:
            saved = _unpack(self._path(day).read_bytes())
            if saved.format != _FORMAT or not _describes(saved, day):
                return None
            states = {kind: _restored(saved, kind) for kind in kinds}
        except (OSError, LookupError, msgspec.MsgspecError):
            return None
        left_out, withheld = frozenset(saved.left_out), frozenset(saved.withheld)
        return DayFold(states, saved.events, saved.damage, saved.misdated, left_out, withheld)

    def keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        """Keep what was folded of files that bore these stamps before they were read.

        Files that changed meanwhile get no checkpoint. Whatever goes wrong (a full disk, a state that cannot be
        encoded) is no error: the day is folded again the next time.
        """
        if self.keeps:
            with suppress(Exception):
                self._keep(day, stamps, folded)

    def sweep(self, dates: Collection[str]) -> None:
        """Remove the checkpoints of all other days: those are gone."""
        for path in self._dir.glob("*.msgpack") if self.keeps else ():
            if path.stem not in dates:
                with suppress(OSError):
                    path.unlink()

    def _keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        digests = [_digest(file) for file in day.files]
        if stamps_of(day) != stamps:
            return
        states: dict[str, tuple[int, msgspec.Raw]] = {}
        for kind, state in folded.states.items():
            with suppress(TypeError):  # a state of another package that is no data: without it, for the others' sake
                states[_name(kind)] = kind.version, msgspec.Raw(msgspec.msgpack.encode(state))
        left_out, withheld = sorted(folded.left_out), sorted(folded.withheld)
        told = (folded.events, folded.damage, folded.misdated, left_out, withheld)
        replace_file(str(self._path(day)), _pack(_Saved(_FORMAT, stamps, digests, states, *told)), durable=False)

    def _path(self, day: Day) -> Path:
        return self._dir / f"{day.date}.msgpack"


def _restored(saved: _Saved, kind: type[Any]) -> Any:
    """Raises LookupError where the checkpoint has no such state, or one of another version."""
    version, encoded = saved.states[_name(kind)]
    if version != kind.version:
        raise LookupError(_name(kind))
    return _decoder_of(kind).decode(encoded)  # type: ignore[arg-type]  # a type is hashable


@cache
def _decoder_of(kind: Hashable) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def _name(kind: type[Any]) -> str:
    """Tell apart states of the same name from different packages."""
    return f"{kind.__module__}.{kind.__qualname__}"


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
