"""Where the blocks of a long document lie in the file that was published last, and which of them have changed since.

So a file of many megabytes, one line of which is another, is made of what was there and that line.
"""

from collections.abc import Iterable

import msgspec

from eventlog.projections.engine.row_book import Place
from eventlog.projections.engine.shelf import Shelf

_KIND = "layout"
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

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def of(self, place: Place) -> Layout | None:
        """Return the layout of a document; None where it is not known."""
        data = self._shelf.read(_KIND, *place)
        return _layout.decode(data) if data else None

    def keep(self, place: Place, layout: Layout | None) -> None:
        """Keep a layout; None forgets it."""
        self._shelf.write(_KIND, *place, _encode(layout, order="deterministic") if layout else None)

    def note(self, place: Place, blocks: Iterable[str]) -> None:
        """Note that these blocks say something else than the file."""
        if layout := self.of(place):
            layout.changed.update(blocks)
            self.keep(place, layout)
