"""The documents of a log: which exist, which are outdated, and each of them when it is asked for.

A unit is what a view makes of a name: a document, several, or none. Beside a long document lies its layout: the
lengths of its blocks in the file, so that a file of many megabytes is rewritten where its rows changed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import msgspec

from eventlog.format.events import KnowledgeEdited
from eventlog.format.ids import digest_of
from eventlog.format.retractions import Retractions
from eventlog.projections.base import Document, Line, Pieces, RowKind, Sources
from eventlog.projections.catalog import VIEWS
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import Find, RowAddress
from eventlog.projections.engine.row_store import RowStore, StoredRow
from eventlog.settings.schema import Settings
from eventlog.store.files import FileStamp

Files = dict[str, FileStamp]  # path of a document -> stamp of the file with its bytes

_UNIT, _LAYOUT, _SOURCES = "unit", "layout", "behind"
_DIGEST = 16  # bytes
_FILES = msgspec.msgpack.Decoder(Files | None)
_OUTDATED = msgspec.msgpack.encode(None)
_encode = msgspec.msgpack.encode
_Memo = TypeVar("_Memo")


class Layout(msgspec.Struct, array_like=True):
    """A published file: its stamp, the lengths of its blocks in order, and the blocks that changed since."""

    path: str
    stamp: FileStamp
    lengths: dict[str, int]
    changed: set[str] = set()


class _LineSources(msgspec.Struct, array_like=True):
    """The digest of a document, and the sources of its lines, by number."""

    digest: bytes
    lines: dict[int, Sources]


_layout = msgspec.msgpack.Decoder(Layout)
_line_sources = msgspec.msgpack.Decoder(_LineSources)


class Layouts:
    """The stored layouts, by kind and name of the rows their documents are made of."""

    def __init__(self, cache: RowStore) -> None:
        self._cache = cache

    def of(self, address: RowAddress) -> Layout | None:
        """Return the layout of a document; None where none is stored."""
        data = self._cache.read(_LAYOUT, *address)
        return _layout.decode(data) if data else None

    def store(self, address: RowAddress, layout: Layout | None) -> None:
        """Store a layout; None removes it."""
        self._cache.write(_LAYOUT, *address, _encode(layout, order="deterministic") if layout else None)


class DocumentIndex:
    """The rows and conversations that views read, and the state of their documents.

    `current_files` maps each unit to the files that have its bytes, None where it is outdated; `files_before` to those
    that were current until its rows changed, where nothing else did.
    """

    def __init__(
        self,
        cache: RowStore,
        find: Find,
        identities: Identities,
        notes: Iterable[KnowledgeEdited],
        settings: Settings,
        known: dict[RowAddress, Files | None] | None = None,
    ) -> None:
        self.settings = settings
        self.identities = identities
        self.layouts = Layouts(cache)
        self._cache = cache
        self._find = find
        self._notes = notes
        self.current_files = known or {
            (view, name): _FILES.decode(data) for view in VIEWS for name, data in cache.rows(_UNIT, view)
        }
        for view in (name for name, view in VIEWS.items() if view.top):
            self.current_files.setdefault((view, ""), None)
        self.files_before: dict[RowAddress, Files] = {}
        self.rows = lru_cache(maxsize=4)(partial(_rows, cache))  # of a method, a cycle would hold the database open
        self._memos: tuple[str, dict[object, Any]] = "", {}

    @property
    def withdrawn(self) -> Retractions:
        """Return the withdrawals in force."""
        return self.identities.withdrawn

    def conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation that has rows."""
        found = self._find(conversation_id)
        assert found is not None
        return self.identities.conversation(found)

    @cached_property
    def notes(self) -> dict[str, KnowledgeEdited]:
        """Return the newest notes of people in each file of the store, by the file's key in events."""
        return self.identities.notes(self._notes)

    def memo(self, derive: Callable[["DocumentIndex", str], _Memo], name: str) -> _Memo:
        """Call `derive(self, name)`; remember the results of the last name for the next view that asks."""
        if self._memos[0] != name:
            self._memos = name, {}
        if derive not in self._memos[1]:
            self._memos[1][derive] = derive(self, name)
        found: _Memo = self._memos[1][derive]
        return found

    def blocks(self, kind: RowKind, name: str) -> list[str]:
        """List the days on which conversations began that have rows of that name, in order."""
        return self._cache.blocks(kind.name, name)

    def block(self, kind: RowKind, name: str, block: str) -> list[Any]:
        """Return the rows of that name of the conversations that began on that day."""
        return list(kind.decode(self._cache.read(kind.name, name, block) or b"\x80").values())

    def encoded_rows(self, kind: str, name: str) -> list[tuple[str, bytes]]:
        """Return the encoded rows of that name, by block."""
        return list(self._cache.rows(kind, name))

    def totals(self, kind: RowKind, name: str) -> list[Any]:
        """Return the totals of the rows of that name, block by block."""
        assert kind.total
        decode = msgspec.msgpack.Decoder(kind.total.type).decode
        return [decode(data) for _, data in self._cache.rows(kind.total_name, name)]

    def pieces(self, kind: RowKind, name: str, render: Callable[[list[Any]], bytes]) -> Pieces:
        """Render the blocks of a document that its file lacks; None stands for the others."""
        layout = self.layouts.of((kind.name, name))
        unchanged = layout.lengths.keys() - layout.changed if layout else frozenset[str]()
        found: dict[str, bytes | None] = dict.fromkeys(self.blocks(kind, name))
        for block in found.keys() - unchanged:
            found[block] = render(self.block(kind, name, block))
        return Pieces((kind.name, name), found)

    def names(self, view: str) -> list[str]:
        """List the names that a view may have documents of."""
        return sorted(name for of, name in self.current_files if of == view)

    def invalidate(self, units: Iterable[RowAddress]) -> None:
        """Mark units as outdated."""
        for view, name in units:
            self.files_before.pop((view, name), None)
            if self.current_files.get((view, name), {}) is not None:
                self.current_files[view, name] = None
                self._cache.write(_UNIT, view, name, _OUTDATED)

    def outdate(self, changed: Mapping[RowAddress, Collection[str]]) -> None:
        """Mark the units as outdated that are made of these rows, by block; drop what their views keep of them."""
        outdated: dict[RowAddress, Files | None] = {}
        for (kind, name), blocks in changed.items():
            if layout := self.layouts.of((kind, name)):  # whose file lacks the changes from now on
                layout.changed.update(blocks)
                self.layouts.store((kind, name), layout)
            for view, of in VIEWS.items():
                if kind in [read.name for read in of.reads]:
                    outdated[view, name] = self.current_files.get((view, name))
                if of.keeps and kind == of.reads[0].name:
                    self.store(of.keeps, name, None)
        self.invalidate(outdated)
        self.files_before |= {unit: files for unit, files in outdated.items() if files}

    def publish(self, unit: RowAddress, files: Files) -> None:
        """Record that these files are current for a unit."""
        if self.current_files.get(unit) != files:
            self.current_files[unit] = files
            self._cache.write(_UNIT, *unit, _encode(files))

    def stored(self, kind: str, name: str) -> bytes | None:
        """Return what a view has stored under a name."""
        return self._cache.read(kind, "", name)

    def store(self, kind: str, name: str, data: bytes | None) -> bool:
        """Store data of a view under a name; return whether it differs from what was stored."""
        if self._cache.read(kind, "", name) == data:
            return False
        self._cache.write(kind, "", name, data)
        return True

    def adopt(self, rows: Iterable[StoredRow]) -> None:
        """Write the rows that views have stored in another process."""
        for row in rows:
            self._cache.write(*row)

    def store_sources(self, document: Document) -> Document:
        """Store the sources of the lines that have any, and return the document."""
        lines = {number: line.known for number, line in enumerate(document.lines, 1) if line.known}
        sources = _LineSources(digest_of(document.data, _DIGEST), lines)
        self.store(_SOURCES, document.path, _encode(sources))
        return document

    def lines_with_sources(self, path: str, data: bytes) -> dict[int, Line]:
        """Return the lines with stored sources, by number; none where the document is outdated, or has other bytes."""
        is_current = any(files and path in files for files in self.current_files.values())
        found = self.stored(_SOURCES, path) if is_current else None
        sources = _line_sources.decode(found) if found else None
        if sources is None or sources.digest != digest_of(data, _DIGEST):
            return {}
        texts = data.decode().split("\n")
        return {number: Line(texts[number - 1], *behind) for number, behind in sources.lines.items()}

    def render(self, unit: RowAddress) -> list[Document]:
        """Render a unit."""
        view, name = unit
        return list(VIEWS[view].render(name, self))


def _rows(cache: RowStore, kind: RowKind, name: str) -> list[Any]:
    """Return the rows of that name, of all conversations."""
    return [row for _, data in cache.rows(kind.name, name) for row in kind.decode(data).values()]


def files_in(cache: RowStore, view: str) -> Files:
    """Return the files that were current when the units of a view were published."""
    units = [_FILES.decode(data) for _, data in cache.rows(_UNIT, view)]
    return {path: stamp for files in units if files for path, stamp in files.items()}
