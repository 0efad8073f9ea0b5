"""The rows documents are made of, and which documents differ: a conversation that differs takes its old rows out.

The rows of a document are kept in blocks: those of all conversations that began on one day. Beside them is kept where
each conversation has rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from eventlog.format.events import KnowledgeEdited
from eventlog.format.retractions import Retractions
from eventlog.projections.base import Projection, RowKind
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.row_store import RowStore

RowAddress = tuple[str, str]  # kind and name of a row
Rows = dict[RowAddress, Any]
_Block = dict[RowAddress, dict[str, Any]]  # place -> conversation -> row, None for none

_PLACES = msgspec.msgpack.Decoder(dict[str, list[RowAddress]])
_encode = msgspec.msgpack.encode


class ConversationSource(Protocol):
    """The conversations, and which of them differ from those the rows were made of."""

    @property
    def changed(self) -> Mapping[str, str]:
        """Map each that differs to the day it began on until now, "" for none."""
        ...

    @property
    def notes(self) -> Iterable[KnowledgeEdited]:
        """Return what people wrote into files of the store."""
        ...

    @property
    def identities(self) -> Identities:
        """Return which projects the paths of the log mean."""
        ...

    @property
    def withdrawn(self) -> Retractions:
        """Return the withdrawals in force."""
        ...

    def conversation(self, conversation_id: str, /) -> Conversation | None:
        """Return a conversation; None where there is none."""

    def began(self, conversation_id: str) -> str:
        """Return the day it began on; "" where there is none."""
        ...


class BlockRows(NamedTuple):
    """All rows of a block, as kind, name and data."""

    block: str
    rows: list[tuple[str, str, bytes]]


class RowMaintainer:
    """Brings the rows on a shelf to what the conversations say."""

    def __init__(self, shelf: RowStore, kinds: Sequence[RowKind]) -> None:
        self._shelf = shelf
        self._kinds = {kind.name: kind for kind in kinds}
        self.outdated: dict[RowAddress, set[str]] = {}  # names of which a row differs, and in which blocks

    def catch_up(self, book: ConversationSource, rows_of: Callable[[Conversation], Rows]) -> None:
        """Write the rows of every conversation that differs."""
        leaving: dict[str, list[str]] = {}
        arriving: dict[str, list[str]] = {}
        for conversation, before in book.changed.items():
            leaving.setdefault(before, []).append(conversation)
            arriving.setdefault(book.began(conversation), []).append(conversation)
        for block in sorted((leaving.keys() | arriving.keys()) - {""}):
            found = map(book.conversation, arriving.get(block, ()))
            now = {conversation.id: rows_of(conversation) for conversation in found if conversation}
            self._rewrite(block, leaving.get(block, ()), now)

    def take(self, made: "BlockRows") -> None:
        """Write the rows of a block of which there are none yet, as they were made elsewhere."""
        for kind, name, data in made.rows:
            self._shelf.write(kind, name, made.block, data)
            if kind in self._kinds:
                self.outdated.setdefault((kind, name), set()).add(made.block)

    def _rewrite(self, block: str, leaving: Iterable[str], now: dict[str, Rows]) -> None:
        data = self._shelf.read("places", "", block)
        places = _PLACES.decode(data) if data else {}
        changes: _Block = {}
        for conversation in leaving:
            for place in places.pop(conversation, ()):
                changes.setdefault(place, {})[conversation] = None
        for conversation, rows in now.items():
            for place, row in rows.items():
                changes.setdefault(place, {})[conversation] = row
            if rows:
                places[conversation] = list(rows)
        write = self._write if data is None else self._rewrite_part
        for place, rows_at in changes.items():
            write(place, block, rows_at)
        self._shelf.write("places", "", block, _encode(places) if places else None)

    def _rewrite_part(self, place: RowAddress, block: str, changes: dict[str, Any]) -> None:
        kind = self._kinds[place[0]]
        data = self._shelf.read(*place, block)
        part = kind.decode(data) if data else {}
        if any(part.get(one) != row for one, row in changes.items()):
            self._write(place, block, {one: row for one, row in (part | changes).items() if row is not None})
        elif kind.whole:
            self.outdated.setdefault(place, set()).add(block)

    def _write(self, place: RowAddress, block: str, part: dict[str, Any]) -> None:
        kind = self._kinds[place[0]]
        self.outdated.setdefault(place, set()).add(block)
        self._shelf.write(*place, block, _encode(part) if part else None)
        if kind.total:
            total = _encode(kind.total.of(part.values())) if part else None
            self._shelf.write(kind.total_name, place[1], block, total)


def outdated_units(places: Iterable[RowAddress], projections: Iterable[Projection]) -> set[RowAddress]:
    """Name the documents that are made of those rows, as projection and name."""
    readers: dict[str, list[str]] = {}
    for projection in projections:
        for kind in projection.view.reads if projection.view else ():
            readers.setdefault(kind.name, []).append(projection.name)
    return {(reader, name) for kind, name in places for reader in readers.get(kind, ())}
