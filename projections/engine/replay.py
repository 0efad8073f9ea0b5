"""The engine: log -> folded days -> rows of conversations -> documents. It reads the log and writes to its row store.

Day         folded again where its files changed; conversations that differ afterwards have changed.
Row         what a conversation adds to a document; the rows of changed conversations are replaced.
Document    outdated where one of its rows changed; rendered when it is asked for.

A full replay is the same with an empty store: everything has changed. The states of other packages' projections are
folded and merged whole (`whole_states.py`).
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

from eventlog.projections.base import Document, Line, Projection, RowKind
from eventlog.projections.catalog import ALL
from eventlog.projections.current.conversations import Conversations, Knowledge, Places
from eventlog.projections.current.fact_scopes import FactScope, fact_scope
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import RowAddress, RowMaintainer
from eventlog.projections.engine.day_states import EVERYTHING, Concerns, DayLog, DayStates, Keep, Progress
from eventlog.projections.engine.documents import DocumentIndex, Files
from eventlog.projections.engine.jobs import Executor, Prerendered, fold_day, is_long, make_rows, row_jobs, rows_by
from eventlog.projections.engine.row_store import MemoryRows, RowsDamaged, RowStore
from eventlog.projections.engine.whole_states import WholeStateProjections
from eventlog.projections.views.memory import note_units
from eventlog.settings.schema import Settings

_Read = TypeVar("_Read")


class ReplayResult:
    """The documents of a replay, each rendered when it is asked for.

    `save` commits the cache; `again` replays without rows that are damaged.
    """

    def __init__(
        self,
        days: DayStates,
        index: DocumentIndex,
        whole_states: WholeStateProjections,
        projections: Sequence[Projection],
    ) -> None:
        self.index = index
        self.days = len(days.days)
        self.days_folded = len(days.folded)
        self.events = days.events
        self.damage = days.damage
        self.changed_conversations = days.changed.keys()
        self._days = days
        self._whole = whole_states
        self._projections = projections
        self._without_view = {projection.name: projection for projection in projections if not projection.view}
        self._views = {projection.name: projection.view for projection in projections if projection.view}
        self._rendered: dict[RowAddress, list[Document]] = {}
        self._prerendered: Prerendered | None = None
        self.save: Callable[[], None] = lambda: None
        self.again: Callable[[RowsDamaged], ReplayResult] | None = None

    def days_until(self, until: str) -> DayStates:
        """Return the days, turned to a later time."""
        self._days.go_on(until)
        return self._days

    @property
    def broken(self) -> dict[str, str]:
        """Return the projections of other packages that failed, and why."""
        return self._whole.broken

    @property
    def places(self) -> Places:
        """Return where the projects of the log lie."""
        return self._days.places

    @property
    def identities(self) -> Identities:
        """Return which projects the paths of the log mean."""
        return self.unless_damaged(lambda: self._days.identities)

    @property
    def conversations(self) -> Conversations:
        """Return all conversations, with the names of their projects."""
        return self.unless_damaged(lambda: self._whole.state(Conversations))

    def fact_scope(self, name: str) -> FactScope:
        """Collect what is stated about a project, or "" the user."""
        return self.unless_damaged(lambda: fact_scope(self.index, name))

    def conversations_since(self, day: str) -> Conversations:
        """Merge the conversations from a day on, as events name their projects, and all withdrawals."""
        return self.unless_damaged(lambda: self._days.conversations(day))

    @property
    def knowledge(self) -> Knowledge:
        """Return the plan entries for knowledge bases and their outcomes."""
        return self.unless_damaged(lambda: self._whole.state(Knowledge))

    @cached_property
    def documents(self) -> list[Document]:
        """Render everything, ordered by path."""
        found = [document for unit in self.units() for document in self.rendered(unit)]
        return sorted(found, key=lambda document: document.path)

    @property
    def paths(self) -> set[str]:
        """Return the paths of all documents; only outdated units are rendered for it."""
        return {path for unit in self.units() for path in self._paths_in(unit)}

    def _paths_in(self, unit: RowAddress) -> Iterable[str]:
        files = self.index.current_files.get(unit)
        return [document.path for document in self.rendered(unit)] if files is None else files

    def outdated(self) -> Iterator[RowAddress]:
        """Yield the outdated units in the order of `units`, each if it still is when its turn comes."""
        for projection in self._without_view:
            yield projection, ""
        files = self.index.current_files
        units = [unit for unit, found in files.items() if unit[0] in self._views and (found is None or not unit[1])]
        yield from (unit for unit in sorted(units, key=_turn) if files[unit] is None)

    def units(self) -> Iterator[RowAddress]:
        """Yield the units, those of a name together; the index of everything is last, as it is made of all others."""
        for projection in self._without_view:
            yield projection, ""
        yield from sorted((unit for unit in self.index.current_files if unit[0] in self._views), key=_turn)

    def rendered(self, unit: RowAddress) -> list[Document]:
        """Render (and fully evaluate) a unit; memoised."""
        if unit not in self._rendered:
            for other in self._below(unit):
                self.rendered(other)
            self._rendered[unit] = self.unless_damaged(partial(self._read, unit))
        return self._rendered[unit]

    def _below(self, unit: RowAddress) -> list[RowAddress]:
        """List the outdated units that a unit is made of."""
        name, of = unit
        is_made = name in self._without_view or of or not self._views[name].of_all
        names = () if is_made else filter(None, self.index.names(name))
        return [(name, other) for other in names if self.index.current_files[name, other] is None]

    def document_of(self, file: PurePath) -> Document | None:
        """Render what a file is a copy of, wherever it lies: the document of the longest path the file's ends with."""
        return next(filter(None, map(self.document, self._paths_of(file))), None)

    def line_sources(self, file: PurePath, data: bytes) -> dict[int, Line]:
        """Return the lines with stored sources, by number, where a file of these bytes is current."""
        path = next(self._paths_of(file), None)
        return self.unless_damaged(lambda: self.index.lines_with_sources(path, data)) if path else {}

    def _paths_of(self, file: PurePath) -> Iterator[str]:
        """Yield the possible paths of the document that a file is a copy of, the longest first."""
        paths = ("/".join(file.parts[-depth:]) for depth in range(len(file.parts), 0, -1))
        return (path for path in paths if self._owners(path))

    def _owners(self, path: str) -> set[str]:
        return {projection.name for projection in self._projections if projection.owns_path(path)}

    def rows(self, kind: RowKind) -> list[Any]:
        """List the rows of that kind that belong to the whole log."""
        return self.unless_damaged(lambda: self.index.rows(kind, ""))

    def totals(self, kind: RowKind) -> list[Any]:
        """List the totals of those rows, day by day."""
        return self.unless_damaged(lambda: self.index.totals(kind, ""))

    def newest_rows(self, kind: RowKind, is_asked: Callable[[str], bool] = lambda _day: True) -> Iterator[Any]:
        """Yield those rows of the days that are asked for, the newest first, reading no more than is needed."""
        for day in filter(is_asked, reversed(self.unless_damaged(lambda: self.index.blocks(kind, "")))):
            yield from sorted(self.rows_of_day(kind, day), key=lambda row: (row.started_at, row.id), reverse=True)

    def rows_of_day(self, kind: RowKind, day: str) -> list[Any]:
        """List those rows of the conversations that began on a day."""
        return self.unless_damaged(lambda: self.index.block(kind, "", day))

    def render_ahead(self, units: Sequence[RowAddress], executor: Executor) -> list[RowAddress]:
        """Start to render in other processes, where all units of a long log are outdated.

        Return the units in the order to ask for them: those of this process, those of others, the index of everything.
        """

        def begin() -> None:
            if all(files is None for files in self.index.current_files.values()) and is_long(self._days.days):
                self._prerendered = Prerendered(self.index, units, executor)

        self.unless_damaged(begin)
        return sorted(units, key=self._turn_of)

    def _turn_of(self, unit: RowAddress) -> int:
        view = self._views.get(unit[0])
        if view and view.of_all and not unit[1]:
            return 2
        return int(self._prerendered is not None and unit in self._prerendered)

    def render(self, unit: RowAddress) -> list[Document]:
        """Render a unit; where the cache is damaged, from the log."""
        return self.unless_damaged(partial(self._render, unit))

    def publish(self, unit: RowAddress, files: Files) -> None:
        """Record that these files are current for a unit."""
        try:
            self.index.publish(unit, files)
        except RowsDamaged as error:
            self._replay_without_cache(error)

    def unless_damaged(self, read: Callable[[], _Read]) -> _Read:
        """Return `read()`; where the cache is damaged, replay without it and read that.

        `read` must look everything up on `self` when it is called: the second time all of it has been replaced.
        """
        try:
            return read()
        except RowsDamaged as error:
            self._replay_without_cache(error)
            return read()

    def _replay_without_cache(self, error: RowsDamaged) -> None:
        """Replace this result by a replay without the cache."""
        if self.again is None:
            raise error
        self.__dict__ = self.again(error).__dict__

    def document(self, path: str) -> Document | None:
        """Render the document of this path, or None; units that are likely to have it first."""
        owners = self._owners(path)
        units = [unit for unit in self.units() if unit[0] in owners]
        units.sort(key=lambda unit: not (unit[1] in path or path.startswith(self.identities.document(unit[1], ""))))
        files = self.index.current_files
        current = [unit for unit in units if path in (files.get(unit) or ())]
        outdated = (unit for unit in units if files.get(unit) is None)
        found = (document for unit in current or outdated for document in self.rendered(unit))
        return next((document for document in found if document.path == path), None)

    def _read(self, unit: RowAddress) -> list[Document]:
        """Render a unit with all its lines: long documents read the cache when these are asked for."""
        documents = self._render(unit)
        for document in documents:
            document.lines  # noqa: B018 - the document memoises them
        return documents

    def _render(self, unit: RowAddress) -> list[Document]:
        name, _ = unit
        if self._prerendered and (found := self._prerendered.take(unit)) is not None:
            return found
        with no_garbage():
            if name in self._without_view:
                return self._whole.documents(self._without_view[name])
            return self.index.render(unit)


