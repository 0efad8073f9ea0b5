"""The shelf: rows by kind, name and block that replays keep from one time to the next. Its owner hands it in.

A shelf may forget everything at any time, but never a part: whoever cannot give what was written raises `ShelfDamaged`,
and begins anew with nothing.
"""

from collections.abc import Iterable
from typing import ClassVar, Protocol


class RowsDamaged(Exception):
    """Rows cannot be had, or not be relied on; `for_good` where it will be no better another time."""

    def __init__(self, what: str, *, for_good: bool = False) -> None:
        super().__init__(what)
        self.for_good = for_good


class RowStore(Protocol):
    """Bytes by kind, name and block."""

    @property
    def keeps(self) -> bool:
        """Tell whether anything written may be found by another replay."""
        ...

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return one row; None where there is none."""

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the rows of a name by block, in the order of the blocks."""
        ...

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of which a name has rows, in order."""
        ...

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Put a row; None removes it."""


class MemoryRows:
    """Keeps nothing for another replay."""

    keeps: ClassVar[bool] = False

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], dict[str, bytes]] = {}

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return one row; None where there is none."""
        return self._rows.get((kind, name), {}).get(block)

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the rows of a name, in the order of the blocks."""
        return sorted(self._rows.get((kind, name), {}).items())

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        return sorted(self._rows.get((kind, name), ()))

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Put a row, or remove it."""
        if data is None:
            self._rows.get((kind, name), {}).pop(block, None)
        else:
            self._rows.setdefault((kind, name), {})[block] = data

    def of_block(self, block: str) -> list[tuple[str, str, bytes]]:
        """List the rows of a block: kind, name and data."""
        return [(*place, rows[block]) for place, rows in sorted(self._rows.items()) if block in rows]


class DaysAtOnce:
    """A shelf to read from, whose rows of days are all fetched when the first is asked for: one by one takes longer.

    Where not all of them can be had it has none, so that the log itself is read.
    """

    keeps: ClassVar[bool] = False

    def __init__(self, below: RowStore) -> None:
        self._below = below
        self._days: dict[str, bytes] | None = None

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return one row; None where there is none."""
        if (kind, name) != ("day", ""):
            return self._below.read(kind, name, block)
        if self._days is None:
            try:
                self._days = dict(self._below.rows(kind, name))
            except RowsDamaged:
                self._days = {}
        return self._days.get(block)

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the rows of a name, in the order of the blocks."""
        return self._below.rows(kind, name)

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        return self._below.blocks(kind, name)

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Refuse: who writes reads one by one."""
        raise NotImplementedError


class OverlayRows:
    """A shelf that is read and not written: what is put lies over it, for this replay only.

    Only rows of blocks before `until` are taken from below, and where that is given, of days only.
    """

    keeps: ClassVar[bool] = False

    def __init__(self, below: RowStore, until: str = "") -> None:
        self._below = below
        self._until = until
        self._over: dict[tuple[str, str], dict[str, bytes | None]] = {}

    def read(self, kind: str, name: str, block: str) -> bytes | None:
        """Return one row; None where there is none."""
        over = self._over.get((kind, name), {})
        if block in over:
            return over[block]
        return self._below.read(kind, name, block) if self._shows(kind, block) else None

    def rows(self, kind: str, name: str) -> Iterable[tuple[str, bytes]]:
        """Return the rows of a name, in the order of the blocks."""
        found = self._below.rows(kind, name) if self._shows(kind, "") else ()
        both = {block: data for block, data in found if self._shows(kind, block)} | self._over.get((kind, name), {})
        return [(block, data) for block, data in sorted(both.items()) if data is not None]

    def blocks(self, kind: str, name: str) -> list[str]:
        """List the blocks of a name, in order."""
        below = self._below.blocks(kind, name) if self._shows(kind, "") else ()
        there = {block: True for block in below if self._shows(kind, block)}
        over = {block: data is not None for block, data in self._over.get((kind, name), {}).items()}
        return sorted(block for block, is_there in (there | over).items() if is_there)

    def write(self, kind: str, name: str, block: str, data: bytes | None) -> None:
        """Put a row over it, or hide it."""
        self._over.setdefault((kind, name), {})[block] = data

    def _shows(self, kind: str, block: str) -> bool:
        return not self._until or (kind in ("day", "said", "state") and block < self._until[:10])
