"""The engine: the log -> folded days -> rows of conversations -> documents. Reads the log; writes to its shelf only.

Day         folded anew where its files differ; the conversations that come out otherwise are the change.
Row         what a conversation adds to a document; those of the changed conversations are taken out and put in anew.
Document    outdated where any of its rows differs; rendered when it is asked for.

A full replay is the same with an empty shelf: everything has changed. What another package's projection keeps is its
own state, folded and merged whole (`others.py`).
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

from eventlog.projections import ALL
from eventlog.projections.base import Document, Line, Projection, RowKind
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.projections.current.places import Places
from eventlog.projections.engine.conversation_rows import ConversationSource, RowAddress, RowMaintainer, outdated_units
from eventlog.projections.engine.day_states import EVERYTHING, DayLog, DayStates, Keep, Progress
from eventlog.projections.engine.documents import DocumentIndex, Files, newest_notes, stored_sources
from eventlog.projections.engine.jobs import (
    KINDS,
    VIEWS,
    Executor,
    Prerendered,
    fold_day,
    is_long,
    make_rows,
    row_jobs,
    rows_by,
)
from eventlog.projections.engine.row_store import MemoryRows, RowsDamaged, RowStore
from eventlog.projections.engine.whole_states import WholeStateProjections
from eventlog.projections.views.memory import note_units
from eventlog.settings.schema import Settings

_Read = TypeVar("_Read")


class ReplayResult:
    """The documents of a replay, each rendered when it is asked for, and how it came to them."""

    def __init__(
        self, book: DayStates, library: DocumentIndex, others: WholeStateProjections, projections: Sequence[Projection]
    ) -> None:
        self.library = library
        self.days = len(book.there)
        self.days_folded = len(book.folded)
        self.events = book.events
        self.damage = book.damage
        self._book = book
        self._others = others
        self._projections = projections
        self._whole = {one.name: one for one in projections if not one.view}
        self._views = {one.name: one.view for one in projections if one.view}
        self._made: dict[RowAddress, list[Document]] = {}
        self._ahead: Prerendered | None = None
        self.save: Callable[[], None] = lambda: None  # keeps what was told of files
        self.again: Callable[[RowsDamaged], ReplayResult] | None = None  # without what turned out to be damaged

    @property
    def broken(self) -> dict[str, str]:
        """Return the projections of other packages that say nothing, and why."""
        return self._others.broken

    @property
    def places(self) -> Places:
        """Return where the projects of the log lie."""
        return self._book.places

    @property
    def identities(self) -> Identities:
        """Return which projects the paths of the log mean."""
        return self.unless_damaged(lambda: self._book.identities)

    @cached_property
    def conversations(self) -> Conversations:
        """Merge what all conversations said; what is withdrawn may lack its words."""
        return self.unless_damaged(lambda: DayStates.conversations(self._book))

    def said_since(self, day: str) -> Conversations:
        """Merge what conversations said from a day on, and all withdrawals there are."""
        return self.unless_damaged(lambda: self._book.conversations(day))

    @cached_property
    def knowledge(self) -> Knowledge:
        """Merge what was planned for knowledge bases and became of it."""
        return self.unless_damaged(lambda: DayStates.knowledge(self._book))

    @cached_property
    def documents(self) -> list[Document]:
        """Render everything, ordered by path."""
        found = [document for unit in self.units() for document in self.made(unit)]
        return sorted(found, key=lambda document: document.path)

    @property
    def paths(self) -> set[str]:
        """Name the documents; only units that are outdated are rendered for it."""
        return {path for unit in self.units() for path in self._paths_in(unit)}

    def _paths_in(self, unit: RowAddress) -> Iterable[str]:
        files = self.library.published.get(unit)
        return [document.path for document in self.made(unit)] if files is None else files

    def units(self) -> Iterator[RowAddress]:
        """Yield the units of documents, those of one name together; the index of everything is made of all others."""
        for one in self._whole:
            yield one, ""
        units = [(name, view) for view in self._views for name in self.library.names(view)]
        yield from ((view, name) for name, view in sorted(units, key=lambda unit: (not unit[0], unit)))

    def made(self, unit: RowAddress) -> list[Document]:
        """Render a unit, and read it to its end, once."""
        if unit not in self._made:
            for other in self._below(unit):
                self.made(other)
            self._made[unit] = self.unless_damaged(partial(self._read, unit))
        return self._made[unit]

    def _below(self, unit: RowAddress) -> list[RowAddress]:
        """List the outdated units that this one is made of."""
        name, of = unit
        is_made = name in self._whole or of or not self._views[name].of_all
        names = () if is_made else filter(None, self.library.names(name))
        return [(name, other) for other in names if self.library.published[name, other] is None]

    def document_of(self, file: PurePath) -> Document | None:
        """Render what a file is a copy of, wherever it lies: the document of the longest path the file's ends with."""
        return next(filter(None, map(self.document, self._paths_of(file))), None)

    def line_sources(self, file: PurePath, data: bytes) -> dict[int, Line]:
        """Return the lines, by number, whose sources are kept, where a file of these bytes is current."""
        path = next(self._paths_of(file), None)
        return self.unless_damaged(lambda: stored_sources(path, data, self.library)) if path else {}

    def _paths_of(self, file: PurePath) -> Iterator[str]:
        """Yield what may be the path of the document that a file is a copy of, the longest first."""
        paths = ("/".join(file.parts[-depth:]) for depth in range(len(file.parts), 0, -1))
        return (path for path in paths if self._owners(path))

    def _owners(self, path: str) -> set[str]:
        return {one.name for one in self._projections if one.owns_path(path)}

    def rows(self, kind: RowKind) -> list[Any]:
        """List the rows of that kind which belong to the whole log."""
        return self.unless_damaged(lambda: self.library.rows(kind, ""))

    def totals(self, kind: RowKind) -> list[Any]:
        """List what those come to, day by day on which conversations began."""
        return self.unless_damaged(lambda: self.library.totals(kind, ""))

    def newest_rows(self, kind: RowKind) -> Iterator[Any]:
        """Yield them in the order of their places, the last first, reading no more than is asked for."""
        for day in reversed(self.unless_damaged(lambda: self.library.blocks(kind, ""))):
            rows = self.unless_damaged(partial(self._block, kind, day))
            yield from sorted(rows, key=lambda row: row.place, reverse=True)

    def _block(self, kind: RowKind, day: str) -> list[Any]:
        return self.library.block(kind, "", day)

    def render_ahead(self, units: Sequence[RowAddress], spread: Executor) -> list[RowAddress]:
        """Let others render units from now on, where all are outdated and that is worth it.

        Return them in the order to ask for them: first what nobody else renders, last what is made of all others.
        """

        def begin() -> None:
            if all(files is None for files in self.library.published.values()) and is_long(self._book.there):
                self._ahead = Prerendered(self.library, units, spread)

        self.unless_damaged(begin)
        return sorted(units, key=self._turn_of)

    def _turn_of(self, unit: RowAddress) -> int:
        view = self._views.get(unit[0])
        return 2 if view and view.of_all and not unit[1] else int(self._ahead is not None and unit in self._ahead)

    def render(self, unit: RowAddress) -> list[Document]:
        """Render a unit; where the shelf turns out to be damaged, of the log itself."""
        return self.unless_damaged(partial(self._render, unit))

    def publish(self, unit: RowAddress, files: Files) -> None:
        """Note that these files are what the unit says; where that cannot be kept, the log itself is asked anew."""
        try:
            self.library.publish(unit, files)
        except RowsDamaged as error:
            self._take_anew(error)

    def unless_damaged(self, read: Callable[[], _Read]) -> _Read:
        """Read the shelf; where that turns out to be damaged, become the replay of the log itself, and read that.

        `read` finds everything by `self` when it is called: it is another book's the second time.
        """
        try:
            return read()
        except RowsDamaged as error:
            self._take_anew(error)
            return read()

    def _take_anew(self, error: RowsDamaged) -> None:
        """Become the replay of the log itself, without the shelf."""
        if self.again is None:
            raise error
        self.__dict__ = self.again(error).__dict__

    def document(self, path: str) -> Document | None:
        """Render the document of this path; None where there is none."""
        owners = self._owners(path)
        units = [unit for unit in self.units() if unit[0] in owners]
        files = self.library.published
        current = [unit for unit in units if path in (files.get(unit) or ())]
        outdated = (unit for unit in units if files.get(unit) is None)
        found = (document for unit in current or outdated for document in self.made(unit))
        return next((document for document in found if document.path == path), None)

    def _read(self, unit: RowAddress) -> list[Document]:
        """Render a unit with all its lines: long documents read the shelf only when these are asked for."""
        documents = self._render(unit)
        for document in documents:
            document.lines  # noqa: B018 - kept by the document
        return documents

    def _render(self, unit: RowAddress) -> list[Document]:
        name, _ = unit
        if self._ahead and (found := self._ahead.take(unit)) is not None:
            return found
        with _no_garbage():
            return self._others.documents(self._whole[name]) if name in self._whole else self.library.render(unit)


