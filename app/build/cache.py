"""The rows that replays store of a log, in a database in `cache/`: delete it freely, a replay makes it again.

Format       a table of rows; the number of each is a digest of its kind, name and block. Rowids go up as rows
             come: random ones would fragment pages.
Wholeness    every row is listed in the directory of its kind and name, every directory in the root, with a checksum of
             what it says and of where it belongs. So no row is taken for another, none is missing, and none is older
             than the others: after a power cut or a bad sector the rows that are read agree, or it is RowsDamaged.
Parts        of a directory with many blocks: each lists those of a month, or a sixteenth of the others. What changes on
             a day rewrites a part.
Pages        are small: a replay of one event changes a few short rows in many places, and writes the page of each.
Short rows   stand in the directory in the place of their checksum: to find hundreds of them singly takes longer.
At hand      the rows that were written last stay in memory, too: a replay of everything reads most of them once more.
Writers      take turns, each in a transaction; whoever cannot write works without a cache. Nothing is synced, and what
             is to be rolled back stays in memory: where a writer is killed while it commits, the checksums tell.
Secrecy      what is overwritten is erased (`secure_delete`).
"""

import os
import sqlite3
import weakref
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import ClassVar, Concatenate, ParamSpec, TypeVar

import msgspec

from eventlog.app.build import program
from eventlog.app.search import database
from eventlog.format.errors import NotStored
from eventlog.format.events import Withdrawal
from eventlog.format.ids import digest
from eventlog.log.days import unreadable
from eventlog.projections.engine.day_fold import DayRow, StoredDays
from eventlog.projections.engine.row_store import MemoryRows, RowsDamaged, RowStore, StoredRow
from eventlog.store import Store, day_of
from eventlog.store.files import MODE_PRIVATE, make_dirs

_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (at INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, data BLOB NOT NULL)"
_UPSERT = "INSERT INTO kept (id, data) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data"
_PRAGMAS = (
    "page_size = 1024",
    "synchronous = OFF",
    "journal_mode = MEMORY",
    "secure_delete = ON",
    "temp_store = MEMORY",
    "cache_size = -16000",
)
_PATIENCE = 1.0  # seconds a lock is waited for
_ROOT = "\0"
_CRC = 4
_AT_ONCE = 200  # rows
_SHORT = 256  # bytes
_MAX_LISTED = 64  # blocks of a directory that has no parts
_MONTH = len("2026-02")
_AT_HAND = 16 << 20  # bytes

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Step = Callable[Concatenate["StoreCache", _Parameters], _Result]
_Directory = dict[str, int | bytes]  # block -> checksum of the row, or a short row itself
_Parts = tuple[dict[str, int]]  # part -> checksum of the row that lists its blocks
_directory = msgspec.msgpack.Decoder(_Directory | _Parts)
_encode = msgspec.msgpack.encode
_connections: "dict[weakref.ref[StoreCache], sqlite3.Connection]" = {}


class _Wrong(Exception):
    """A row differs from what the others record of it."""


_WRONG = (OSError, NotStored, sqlite3.Error, msgspec.MsgspecError, ValueError, _Wrong)