def replay(
    log: DayLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    until: str = EVERYTHING,
    keep: Keep | None = None,
    concerns: Concerns = bool,
    cache: RowStore | None = None,
    surroundings: str = "",
    progress: Progress = lambda _done, _all: None,
    executor: Executor | None = None,
    before: ReplayResult | None = None,
) -> ReplayResult:
    """Replay the events with `ts <= until` that `keep` accepts, as all of days it does not concern; update the cache.

    The same events give the same documents, whatever files they are in and whatever the cache holds. `surroundings`
    names what else has a say: the data of time zones. A projection of another package that fails is in `broken`. The
    executor helps where a long log has no stored day. A replay `before`, of the same log and cache up to an earlier
    time, is gone on with: it can be asked no more. Raises RowsDamaged.
    """
    cache = MemoryRows() if cache is None else cache
    with no_garbage():
        days = before.days_until(until) if before else DayStates(log, cache, until, keep, concerns)
        is_full = keep is None and until == EVERYTHING and not days.rows
        known = before.index.current_files if before else None
        index = _catch_up(days, cache, settings, surroundings, progress, executor if is_full else None, known)
        return ReplayResult(days, index, WholeStateProjections(cache, days, settings), projections)


def _catch_up(
    days: DayStates,
    cache: RowStore,
    settings: Settings,
    surroundings: str,
    progress: Progress,
    executor: Executor | None,
    known: dict[RowAddress, Files | None] | None,
) -> DocumentIndex:
    """Update days, rows and the list of outdated documents."""
    if _differs(cache, "rows", f"{settings.timezone} {surroundings}".encode()):
        days.mark_all_changed()
    before = days.identities.notes(days.notes)
    rows = RowMaintainer(cache)
    if executor and is_long(days.days):
        days.catch_up(progress, executor.map(fold_day, days.days))
        for done in executor.map(make_rows, row_jobs(days, settings)):
            rows.adopt(done)
    else:
        days.catch_up(progress)
        rows.catch_up(days.changed, days.dates.first, days.conversation, rows_by(days.identities, settings))
    index = DocumentIndex(cache, days.conversation, days.identities, days.notes, settings, known)
    index.outdate(rows.outdated)
    index.invalidate(note_units(before, index.notes, index.names("memory"), days.identities))
    if _differs(cache, "projects", msgspec.json.encode(days.identities.listed())):
        index.invalidate([("projects", "")])
    if _differs(cache, "homes", msgspec.json.encode(days.identities.homes)):
        index.invalidate(list(index.current_files))
    if _differs(cache, "settings", msgspec.json.encode(settings)):
        index.invalidate(list(index.current_files))
    days.dates.flush()
    return index


def _turn(unit: RowAddress) -> tuple[bool, str, str]:
    """Sort units by name, the index of everything last."""
    view, name = unit
    return not name, name, view


def _differs(cache: RowStore, name: str, now: bytes) -> bool:
    """Return whether what the cache was made with has changed, and note what it is now."""
    if cache.read("made of", "", name) == now:
        return False
    cache.write("made of", "", name, now)
    return True


@contextmanager
def no_garbage() -> Iterator[None]:
    """Turn garbage collection off, which takes half of the time: states and documents only grow, and hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Replays = Callable[[str], ReplayResult]  # of a log as of different times, each made once; up to now as of `EVERYTHING`
