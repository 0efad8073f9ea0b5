"""Rows by kind, name and block that one replay leaves for the next.

A store may forget all rows at any time, but never some of them: one that cannot return what was written raises
`RowsDamaged`, and its owner starts again with an empty one.
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
    """A row store in memory, gone with its process."""

    is_persistent: ClassVar[bool] = False

    def __init__(self, rows: Iterable[StoredRow] = ()) -> None:
        self._rows: dict[tuple[str, str], dict[str, bytes]] = {}
        for row in rows:
            self.write(*row)

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return a row, or None."""
        return self._rows.get((kind, name), {}).get(block)

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the blocks of a name with their rows, in order."""
        return sorted(self._rows.get((kind, name), {}).items())

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        return sorted(self._rows.get((kind, name), ()))

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Write a row; None removes it."""
        if data is None:
            self._rows.get((kind, name), {}).pop(block, None)
        else:
            self._rows.setdefault((kind, name), {})[block] = data

    def all(self) -> list[StoredRow]:
        """List all rows, ordered by kind, name and block."""
        addresses = sorted(self._rows)
        return [(*address, block, data) for address in addresses for block, data in self.rows(*address)]


class OverlayRows:
    """Reads another store and writes to memory, for one replay.

    With `until`, only days before it are read from below, and nothing made of several days.
    """

    is_persistent: ClassVar[bool] = False

    def __init__(self, below: RowStore, until: str = "") -> None:
        self._below = below
        self._until = until
        self._over: dict[tuple[str, str], dict[str, bytes | None]] = {}

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return a row, or None."""
        over = self._over.get((kind, name), {})
        if block in over:
            return over[block]
        return self._below.read(kind, name, block) if self._is_visible(kind, block) else None

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the blocks of a name with their rows, in order."""
        below = self._below.rows(kind, name) if self._is_visible(kind, "") else ()
        visible = {block: data for block, data in below if self._is_visible(kind, block)}
        found = visible | self._over.get((kind, name), {})
        return [(block, data) for block, data in sorted(found.items()) if data is not None]

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        below = self._below.blocks(kind, name) if self._is_visible(kind, "") else ()
        over = self._over.get((kind, name), {})
        visible = {block for block in below if self._is_visible(kind, block)} - over.keys()
        return sorted(visible | {block for block, data in over.items() if data is not None})

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Write a row over the one below; None hides that."""
        self._over.setdefault((kind, name), {})[block] = data

    def _is_visible(self, kind: str, block: str) -> bool:
        return not self._until or (kind in ("day", "said", "state") and block < self._until[:10])
