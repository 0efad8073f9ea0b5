"""The engine: the log -> states -> documents. Reads the log; folded days are kept by the cache it is handed.

What is kept has the states of all projections, whichever were asked for, so that asking in turn for different ones
does not fold a day twice.

What was withdrawn is folded like everything else, but kept without its words (`withheld`).

Days are folded one at a time, oldest first, and merged; memory is bounded by the largest day and the states.
"""

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from eventlog import days
from eventlog.cross_day import CopyFilter, misdated
from eventlog.damage import Damage
from eventlog.days import Day
from eventlog.errors import BadRequest
from eventlog.events import Event
from eventlog.log import EventLog
from eventlog.projections import ALL
from eventlog.projections.base import Document, Projection
from eventlog.projections.engine.day_fold import NO_CACHE, DayCache, DayFileStamp, DayFold, States, stamps_of
from eventlog.projections.engine.withheld import Withheld, withheld, without_words
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.identity import resolved
from eventlog.settings.schema import Settings

EVERYTHING = "~"  # after every time
Keep = Callable[[Event], bool]
Progress = Callable[[int, int], None]  # days done, days in all


@dataclass
class ReplayResult:
    """The documents of a replay, ordered by path, the states behind them, and how it came to them."""

    documents: list[Document]
    states: States = field(default_factory=dict)
    days: int = 0
    days_folded: int = 0
    events: int = 0
    damage: list[Damage] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)  # projection of another package -> why it says nothing


def replay(
    log: EventLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    until: str = EVERYTHING,
    keep: Keep | None = None,
    cache: DayCache = NO_CACHE,
    progress: Progress = lambda _done, _all: None,
) -> ReplayResult:
    """Render the events with `ts <= until` that `keep` accepts.

    The same events give the same documents, whatever files they are in and whatever has been kept in the cache. A
    projection of another package that fails is left out and told of as `broken`.
    """
    run = partial(_replay, log, settings, until=until, keep=keep, cache=cache, progress=progress)
    try:
        return run(projections)
    except Exception:
        if not any(projection.package for projection in projections):
            raise
    return _one_by_one(run, projections)


def _one_by_one(run: Callable[[Sequence[Projection]], ReplayResult], projections: Sequence[Projection]) -> ReplayResult:
    """Replay ours, then each projection of another package by itself; one that fails says nothing but why."""
    result = run([projection for projection in projections if not projection.package])
    for projection in projections:
        if projection.package:
            try:
                alone = run([projection])
            except Exception as error:  # noqa: BLE001 - another package's code
                result.broken[projection.name] = f"{type(error).__name__}: {error}"
            else:
                result.documents += alone.documents
                result.states |= {kind: state for kind, state in alone.states.items() if kind not in result.states}
    result.documents.sort(key=lambda document: document.path)
    return result


def _replay(
    log: EventLog,
    settings: Settings,
    projections: Sequence[Projection],
    *,
    until: str,
    keep: Keep | None,
    cache: DayCache,
    progress: Progress,
) -> ReplayResult:
    fold = _Fold(log, {projection.state for projection in projections}, until, keep, cache)
    with _no_garbage():
        there = log.days(until=until)
        result = _fold_all(fold, there, progress)
        if fold.lacks_words(result.states):
            result = _fold_all(fold, there, progress)
        fold.tidy(there, result.states)
        shown = _with_identities(result.states)
        for projection in projections:
            result.documents += _rendered(projection, shown, settings)
    result.documents.sort(key=lambda document: document.path)
    return result


def _with_identities(states: States) -> States:
    """Let views see projects by what they are, not by where they lie."""
    found = states.get(Conversations)
    return {**states, Conversations: found.once(resolved)} if isinstance(found, Conversations) else states


def _rendered(projection: Projection, states: States, settings: Settings) -> list[Document]:
    """Raises BadRequest where a projection of another package renders what is not its own."""
    documents = list(projection.render(states[projection.state], settings))
    for document in documents if projection.package else ():
        if not projection.owns_path(document.path):
            raise BadRequest(f"it renders {document.path!r}, which it does not own")
        _ = document.data  # raises where it cannot be written
    return documents


