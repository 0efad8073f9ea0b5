"""The documents of a log: which there are, which are outdated, and each of them when it is asked for."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import msgspec

from eventlog.format.events import KnowledgeEdited, order
from eventlog.format.ids import digest_of
from eventlog.format.retractions import Retractions
from eventlog.projections.base import Document, Line, Pieces, Projection, RowKind, Sources
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import ConversationSource, RowAddress
from eventlog.projections.engine.row_store import RowStore
from eventlog.settings.schema import Settings

_Derived = TypeVar("_Derived")
FileStamp = tuple[int, int, int, int]
Files = dict[str, FileStamp]  # path of a document -> stamp of the file that says just that
_FILES = msgspec.msgpack.Decoder(Files | None)
_OUTDATED = msgspec.msgpack.encode(None)


class DocumentIndex:
    """The rows and conversations that views read, and what is known of their documents.

    A unit is what a view makes of one name: a document, several, or none. `published` has the files of each unit that
    is current, as its owner told; None for one that is outdated.
    """

    def __init__(
        self, shelf: RowStore, book: ConversationSource, projections: Sequence[Projection], settings: Settings
    ) -> None:
        self.settings = settings
        self._shelf = shelf
        self._book = book
        self.layouts = Layouts(shelf)
        self._views = {one.name: one.view for one in projections if one.view}
        self.published: dict[RowAddress, Files | None] = {
            (view, name): _FILES.decode(data) for view in self._views for name, data in shelf.rows("unit", view)
        }
        for view in (name for name, view in self._views.items() if view.top):
            self.published.setdefault((view, ""), None)
        self.rows = lru_cache(maxsize=4)(partial(_rows, shelf))  # not of a method: a cycle would keep the shelf open
        self._last_derived: tuple[object, Any] = None, None

    @property
    def withdrawn(self) -> Retractions:
        """Return the withdrawals in force."""
        return self._book.withdrawn

    @property
    def identities(self) -> Identities:
        """Return which projects the paths of the log mean."""
        return self._book.identities

    def conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation that has rows."""
        found = self._book.conversation(conversation_id)
        assert found is not None
        return self._book.identities.conversation(found)

    @cached_property
    def notes(self) -> dict[str, KnowledgeEdited]:
        """Return the newest notes people wrote into each file of the store, by what events call it."""
        return newest_notes(self._book)

    def derived(self, derive: Callable[["DocumentIndex", str], _Derived], name: str) -> _Derived:
        """Derive something of a name, once for the views that ask one after the other."""
        if self._last_derived[0] != (derive, name):
            self._last_derived = (derive, name), derive(self, name)
        found: _Derived = self._last_derived[1]
        return found

    def blocks(self, kind: RowKind, name: str) -> list[str]:
        """List the days on which conversations began that have rows of that name, in order."""
        return self._shelf.blocks(kind.name, name)

    def block(self, kind: RowKind, name: str, block: str) -> list[Any]:
        """Return the rows of that name of the conversations that began on that day."""
        return list(kind.decode(self._shelf.read(kind.name, name, block) or b"\x80").values())

    def bytes_of(self, kind: str, name: str) -> list[tuple[str, bytes]]:
        """Return the rows of that name as they lie, by block."""
        return list(self._shelf.rows(kind, name))

    def totals(self, kind: RowKind, name: str) -> list[Any]:
        """Return what the rows of that name come to, block by block."""
        assert kind.total
        decode = msgspec.msgpack.Decoder(kind.total.type).decode
        return [decode(data) for _, data in self._shelf.rows(kind.total_name, name)]

    def pieces(self, kind: RowKind, name: str, say: Callable[[list[Any]], bytes]) -> Pieces:
        """Make the pieces of a document that says block by block what the rows of that name say."""
        layout = self.layouts.of((kind.name, name))
        as_before = layout.lengths.keys() - layout.changed if layout else frozenset[str]()
        found: dict[str, bytes | None] = dict.fromkeys(self.blocks(kind, name))
        for block in found.keys() - as_before:
            found[block] = say(self.block(kind, name, block))
        return Pieces((kind.name, name), found)

    def names(self, view: str) -> list[str]:
        """List the names of which a view may have documents."""
        return sorted(name for of, name in self.published if of == view)

    def outdate(self, units: Iterable[RowAddress]) -> None:
        """Take these for others than they were."""
        for view, name in units:
            if self.published.get((view, name), {}) is not None:
                self.published[view, name] = None
                self._shelf.write("unit", view, name, _OUTDATED)

    def publish(self, unit: RowAddress, files: Files) -> None:
        """Note that these files are what the unit says."""
        if self.published.get(unit) != files:
            self.published[unit] = files
            self._shelf.write("unit", *unit, msgspec.msgpack.encode(files))

    def kept(self, kind: str, name: str) -> bytes | None:
        """Return what a view has kept under that name."""
        return self._shelf.read(kind, "", name)

    def keep(self, kind: str, name: str, data: bytes | None) -> bool:
        """Keep something for a view under a name; tell whether it is other than what was kept."""
        if self._shelf.read(kind, "", name) == data:
            return False
        self._shelf.write(kind, "", name, data)
        return True

    def render(self, unit: RowAddress) -> list[Document]:
        """Render a unit."""
        view, name = unit
        return list(self._views[view].render(name, self))


