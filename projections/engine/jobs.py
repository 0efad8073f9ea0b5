"""Work for other processes: days to fold, rows to make and documents to render, where a long log is replayed in full.

A job is data and so is its result: the rows that a single process would have written. The caller hands in an
`Executor`, which decides where jobs run.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeVar

from eventlog.format.events import KnowledgeEdited
from eventlog.format.local_time import local_time
from eventlog.log.days import Day, ListedDays
from eventlog.projections.base import Document, Line
from eventlog.projections.catalog import KINDS, VIEWS
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import RowAddress, RowMaintainer, Rows
from eventlog.projections.engine.day_fold import StoredDays, conversation_of, stamps_of
from eventlog.projections.engine.day_states import DayStates
from eventlog.projections.engine.documents import DocumentIndex
from eventlog.projections.engine.row_store import MemoryRows, StoredRow
from eventlog.settings.schema import Settings

_KINDS_OF = {name: [kind.name for kind in view.reads] for name, view in VIEWS.items() if view.of_rows}

_LONG = 16 << 20  # bytes of a log: a shorter log is folded before another process has started
# Days of a job. A conversation may end after midnight, so the day after the last is read as well.
_BLOCKS = 8
_ENOUGH = 1 << 20  # bytes of rows, for a job that renders

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
_Contents = list[tuple[str, bytes]]  # path and data of each document


class Executor(Protocol):
    """Runs jobs, perhaps in other processes, which find functions by their names."""

    def map(self, do: Callable[[_Job], _Result], jobs: Iterable[_Job], /) -> Iterator[_Result]:
        """Start all jobs, a few at a time, and yield their results in order."""
        ...


def is_long(days: Iterable[Day]) -> bool:
    """Return whether other processes pay for their start."""
    return sum(size for day in days for _, size, *_ in stamps_of(day)) >= _LONG


def fold_day(day: Day) -> list[StoredRow]:
    """Fold a day as if no other day had copies of its events."""
    rows = MemoryRows()
    DayStates(ListedDays([day]), rows).catch_up(lambda _done, _all: None)
    return [row for row in rows.all() if row[2] == day.date]


class _RowsJob(NamedTuple):
    """Conversations that began on a run of days, and everything their rows depend on.

    `days` are rows of days, `dates` the days of each conversation; `merged` has the conversations that other
    days are needed for.
    """

    blocks: list[str]
    days: list[StoredRow]
    dates: dict[str, list[str]]
    merged: dict[str, Conversation]
    identities: Identities
    settings: Settings


def row_jobs(states: DayStates, settings: Settings) -> Iterator[_RowsJob]:
    """Split the changed conversations into jobs."""
    by_block: dict[str, dict[str, list[str]]] = {}
    for conversation in states.changed:
        if dates := states.dates.of(conversation):
            by_block.setdefault(dates[0], {})[conversation] = dates
    begun = sorted(by_block)
    for at in range(0, len(begun), _BLOCKS):
        blocks = begun[at : at + _BLOCKS]
        of_job = {conversation: dates for block in blocks for conversation, dates in by_block[block].items()}
        over_midnight = (days for days in of_job.values() if len(days) == 2 and days[1] > blocks[-1])  # noqa: PLR2004
        near = {*blocks, *next(over_midnight, ())}
        days = [states.stored_conversations(date) for date in sorted(near)]
        far = [conversation for conversation, dates in of_job.items() if not near.issuperset(dates)]
        whole = {conversation: found for conversation in far if (found := states.conversation(conversation))}
        yield _RowsJob(blocks, days, of_job, whole, states.identities, settings)


def make_rows(job: _RowsJob) -> list[StoredRow]:
    """Make the rows of a job's conversations."""
    of_day = cache(StoredDays(MemoryRows(job.days)).encoded)

    def find(conversation_id: str) -> Conversation | None:
        days = (of_day(date)[conversation_id] for date in job.dates[conversation_id])
        return job.merged.get(conversation_id) or conversation_of(days)

    began = {conversation: dates[0] for conversation, dates in job.dates.items()}
    rows, rows_of = MemoryRows(), rows_by(job.identities, job.settings)
    RowMaintainer(rows).catch_up(dict.fromkeys(began, ""), began.__getitem__, find, rows_of)
    return rows.all()


def rows_by(identities: Identities, settings: Settings) -> Callable[[Conversation], Rows]:
    """Return the function that makes the rows of a conversation, of every kind that a view reads."""
    local = local_time(settings.timezone)

    def rows_of(raw: Conversation) -> Rows:
        conversation = RowSource(identities.conversation(raw), identities.withdrawn, local)
        return {(kind.name, name): row for kind in KINDS.values() for name, row in kind.of(conversation).items()}

    return rows_of


class _RenderJob(NamedTuple):
    """Units that views make of rows alone, all these rows, and the notes of people."""

    units: list[RowAddress]
    rows: list[StoredRow]
    notes: list[KnowledgeEdited]
    identities: Identities
    settings: Settings


def _render_documents(job: _RenderJob) -> tuple[dict[RowAddress, _Contents], list[StoredRow]]:
    """Render the units of a job; return their documents, and the rows that their views have stored."""
    rows = MemoryRows(job.rows)
    index = DocumentIndex(rows, lambda _: None, job.identities, job.notes, job.settings)
    documents = {unit: [(document.path, document.data) for document in index.render(unit)] for unit in job.units}
    before = {row[:2] for row in job.rows}
    return documents, [row for row in rows.all() if row[:2] not in before]


class Prerendered:
    """The documents of the units that an executor renders, as they come."""

    def __init__(self, index: DocumentIndex, units: Iterable[RowAddress], executor: Executor) -> None:
        chosen = [(view, name) for view, name in units if name and view in _KINDS_OF]
        self._index = index
        self._pending = set(chosen)
        self._results = executor.map(_render_documents, _render_jobs(index, chosen))
        self._contents: dict[RowAddress, _Contents] = {}

    def __contains__(self, unit: RowAddress) -> bool:
        return unit in self._pending

    def take(self, unit: RowAddress) -> list[Document] | None:
        """Return the documents of a unit, once; None where it is not rendered here. Raises RowsDamaged."""
        if unit not in self._pending:
            return None
        self._pending.remove(unit)
        while unit not in self._contents:
            documents, rows = next(self._results)
            self._contents |= documents
            self._index.adopt(rows)
        return [Document(path, partial(self._lines, unit, path), data) for path, data in self._contents.pop(unit)]

    def _lines(self, unit: RowAddress, path: str) -> Iterable[Line]:
        return next(document.lines for document in self._index.render(unit) if document.path == path)


def _render_jobs(index: DocumentIndex, units: Iterable[RowAddress]) -> Iterator[_RenderJob]:
    """Split units into jobs; those with the same name share rows and stay together."""
    notes = list(index.notes.values())
    chosen: list[RowAddress] = []
    rows: dict[RowAddress, list[StoredRow]] = {}

    def size() -> int:
        return sum(len(row[3]) for found in rows.values() for row in found)

    def job() -> _RenderJob:
        needed = [row for found in rows.values() for row in found]
        return _RenderJob(chosen, needed, notes, index.identities, index.settings)

    for unit in units:
        if chosen and chosen[-1][1] != unit[1] and size() >= _ENOUGH:
            yield job()
            chosen, rows = [], {}
        chosen.append(unit)
        for address in ((kind, unit[1]) for kind in _KINDS_OF[unit[0]]):
            if address not in rows:
                rows[address] = [(*address, block, data) for block, data in index.encoded_rows(*address)]
    if chosen:
        yield job()
