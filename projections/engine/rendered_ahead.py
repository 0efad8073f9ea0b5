"""Documents rendered apart from the shelf, before they are asked for: several may be at work where all are outdated.

Only those that a view makes of rows alone. A job is data, and so is what comes of it, as in `apart.py`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from eventlog.format.events import KnowledgeEdited
from eventlog.format.retractions import Retractions
from eventlog.projections.base import Document, Line
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.places import Places
from eventlog.projections.engine.apart import Spread
from eventlog.projections.engine.conversation_rows import VIEWS
from eventlog.projections.engine.library import Library
from eventlog.projections.engine.row_book import Place
from eventlog.projections.engine.shelf import MemoryShelf
from eventlog.settings.schema import Settings

_ENOUGH = 1 << 20  # bytes of rows, for a job
_KINDS_OF = {one.name: [kind.name for kind in one.view.reads] for one in VIEWS if one.view and one.view.of_rows}

_Rows = dict[Place, list[tuple[str, bytes]]]  # kind and name -> block and data
_Made = list[tuple[str, bytes]]  # path and data of each document


class RenderJob(NamedTuple):
    """Units that views make of rows alone, all these rows, and the notes people wrote."""

    units: list[Place]
    rows: _Rows
    notes: list[KnowledgeEdited]
    settings: Settings


class Rendered(NamedTuple):
    """The documents of units, and what views keep of them: kind, name and data."""

    documents: dict[Place, _Made]
    kept: list[tuple[str, str, bytes | None]]


class RenderedAhead:
    """The documents of those units that can be rendered apart, as they come."""

    def __init__(self, library: Library, units: Iterable[Place], spread: Spread) -> None:
        apart = [(view, name) for view, name in units if name and view in _KINDS_OF]
        self._library = library
        self._awaited = set(apart)
        self._coming = spread(render_apart, _jobs(library, apart))
        self._made: dict[Place, _Made] = {}

    def __contains__(self, unit: Place) -> bool:
        return unit in self._awaited

    def take(self, unit: Place) -> list[Document] | None:
        """Return the documents of a unit, once; None where nobody renders it, or it was taken. Raises ShelfDamaged."""
        if unit not in self._awaited:
            return None
        self._awaited.remove(unit)
        while unit not in self._made:
            made = next(self._coming)
            self._made |= made.documents
            for kept in made.kept:
                self._library.keep(*kept)
        return [Document(path, partial(self._lines, unit, path), data) for path, data in self._made.pop(unit)]

    def _lines(self, unit: Place, path: str) -> Iterable[Line]:
        return next(document.lines for document in self._library.render(unit) if document.path == path)


def render_apart(job: RenderJob) -> Rendered:
    """Render the units of a job."""
    library = _LibraryOfRows(job)
    documents = {unit: [(document.path, document.data) for document in library.render(unit)] for unit in job.units}
    return Rendered(documents, library.told_to_keep)


def _jobs(library: Library, units: Iterable[Place]) -> Iterator[RenderJob]:
    """Make the jobs of these units; those of one name, which share rows, stay together."""
    notes = list(library.notes.values())
    chosen: list[Place] = []
    rows: _Rows = {}
    for unit in units:
        if chosen and chosen[-1][1] != unit[1] and _size(rows) >= _ENOUGH:
            yield RenderJob(chosen, rows, notes, library.settings)
            chosen, rows = [], {}
        chosen.append(unit)
        for place in ((kind, unit[1]) for kind in _KINDS_OF[unit[0]]):
            if place not in rows:
                rows[place] = library.bytes_of(*place)
    if chosen:
        yield RenderJob(chosen, rows, notes, library.settings)


def _size(rows: _Rows) -> int:
    return sum(len(data) for blocks in rows.values() for _, data in blocks)


class _LibraryOfRows(Library):
    """Rows away from the shelf they lie on: what is to be kept there is told."""

    def __init__(self, job: RenderJob) -> None:
        shelf = MemoryShelf()
        for place, blocks in job.rows.items():
            for block, data in blocks:
                shelf.write(*place, block, data)
        super().__init__(shelf, _NotesOnly(job.notes), VIEWS, job.settings)
        self.told_to_keep: list[tuple[str, str, bytes | None]] = []

    def keep(self, kind: str, name: str, data: bytes | None) -> bool:
        """Note what is to be kept."""
        self.told_to_keep.append((kind, name, data))
        return True


class _NotesOnly:
    """The notes of people that are in force, in the place of days."""

    def __init__(self, notes: Iterable[KnowledgeEdited]) -> None:
        self.changed: dict[str, str] = {}
        self.notes = notes
        self.withdrawn = Retractions(())
        self.identities = Identities(Places(), self.withdrawn)

    def conversation(self, conversation_id: str, /) -> Conversation | None:
        """Know of none."""

    def began(self, conversation_id: str) -> str:  # noqa: ARG002
        """Know of none."""
        return ""