def replay(
    log: DayLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    until: str = EVERYTHING,
    keep: Keep | None = None,
    shelf: RowStore | None = None,
    surroundings: str = "",
    progress: Progress = lambda _done, _all: None,
    spread: Executor | None = None,
) -> ReplayResult:
    """Bring the shelf to what the events with `ts <= until` say that `keep` accepts.

    The same events give the same documents, whatever files they are in and whatever is on the shelf; `surroundings`
    names what else has a say (data of time zones). A projection of another package that fails is told of as `broken`.
    With `spread` others help with a long log nothing of which is on the shelf. Raises ShelfDamaged.
    """
    shelf = MemoryRows() if shelf is None else shelf
    with _no_garbage():
        book = DayStates(log, shelf, until, keep)
        helpers = spread if spread and keep is None and until == EVERYTHING and _is_long(book) else None
        library = _catch_up(book, shelf, settings, surroundings, progress, helpers)
        return ReplayResult(book, library, WholeStateProjections(shelf, book, settings), projections)


def _is_long(book: DayStates) -> bool:
    return not book.rows and is_long(book.there)


def _catch_up(
    book: DayStates, shelf: RowStore, settings: Settings, surroundings: str, progress: Progress, spread: Executor | None
) -> DocumentIndex:
    """Bring days, rows and the list of outdated documents to what the log says."""
    if _differs(shelf, "rows", f"{settings.timezone} {surroundings}".encode()):
        book.touch_everything()
    before = newest_notes(book)
    book.catch_up(progress, spread(fold_day, book.there) if spread else None)
    rows = RowMaintainer(shelf, KINDS)
    if spread:
        for blocks in spread(make_rows, row_jobs(book, settings)):
            for made in blocks:
                rows.take(made)
    else:
        rows.catch_up(book, rows_by(book, settings))
    library = _library(book, rows, shelf, settings)
    library.outdate(note_units(before, library.notes, library.names("memory")))
    if _differs(shelf, "projects", msgspec.json.encode(book.identities.told())):
        library.outdate([("projects", "")])
    if _differs(shelf, "settings", msgspec.json.encode(settings)):
        library.outdate(list(library.published))
    book.close()
    return library