def _rows(shelf: RowStore, kind: RowKind, name: str) -> list[Any]:
    """Return the rows of that name, of all conversations."""
    return [row for _, data in shelf.rows(kind.name, name) for row in kind.decode(data).values()]


def newest_notes(book: ConversationSource) -> dict[str, KnowledgeEdited]:
    """Find the newest notes people wrote into each file of the store, by what events call it."""
    valid = [note for note in book.notes if not book.withdrawn.hides(note)]
    found = valid if book.identities.is_plain else book.identities.notes(valid)
    return {str(note.key.path): note for note in sorted(found, key=order)}


_LAYOUT = "layout"
_encode = msgspec.msgpack.encode


class Layout(msgspec.Struct, array_like=True):
    """The file as it was when it was published, and the lengths of its blocks, in order."""

    path: str
    stamp: tuple[int, int, int, int]
    lengths: dict[str, int]
    changed: set[str] = set()


_layout = msgspec.msgpack.Decoder(Layout)


class Layouts:
    """The layouts on a shelf, by kind and name of the rows their documents are made of."""

    def __init__(self, shelf: RowStore) -> None:
        self._shelf = shelf

    def of(self, place: RowAddress) -> Layout | None:
        """Return the layout of a document; None where it is not known."""
        data = self._shelf.read(_LAYOUT, *place)
        return _layout.decode(data) if data else None

    def keep(self, place: RowAddress, layout: Layout | None) -> None:
        """Keep a layout; None forgets it."""
        self._shelf.write(_LAYOUT, *place, _encode(layout, order="deterministic") if layout else None)

    def note(self, place: RowAddress, blocks: Iterable[str]) -> None:
        """Note that these blocks say something else than the file."""
        if layout := self.of(place):
            layout.changed.update(blocks)
            self.keep(place, layout)


_SOURCES = "behind"
_DIGEST = 16  # bytes


class _Behind(msgspec.Struct, array_like=True):
    """The digest of the document, and the sources of lines of it, by number."""

    digest: bytes
    lines: dict[int, Sources]


_behind = msgspec.msgpack.Decoder(_Behind)


def store_sources(document: Document, library: "DocumentIndex") -> Document:
    """Keep the sources of the lines that know them, and return the document."""
    lines = {number: line.known for number, line in enumerate(document.lines, 1) if line.known}
    library.keep(_SOURCES, document.path, msgspec.msgpack.encode(_Behind(digest_of(document.data, _DIGEST), lines)))
    return document


def stored_sources(path: str, data: bytes, library: "DocumentIndex") -> dict[int, Line]:
    """Return those lines of the document at this path, by number; none where it is outdated, or says something else."""
    is_current = any(files and path in files for files in library.published.values())
    kept = library.kept(_SOURCES, path) if is_current else None
    known = _behind.decode(kept) if kept else None
    if known is None or known.digest != digest_of(data, _DIGEST):
        return {}
    texts = data.decode().split("\n")
    return {number: Line(texts[number - 1], *behind) for number, behind in known.lines.items()}