def _fold_all(fold: "_Fold", todo: Sequence[Day], progress: Progress) -> ReplayResult:
    result = ReplayResult([], days=len(todo))
    total = result.states = fold.empty()
    for position, day in enumerate(todo):
        folded, fresh = fold.day(day, closed=position + 1 < len(todo))
        for kind, state in total.items():
            state.merge(folded.states[kind])
        result.days_folded += fresh
        result.events += folded.events
        result.damage += [damage for damage in folded.damage if damage.kind != "pending"]  # a write under way
        progress(position + 1, len(todo))
    return result


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Turn garbage collection off: states and documents only grow and hold no cycles, and it takes half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Kept(NamedTuple):
    left_out: frozenset[str]
    withheld: frozenset[str]


class _Fold:
    """Folds one day after the other, with or without checkpoints."""

    def __init__(
        self, log: EventLog, kinds: Collection[type[Any]], until: str, keep: Keep | None, cache: DayCache
    ) -> None:
        self._kinds = kinds
        self._until = until
        self._keep = keep
        self._holding = partial(log.holding, until=until)
        self._elsewhere = CopyFilter(self._holding)
        self._cache: DayCache = cache if keep is None else NO_CACHE  # a choice of events is nobody else's
        self._kept: dict[str, _Kept] = {}  # by day, of the checkpoints there are
        self._wordless: frozenset[str] = frozenset()  # days whose checkpoints lack words that are needed

    def empty(self) -> States:
        """Make the states of no events."""
        return {kind: kind() for kind in self._kinds}

    def day(self, day: Day, *, closed: bool) -> tuple[DayFold, bool]:
        """Return the fold of a day, and whether its events had to be folded for it."""
        whole = day.date < self._until[:10]
        saved = self._cache.find(day, self._kinds) if whole and day.date not in self._wordless else None
        if saved is None:
            return self._fold(day, keep=closed and whole), True
        left_out = self._elsewhere.of(saved.misdated)
        if left_out != saved.left_out:
            return self._fold(day, keep=closed and whole, left_out=left_out), True
        self._kept[day.date] = _Kept(left_out, saved.withheld)
        return saved, False

    def lacks_words(self, states: States) -> bool:
        """Tell whether checkpoints were used without the words of what is not withdrawn (any more, or at that time).

        They are not used again.
        """
        now = _withheld(states)
        lacking = {date for date, kept in self._kept.items() if kept.withheld - now.get(date, frozenset())}
        self._wordless |= lacking
        if lacking:
            self._kept.clear()
            self._elsewhere = CopyFilter(self._holding)
        return bool(lacking)

    def tidy(self, there: Sequence[Day], states: States) -> None:
        """Leave no checkpoint of a day that is gone, and none with the words of what is withdrawn."""
        if not self._cache.keeps or self._until != EVERYTHING:
            return
        self._cache.sweep({day.date for day in there})
        now = _withheld(states)
        for day in there:
            kept = self._kept.get(day.date)
            if kept and kept.withheld != (wanted := now.get(day.date, kept.withheld)):
                self._fold(day, keep=True, left_out=kept.left_out, withheld=wanted)

    def _fold(
        self,
        day: Day,
        *,
        keep: bool,
        left_out: frozenset[str] | None = None,
        withheld: frozenset[str] = frozenset(),
    ) -> DayFold:
        stamps: list[DayFileStamp] = stamps_of(day)
        events, damage = days.load(day)
        foreign = misdated(day.date, [event.id for event in events])
        copies = self._elsewhere.of(foreign) if left_out is None else left_out
        kept = keep and self._cache.keeps
        kinds = {*self._kinds, *(projection.state for projection in ALL)} if kept else self._kinds
        folded = DayFold({kind: kind() for kind in kinds}, 0, damage, foreign, copies, withheld)
        self._take_in(folded, events)
        if kept:
            self._cache.keep(day, stamps, folded)
            self._kept[day.date] = _Kept(copies, withheld)
        return folded

    def _take_in(self, folded: DayFold, events: list[Event]) -> None:
        if folded.left_out:
            events = [event for event in events if event.id not in folded.left_out]
        if folded.withheld:
            events = [without_words(event) if event.id in folded.withheld else event for event in events]
        if self._until != EVERYTHING:
            events = [event for event in events if event.ts <= self._until]
        if self._keep:
            events = list(filter(self._keep, events))
        folded.events = len(events)
        for state in folded.states.values():
            fold = state.fold
            for event in events:
                fold(event)


def _withheld(states: States) -> Withheld:
    """Find what is withdrawn; nothing, where nobody asked what was said."""
    return withheld(states[Conversations]) if Conversations in states else {}