def _library(book: ConversationSource, rows: RowMaintainer, shelf: RowStore, settings: Settings) -> DocumentIndex:
    library = DocumentIndex(shelf, book, VIEWS, settings)
    for place, blocks in rows.outdated.items():
        library.layouts.note(place, blocks)
    library.outdate(outdated_units(rows.outdated, VIEWS))
    return library


def _differs(shelf: RowStore, what: str, now: bytes) -> bool:
    """Tell whether something is other than when the shelf was filled, and note what it is."""
    if shelf.read("made of", "", what) == now:
        return False
    shelf.write("made of", "", what, now)
    return True


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


class Renderings:
    """The replays of one log as of different times; `replay` makes one of the events with `ts` up to its argument."""

    def __init__(self, replay: Callable[[str], ReplayResult]) -> None:
        self._replay = replay
        self._made: dict[str, ReplayResult] = {}

    def at(self, ts: str | None) -> ReplayResult:
        """Replay up to a time, once; None: up to now."""
        until = ts or EVERYTHING
        if until not in self._made:
            self._made[until] = self._replay(until)
        return self._made[until]

    def document(self, path: str, ts: str | None) -> Document | None:
        """Return the document of this path as of a time; None where there was none."""
        return self.at(ts).document(path)

    def document_of(self, file: PurePath, ts: str | None) -> Document | None:
        """Return the document a file is a copy of, wherever it lies: that of the longest path the file's ends with."""
        return self.at(ts).document_of(file)
