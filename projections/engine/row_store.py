"""Rows by kind, name and block that a replay leaves for the next.

A store may forget all rows at any time, but never some of them: a store that cannot return what was written
raises `RowsDamaged`, and its owner starts again with an empty store.
"""

from collections.abc import Iterable
from typing import ClassVar, Protocol

StoredRow = tuple[str, str, str, bytes]  # kind, name, block, data


class RowsDamaged(Exception):
    """Rows cannot be read, or not be trusted; `for_good` where another try will not help."""

    def __init__(self, what: str, *, for_good: bool = False) -> None:
        super().__init__(what)
        self.for_good = for_good


class RowStore(Protocol):
    """Bytes by kind, name and block."""

    @property
    def is_persistent(self) -> bool:
        """Return whether another replay may read what is written."""
        ...

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return a row, or None."""

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the blocks of a name with their rows, in order."""
        ...

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks that a name has rows for, in order."""
        ...

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Write a row; None removes it."""


class MemoryRows:
    """A row store in memory, gone with its process: it may show another store `below`, into which it writes nothing.

    With `until`, only days before it are read from below, and nothing made of several days.
    """

    is_persistent: ClassVar[bool] = False

    def __init__(self, rows: Iterable[StoredRow] = (), below: RowStore | None = None, until: str = "") -> None:
        self._rows: dict[tuple[str, str], dict[str, bytes | None]] = {}  # None hides what is below
        self._below = below
        self._until = until
        for row in rows:
            self.write(*row)

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return a row, or None."""
        rows = self._rows.get((kind, name), {})
        if block in rows or not (self._below and self._is_visible(kind, block)):
            return rows.get(block)
        return self._below.read(kind, name, block)

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the blocks of a name with their rows, in order."""
        below = self._below.rows(kind, name) if self._below and self._is_visible(kind, "") else ()
        found: dict[str, bytes | None] = {block: data for block, data in below if self._is_visible(kind, block)}
        found |= self._rows.get((kind, name), {})
        return [(block, data) for block, data in sorted(found.items()) if data is not None]

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        below = self._below.blocks(kind, name) if self._below and self._is_visible(kind, "") else ()
        rows = self._rows.get((kind, name), {})
        hidden = {block for block, data in rows.items() if data is None}
        return sorted(({block for block in below if self._is_visible(kind, block)} | rows.keys()) - hidden)

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Write a row; None removes it."""
        if data is None and self._below is None:
            self._rows.get((kind, name), {}).pop(block, None)
        else:
            self._rows.setdefault((kind, name), {})[block] = data

    def all(self) -> list[StoredRow]:
        """List all rows of its own, ordered by kind, name and block."""
        return [
            (*address, block, data)
            for address, rows in sorted(self._rows.items())
            for block, data in sorted(rows.items())
            if data is not None
        ]

    def _is_visible(self, kind: str, block: str) -> bool:
        return not self._until or (kind in ("day", "said", "state") and block < self._until[:10])
