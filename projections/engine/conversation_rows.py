"""The rows that documents are made of: new rows replace the old rows of a changed conversation.

The rows of a document lie in blocks: the conversations that began on a day share a block. Another row lists where each
conversation has rows.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from eventlog.projections.catalog import KINDS
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.engine.row_store import RowStore, StoredRow

RowAddress = tuple[str, str]  # kind and name
Rows = dict[RowAddress, Any]
Find = Callable[[str], Conversation | None]  # a conversation by its id

_ADDRESSES = msgspec.msgpack.Decoder(dict[str, list[RowAddress]])
_encode = msgspec.msgpack.encode


class RowMaintainer:
    """Updates stored rows after conversations changed; `outdated` has the blocks that differ, by address."""

    def __init__(self, cache: RowStore) -> None:
        self._cache = cache
        self.outdated: dict[RowAddress, set[str]] = {}

    def catch_up(
        self,
        changed: Mapping[str, str],
        began: Callable[[str], str],
        find: Find,
        rows_of: Callable[[Conversation], Rows],
    ) -> None:
        """Replace the rows of the changed conversations, each with the day it began on before; "" is no day."""
        old: dict[str, list[str]] = {}
        new: dict[str, list[str]] = {}
        for conversation, block in changed.items():
            old.setdefault(block, []).append(conversation)
            new.setdefault(began(conversation), []).append(conversation)
        for block in sorted((old.keys() | new.keys()) - {""}):
            found = map(find, new.get(block, ()))
            rows = {conversation.id: rows_of(conversation) for conversation in found if conversation}
            self._replace_block(block, old.get(block, ()), rows)

    def adopt(self, rows: Iterable[StoredRow]) -> None:
        """Write the rows of new blocks, as another process made them."""
        for kind, name, block, data in rows:
            self._cache.write(kind, name, block, data)
            if kind in KINDS:
                self.outdated.setdefault((kind, name), set()).add(block)

    def _replace_block(self, block: str, old: Iterable[str], new: dict[str, Rows]) -> None:
        data = self._cache.read("places", "", block)
        addresses = _ADDRESSES.decode(data) if data else {}
        changes: dict[RowAddress, dict[str, Any]] = {}  # conversation -> row, None for none
        for conversation in old:
            for address in addresses.pop(conversation, ()):
                changes.setdefault(address, {})[conversation] = None
        for conversation, rows in new.items():
            for address, row in rows.items():
                changes.setdefault(address, {})[conversation] = row
            if rows:
                addresses[conversation] = list(rows)
        write = self._write if data is None else self._update
        for address, row_by_conversation in changes.items():
            write(address, block, row_by_conversation)
        self._cache.write("places", "", block, _encode(addresses) if addresses else None)

    def _update(self, address: RowAddress, block: str, changes: dict[str, Any]) -> None:
        kind = KINDS[address[0]]
        data = self._cache.read(*address, block)
        before = kind.decode(data) if data else {}
        if any(before.get(conversation) != row for conversation, row in changes.items()):
            rows = {conversation: row for conversation, row in (before | changes).items() if row is not None}
            self._write(address, block, rows)
        elif kind.whole:
            self.outdated.setdefault(address, set()).add(block)

    def _write(self, address: RowAddress, block: str, rows: dict[str, Any]) -> None:
        kind = KINDS[address[0]]
        self.outdated.setdefault(address, set()).add(block)
        self._cache.write(*address, block, _encode(rows) if rows else None)
        if kind.total:
            total = _encode(kind.total.of(rows.values())) if rows else None
            self._cache.write(kind.total_name, address[1], block, total)
