"""Days folded and rows made apart from the shelf: several may be at work on a long log of which nothing is kept yet.

A job is data, and so is what comes of it: the bytes that one process would have put on the shelf. Whoever hands in a
`Spread` decides where jobs are done.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

from eventlog.format.retractions import Retractions
from eventlog.log.days import Day
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import KINDS, rows_by
from eventlog.projections.engine.day_book import EVERYTHING, DayBook
from eventlog.projections.engine.day_fold import FoldedApart, conversations_in, joined, stamps_of
from eventlog.projections.engine.row_book import BlockRows, RowBook
from eventlog.projections.engine.shelf import MemoryShelf
from eventlog.settings.schema import Settings

_WORTH_IT = 16 << 20  # bytes of a log; a smaller one is folded before another process is at work
# days of a job: the one after its last is read for those who went on after midnight, and is the next job's first
_BLOCKS = 8

_Job = TypeVar("_Job")
_Made = TypeVar("_Made")


class Spread(Protocol):
    """Does jobs wherever it likes, and yields what comes of them in their order; functions are found by their names."""

    def __call__(self, do: Callable[[_Job], _Made], jobs: Iterable[_Job], /) -> Iterator[_Made]:
        """Do all jobs, a few at a time."""
        ...


def is_worth_it(days: Iterable[Day]) -> bool:
    """Tell whether there is so much to read that several should."""
    return sum(size for day in days for _, size, *_ in stamps_of(day)) >= _WORTH_IT


def fold_apart(day: Day) -> FoldedApart:
    """Fold a day by itself, as if no other had copies of its events."""
    shelf = MemoryShelf()
    book = DayBook(OneDay(day), shelf)
    book.catch_up(lambda _done, _all: None)
    return FoldedApart(shelf.of_block(day.date), list(book.changed))


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


def jobs(book: DayBook, settings: Settings) -> Iterator[RowsJob]:
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


def rows_apart(job: RowsJob) -> list[BlockRows]:
    """Make the rows of some blocks."""
    shelf, book = MemoryShelf(), _JobBook(job)
    RowBook(shelf, KINDS).catch_up(book, rows_by(book, job.settings))
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
        return whole or joined(self._said(date)[conversation_id] for date in self._job.dates[conversation_id])

    def began(self, conversation_id: str) -> str:
        """Return the first of its days."""
        return next(iter(self._job.dates.get(conversation_id, ())), "")
