"""Days folded and rows made apart from the shelf: several may be at work on a long log of which nothing is kept yet.

A job is data, and so is what comes of it: the bytes that one process would have put on the shelf. Whoever hands in a
`Spread` decides where jobs are done.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeVar

from eventlog.format.events import KnowledgeEdited
from eventlog.format.retractions import Retractions
from eventlog.log.days import Day
from eventlog.projections import ALL
from eventlog.projections.base import Document, Line
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.places import Places
from eventlog.projections.current.told import Told
from eventlog.projections.engine.conversation_rows import BlockRows, ConversationSource, RowAddress, RowMaintainer, Rows
from eventlog.projections.engine.day_fold import conversations_in, merged, stamps_of
from eventlog.projections.engine.day_states import EVERYTHING, DayStates, FoldedDay
from eventlog.projections.engine.documents import DocumentIndex
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.projections.views.daily_notes import local_time
from eventlog.projections.views.stats import STATS
from eventlog.settings.schema import Settings

_WORTH_IT = 16 << 20  # bytes of a log; a smaller one is folded before another process is at work
# days of a job: the one after its last is read for those who went on after midnight, and is the next job's first
_BLOCKS = 8

_Job = TypeVar("_Job")
_Made = TypeVar("_Made")


class Executor(Protocol):
    """Does jobs wherever it likes, and yields what comes of them in their order; functions are found by their names."""

    def __call__(self, do: Callable[[_Job], _Made], jobs: Iterable[_Job], /) -> Iterator[_Made]:
        """Do all jobs, a few at a time."""
        ...


def is_long(days: Iterable[Day]) -> bool:
    """Tell whether there is so much to read that several should."""
    return sum(size for day in days for _, size, *_ in stamps_of(day)) >= _WORTH_IT


def fold_day(day: Day) -> FoldedDay:
    """Fold a day by itself, as if no other had copies of its events."""
    shelf = MemoryRows()
    book = DayStates(OneDay(day), shelf)
    book.catch_up(lambda _done, _all: None)
    return FoldedDay(shelf.of_block(day.date), list(book.changed))


class OneDay:
    """A log of one day, of whose events some count on other days."""

    def __init__(self, day: Day, left_out: Collection[str] = ()) -> None:
        self._day = day
        self._left_out = frozenset(left_out)

    def days(self, since: str = "", until: str = EVERYTHING) -> list[Day]:
        """List the day."""
        return [self._day] if since <= self._day.date <= until else []

    def holding(self, _date: str, event_ids: Collection[str], until: str = EVERYTHING) -> set[str]:
        """Find those of the ids that count elsewhere."""
        return {one for one in event_ids if one in self._left_out and until == EVERYTHING}


class RowsJob(NamedTuple):
    """The conversations that began on some days in a row, and all that their rows depend on.

    `said` are days as they are on the shelf, `dates` of each conversation those it was at work on; `whole` are the
    conversations of which other days would be needed.
    """

    blocks: list[str]
    said: dict[str, bytes]
    dates: dict[str, list[str]]
    whole: dict[str, Conversation]
    identities: Identities
    withdrawn: Retractions
    settings: Settings


def row_jobs(book: DayStates, settings: Settings) -> Iterator[RowsJob]:
    """Make the jobs of all rows of a book."""
    by_block: dict[str, dict[str, list[str]]] = {}
    for one in book.changed:
        if days := book.dates(one):
            by_block.setdefault(days[0], {})[one] = days
    begun = sorted(by_block)
    for at in range(0, len(begun), _BLOCKS):
        blocks = begun[at : at + _BLOCKS]
        dates = {one: days for block in blocks for one, days in by_block[block].items()}
        after = (days for days in dates.values() if len(days) == 2 and days[1] > blocks[-1])  # noqa: PLR2004 - midnight
        near = {*blocks, *next(after, ())}
        said = {date: book.said_bytes(date) for date in sorted(near)}
        far = [one for one, days in dates.items() if not near.issuperset(days)]
        whole = {one: found for one in far if (found := book.conversation(one))}
        yield RowsJob(blocks, said, dates, whole, book.identities, book.withdrawn, settings)


def make_rows(job: RowsJob) -> list[BlockRows]:
    """Make the rows of some blocks."""
    shelf, book = MemoryRows(), _JobBook(job)
    RowMaintainer(shelf, KINDS).catch_up(book, rows_by(book, job.settings))
    return [BlockRows(block, shelf.of_block(block)) for block in job.blocks]


class _JobBook:
    """The conversations of a job, in the place of days."""

    def __init__(self, job: RowsJob) -> None:
        self.changed: Mapping[str, str] = dict.fromkeys(job.dates, "")
        self.notes = ()
        self.identities = job.identities
        self.withdrawn = job.withdrawn
        self._job = job
        self._said = cache(lambda date: conversations_in(job.said[date]))

    def conversation(self, conversation_id: str, /) -> Conversation | None:
        """Join what it did on its days."""
        whole = self._job.whole.get(conversation_id)
        return whole or merged(self._said(date)[conversation_id] for date in self._job.dates[conversation_id])

    def began(self, conversation_id: str) -> str:
        """Return the first of its days."""
        return next(iter(self._job.dates.get(conversation_id, ())), "")


VIEWS = tuple(view for view in (*ALL, STATS) if view.view)
KINDS = tuple({kind.name: kind for projection in VIEWS if projection.view for kind in projection.view.reads}.values())


def rows_by(book: ConversationSource, settings: Settings) -> Callable[[Conversation], Rows]:
    """Return what makes the rows of a conversation, as the withdrawals and projects of a book have it."""
    local = local_time(settings.timezone)

    def rows_of(raw: Conversation) -> Rows:
        told = Told(book.identities.conversation(raw), book.withdrawn, local)
        return {(kind.name, name): row for kind in KINDS for name, row in kind.of(told).items()}

    return rows_of


_ENOUGH = 1 << 20  # bytes of rows, for a job
_KINDS_OF = {one.name: [kind.name for kind in one.view.reads] for one in VIEWS if one.view and one.view.of_rows}

_Rows = dict[RowAddress, list[tuple[str, bytes]]]  # kind and name -> block and data
_Contents = list[tuple[str, bytes]]  # path and data of each document


class RenderJob(NamedTuple):
    """Units that views make of rows alone, all these rows, and the notes people wrote."""

    units: list[RowAddress]
    rows: _Rows
    notes: list[KnowledgeEdited]
    settings: Settings


class Rendered(NamedTuple):
    """The documents of units, and what views keep of them: kind, name and data."""

    documents: dict[RowAddress, _Contents]
    kept: list[tuple[str, str, bytes | None]]


class Prerendered:
    """The documents of those units that can be rendered apart, as they come."""

    def __init__(self, library: DocumentIndex, units: Iterable[RowAddress], spread: Executor) -> None:
        apart = [(view, name) for view, name in units if name and view in _KINDS_OF]
        self._library = library
        self._awaited = set(apart)
        self._coming = spread(render_documents, _jobs(library, apart))
        self._made: dict[RowAddress, _Contents] = {}

    def __contains__(self, unit: RowAddress) -> bool:
        return unit in self._awaited

    def take(self, unit: RowAddress) -> list[Document] | None:
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

    def _lines(self, unit: RowAddress, path: str) -> Iterable[Line]:
        return next(document.lines for document in self._library.render(unit) if document.path == path)


def render_documents(job: RenderJob) -> Rendered:
    """Render the units of a job."""
    library = _LibraryOfRows(job)
    documents = {unit: [(document.path, document.data) for document in library.render(unit)] for unit in job.units}
    return Rendered(documents, library.told_to_keep)


def _jobs(library: DocumentIndex, units: Iterable[RowAddress]) -> Iterator[RenderJob]:
    """Make the jobs of these units; those of one name, which share rows, stay together."""
    notes = list(library.notes.values())
    chosen: list[RowAddress] = []
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


class _LibraryOfRows(DocumentIndex):
    """Rows away from the shelf they lie on: what is to be kept there is told."""

    def __init__(self, job: RenderJob) -> None:
        shelf = MemoryRows()
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