def _guarded(do: "_Step[_Parameters, _Result]") -> "_Step[_Parameters, _Result]":
    """Raise RowsDamaged for everything that can be wrong."""

    @wraps(do)
    def guarded(cache: "StoreCache", /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            return do(cache, *args, **kwargs)
        except _WRONG as error:
            raise cache.damage(error) from error

    return guarded


class StoreCache:
    """A row store in a database; without `writes` it is only read."""

    is_persistent: ClassVar[bool] = True

    @_guarded
    def __init__(self, path: str, made_by: str, *, writes: bool = True) -> None:
        """Open the database; raises RowsDamaged where it is missing, damaged, or made by another program."""
        self._path = path
        self._made_by = made_by
        self._writes = writes
        self._directories: dict[str, _Directory] = {}
        self._parts: dict[str, dict[str, int]] = {}
        self._changed: dict[str, set[str]] = {}  # parts of directories
        self._at_hand: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._room = _AT_HAND
        self._open()
        self._root = self._directory_at(_ROOT, self._checked(_ROOT, "", None))

    @_guarded
    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return a row, or None."""
        place = f"{kind}\0{name}"
        listed = self._listed(place).get(block)
        if not isinstance(listed, int):
            return listed
        return self._at_hand.get((place, block)) or self._checked(place, block, listed)

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the rows of a name, in the order of the blocks."""
        place = f"{kind}\0{name}"
        blocks = self.blocks(kind, name)
        for start in range(0, len(blocks), _AT_ONCE):
            yield from self._rows(place, blocks[start : start + _AT_ONCE])

    @_guarded
    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        return sorted(self._listed(f"{kind}\0{name}"))

    @_guarded
    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Put a row, or remove it."""
        place = f"{kind}\0{name}"
        blocks = self._listed(place)
        if data is not None and len(data) > _SHORT:
            blocks[block] = self._put(place, block, data)
        else:
            if isinstance(blocks.pop(block, None), int):
                self._database.execute("DELETE FROM kept WHERE id = ?", (_id(place, block),))
            if data is not None:
                blocks[block] = data
        self._changed.setdefault(place, set()).add(_part_of(place, block))
        self._have_at_hand((place, block), data or b"")

    def save(self) -> None:
        """Save what was written; where that fails, nothing is stored."""
        with suppress(sqlite3.Error):
            for place, changed in sorted(self._changed.items()):
                parts = self._put_parts(place, changed)
                self._root[place] = self._put(_ROOT, place, _encode((parts,) if parts else self._directories[place]))
            if self._changed:
                self._put(_ROOT, "", _encode(self._root | {self._made_by: 0}))
                self._changed.clear()
            if self._database.in_transaction:
                self._database.execute("COMMIT")
        self._at_hand.clear()
        self._room = _AT_HAND

    def close(self) -> None:
        """Close the file; what was not saved is lost."""
        _close(self._handle)

    def damage(self, error: Exception) -> RowsDamaged:
        """Describe what is wrong, and whether for good."""
        if isinstance(error, OSError | NotStored):
            return RowsDamaged(str(error))
        passes = isinstance(error, sqlite3.OperationalError) and not database.is_damage(error)
        return RowsDamaged(str(error), for_good=not passes and not self._is_overtaken())

    def _open(self) -> None:
        if self._writes:
            make_dirs(str(Path(self._path).parent))
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, MODE_PRIVATE))
        mode = "rw" if self._writes else "ro"
        address = f"file:{self._path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode={mode}"
        self._database = sqlite3.connect(
            address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        # A replay's result holds the cache in a cycle: only this runs before the connection of a cycle is freed. With
        # `weakref.finalize`, which has work at the end, no process could leave at once.
        self._handle = weakref.ref(self, _close)
        _connections[self._handle] = self._database
        for pragma in _PRAGMAS:
            self._database.execute(f"PRAGMA {pragma}")
        if self._writes:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute(_SCHEMA)
        self._version = self._database.execute("PRAGMA data_version").fetchone()

    @_guarded
    def _rows(self, place: str, blocks: list[str]) -> list[tuple[str, bytes]]:
        listed = self._listed(place)
        checksums = {block: self._at_hand.get((place, block)) or listed[block] for block in blocks}
        apart = {block: _id(place, block) for block, checksum in checksums.items() if isinstance(checksum, int)}
        found = self._fetched(list(apart.values())) if apart else {}

        def row(block: str, stored: int | bytes) -> bytes:
            return stored if isinstance(stored, bytes) else _valid(place, block, found.get(apart[block], b""), stored)

        return [(block, row(block, stored)) for block, stored in checksums.items()]

    def _listed(self, place: str) -> _Directory:
        if place not in self._directories:
            checksum = self._root.get(place)
            data = self._checked(_ROOT, place, checksum) if isinstance(checksum, int) else None
            self._directories[place] = self._directory_at(place, data)
        return self._directories[place]

    def _directory_at(self, place: str, data: bytes | None) -> _Directory:
        if data is None:
            return {}
        found = _directory.decode(data)
        if isinstance(found, dict):
            if place == _ROOT and found.pop(self._made_by, None) is None and self._made_by:
                raise _Wrong("made by another program")
            return found
        self._parts[place] = found[0]
        ids = {_id(_ROOT, part): part for part in found[0]}
        directory: _Directory = {}
        for row, listed in self._fetched([*ids]).items():
            part = ids.pop(row)
            blocks = _directory.decode(_valid(_ROOT, part, listed, found[0][part]))
            directory |= blocks if isinstance(blocks, dict) else {}
        if ids:
            raise _Wrong(f"{place!r} lacks a part")
        return directory

    def _checked(self, place: str, block: str, checksum: int | None) -> bytes | None:
        """Read and verify a row; the root verifies against its own prefix CRC."""
        data = self._fetched([_id(place, block)]).get(_id(place, block))
        if data is None and checksum is None:
            return None
        return _valid(place, block, data or b"", checksum)

    def _fetched(self, ids: list[int]) -> dict[int, bytes]:
        marks = ",".join("?" * len(ids))
        return dict(self._database.execute(f"SELECT id, data FROM kept WHERE id IN ({marks})", ids))  # noqa: S608

    def _put(self, place: str, block: str, data: bytes) -> int:
        checksum = _checksum(place, block, data)
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(_UPSERT, (_id(place, block), checksum.to_bytes(_CRC, "big") + data))
        return checksum

    def _have_at_hand(self, at: tuple[str, str], data: bytes) -> None:
        """Cache the last written rows in memory."""
        self._room += len(self._at_hand.pop(at, b""))
        if len(data) > _SHORT:
            self._at_hand[at] = data
            self._room -= len(data)
        while self._room < 0:
            _, oldest = self._at_hand.popitem(last=False)
            self._room += len(oldest)

    def _put_parts(self, place: str, changed: set[str]) -> dict[str, int]:
        """Put the parts of a directory that changed, and remove those that are gone; return all it has."""
        blocks, before = self._directories[place], self._parts.pop(place, {})
        parts: dict[str, _Directory] = {}
        for block in blocks if len(blocks) > _MAX_LISTED else ():
            parts.setdefault(_part_of(place, block), {})[block] = blocks[block]
        for part in before.keys() - parts.keys():
            self._database.execute("DELETE FROM kept WHERE id = ?", (_id(_ROOT, part),))
        stays = before.keys() - changed
        found = {
            part: before[part] if part in stays else self._put(_ROOT, part, _encode(listed))
            for part, listed in parts.items()
        }
        if found:
            self._parts[place] = found
        return found

    def _is_overtaken(self) -> bool:
        """Return whether another process has written meanwhile: then what it wrote is not damaged."""
        with suppress(sqlite3.Error, AttributeError):
            found: bool = self._database.execute("PRAGMA data_version").fetchone() != self._version
            return found
        return False


def _close(handle: "weakref.ref[StoreCache]") -> None:
    if database := _connections.pop(handle, None):
        with suppress(sqlite3.Error):
            database.close()


def open_cache(store: Store, *, writes: bool) -> StoreCache | None:
    """Open the cache of a store; None where it is missing and cannot be made.

    Of another program's cache, withdrawals stay whose day cannot be read now: what they withdraw would come back.
    """
    path = store.cached("knowledge.db")
    if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises where one may not look
        if not writes:
            return None
        database.delete(path)
    withdrawn: list[StoredRow] = []
    for _ in range(2):
        try:
            made = StoreCache(path, program.program_key(), writes=writes)
            for row in withdrawn:
                made.write(*row)
        except RowsDamaged as error:
            if not (writes and error.for_good):
                return None
            withdrawn = _withdrawn_rows(store)
            database.delete(path)
        else:
            return made
    return None


def open_for_reading(store: Store) -> RowStore:
    """Open the cache of a store to read it; an empty cache where it is missing or of no use."""
    return open_cache(store, writes=False) or MemoryRows(_withdrawn_rows(store))


def withdrawn_unread(store: Store) -> dict[str, list[Withdrawal] | None]:
    """Read the withdrawals of days that cannot be read now, in a cache of any program; None of a day it lacks."""
    rows: dict[str, DayRow] = {}
    if not (unread := {day_of(Path(bad.file).name) for bad in unreadable(store.log)}):
        return {}
    with suppress(RowsDamaged, msgspec.MsgspecError):
        rows = StoredDays(StoreCache(store.cached("knowledge.db"), "", writes=False)).rows()
    known = {date: row.retractions for date, row in rows.items() if row.stamps or row.retractions}  # else never read
    return {date: known.get(date) for date in sorted(unread)}


def _withdrawn_rows(store: Store) -> list[StoredRow]:
    with suppress(OSError):
        found = withdrawn_unread(store).items()
        return [("day", "", date, _encode(DayRow([], retractions=known))) for date, known in found if known]
    return []


def _part_of(place: str, block: str) -> str:
    """Name the part of the directory of a place that lists a block: by the month of a day, else a digit."""
    return f"{place}\0{block[:_MONTH] if block[:2].isdigit() else f'{zlib.crc32(block.encode()) % 16:x}'}"


def _id(place: str, block: str) -> int:
    return int.from_bytes(digest(f"{place}\0{block}", 8), "big", signed=True)


def _valid(place: str, block: str, data: bytes, checksum: int | None) -> bytes:
    """Verify a row, and return its data; raises _Wrong where its checksum differs."""
    found = int.from_bytes(data[:_CRC], "big")
    if _checksum(place, block, memoryview(data)[_CRC:]) != found or found != (found if checksum is None else checksum):
        raise _Wrong(f"{place!r} {block!r}")
    return data[_CRC:]


def _checksum(place: str, block: str, data: bytes | memoryview) -> int:
    return zlib.crc32(data, zlib.crc32(f"{place}\0{block}".encode()))
