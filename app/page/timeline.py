"""The lines of every knowledge file, day by day: a replay that grows by a day renders what that day changed.

Line      what it states, and which of equal ones it is: it stays the same line while others come and go, while it
          changes its place, and while its date or count does.
Change    hunks of a day: where, how many lines go, which lines come. Apply them from the last to the first.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from eventlog.app.open_store import OpenStore
from eventlog.app.progress import READING, track
from eventlog.log.days import ListedDays
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Document, Line, Projection, Sources
from eventlog.projections.engine.day_fold import stamps_of
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.replay import ReplayResult, replay
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.markdown import undated
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.summaries import SUMMARIES, summary_path

Hunk = tuple[int, int, list[int]]  # where, how many lines go, the numbers of those that come
_Numbers = tuple[Callable[[str], int], Callable[[str], int]]  # of an event and of a session, by their ids
_BULLET, _STAMP = "- ", "<!-- eventlog "
_OF_PROJECTS = (MEMORY.name, KEYWORD_INDEX.name)  # each of a unit's files is in the directory of its project
_NO_STAMP = (0, 0, 0, 0)
_NO_SOURCES: Sources = ((), ())


class TimelineLine(Struct, omit_defaults=True):
    """A line of a file: its texts by day, and by day which events came to stand behind it and which went.

    `sessions` are those all of which stands behind it. Events and sessions are numbers.
    """

    texts: list[tuple[int, str]]
    behind: list[tuple[int, list[int], list[int]]] = []
    sessions: list[int] = []

    def text_at(self, day: int) -> str:
        """Return the text of the line on a day."""
        return next(text for since, text in reversed(self.texts) if since <= day)

    def events_at(self, day: int) -> list[int]:
        """List the events behind the line on a day."""
        found: set[int] = set()
        for _, came, went in (change for change in self.behind if change[0] <= day):
            found = (found - set(went)) | set(came)
        return sorted(found)


class FileTimeline(Struct):
    """A file: all lines it ever had, and how they changed; days are numbers."""

    path: str
    lines: list[TimelineLine]
    changes: list[tuple[int, list[Hunk]]]

    def at(self, day: int) -> list[TimelineLine]:
        """List the lines of the file on a day; none where there was no file."""
        shown: list[int] = []
        for _, hunks in (change for change in self.changes if change[0] <= day):
            for at, removed, come in reversed(hunks):
                shown[at : at + removed] = come
        return [self.lines[number] for number in shown]


class _RecordedLine(NamedTuple):
    """A line as `TimelineLine` has it, with ids in the place of numbers."""

    key: tuple[str, int]
    texts: list[tuple[int, str]]
    behind: list[tuple[int, list[str], list[str]]]
    sessions: list[str]

    def numbered(self, number_of: _Numbers) -> TimelineLine:
        """Give it numbers."""
        event, session = number_of
        found = [
            (day, sorted(_numbered(event, came)), sorted(_numbered(event, went))) for day, came, went in self.behind
        ]
        changes = [change for change in found if change[1] or change[2]]
        return TimelineLine(self.texts, changes, _numbered(session, self.sessions))


class _Recorder:
    """The timeline of a file while it grows."""

    def __init__(self) -> None:
        self._lines: list[_RecordedLine] = []
        self._changes: list[tuple[int, list[Hunk]]] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._shown: list[int] = []
        self._sources: dict[int, Sources] = {}
        self._data = b""

    def timeline(self, path: str, number_of: _Numbers) -> FileTimeline:
        """Give its events and sessions numbers."""
        return FileTimeline(path, [line.numbered(number_of) for line in self._lines], self._changes)

    def record(self, day: int, lines: Iterable[Line]) -> list[str]:
        """Record the lines of a day; return the events that came to stand behind any."""
        arrived: list[str] = []
        seen: dict[str, int] = {}
        shown: list[int] = []
        before = iter(self._shown)  # as long as the file begins as it did
        for line in lines:
            number = next(before, -1)
            if number >= 0 and line.text == self._lines[number].texts[-1][1]:
                statement, seen[statement] = self._lines[number].key
            else:
                before = iter(())
                statement = _statement(line.text)
                seen[statement] = seen.get(statement, 0) + 1
                number = self._number(day, line.text, (statement, seen[statement]))
            sources = line.behind() if _is_statement(line) else _NO_SOURCES
            if sources != self._sources.get(number, _NO_SOURCES):
                arrived += self._record_sources(day, number, sources)
            shown.append(number)
        if shown != self._shown:
            self._changes.append((day, list(_hunks(self._shown, shown))))
            self._shown = shown
        return arrived

    @property
    def is_shown(self) -> bool:
        """Return whether the file was there on the last recorded day."""
        return bool(self._data)

    def has(self, document: Document) -> bool:
        """Return whether a document is recorded as it is: its stamp changes with every event behind it."""
        is_same = document.data == self._data and document.data.rpartition(b"\n<")[2].startswith(_STAMP[1:].encode())
        self._data = document.data
        return is_same

    def remove(self, day: int) -> None:
        """Record that there is no such file from a day on."""
        self._data = b""
        self.record(day, ())

    def _number(self, day: int, text: str, key: tuple[str, int]) -> int:
        number = self._numbers.setdefault(key, len(self._lines))
        if number == len(self._lines):
            self._lines.append(_RecordedLine(key, [(day, text)], [], []))
        texts = self._lines[number].texts
        if texts[-1][1] != text:
            texts.append((day, text))
        return number

    def _record_sources(self, day: int, number: int, sources: Sources) -> list[str]:
        """Record which events came to stand behind a line, and which went; its sessions once. Return the former."""
        before, now = dict.fromkeys(self._sources.get(number, _NO_SOURCES)[0]), dict.fromkeys(sources[0])
        came = [event for event in now if event not in before]
        self._lines[number].behind.append((day, came, [event for event in before if event not in now]))
        if number not in self._sources:
            self._lines[number].sessions.extend(sources[1])
        self._sources[number] = sources
        return came


def _numbered(number_of: Callable[[str], int], names: Iterable[str]) -> list[int]:
    """Number events or sessions, without those that are not to be named."""
    return [number for number in map(number_of, names) if number >= 0]


def _statement(text: str) -> str:
    """Return the part of a line that repetitions share: a bullet without its date, the beginning of a stamp."""
    if text.startswith(_BULLET):
        return _BULLET + undated(text[len(_BULLET) :])[1]
    return _STAMP if text.startswith(_STAMP) else text


def _is_statement(line: Line) -> bool:
    """Return whether events stand behind a line: a heading or a stamp stands for all others."""
    return line.text.startswith(_BULLET) or bool(line.known and line.text.strip() and line.text[0] not in "#<")


def _hunks(before: list[int], after: list[int]) -> Iterable[Hunk]:
    """Compare two lists from where they begin to differ."""
    same = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(before), len(after)) if same is None else same
    for tag, at, end, start, stop in SequenceMatcher(a=before[same:], b=after[same:], autojunk=False).get_opcodes():
        if tag != "equal":
            yield same + at, end - at, after[same + start : same + stop]


class _ListedLog(ListedDays):
    """A log whose days are listed once."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(log.days())
        self._log = log

    def holding(self, date: str, event_ids: Collection[str], until: str = EVERYTHING) -> set[str]:
        """Find those of the ids that an event of that day with `ts <= until` has."""
        return self._log.holding(date, event_ids, until)


class Timelines:
    """The files through the days of a log; the next time, only days are replayed that were not over.

    The first day is a replay of the log cut at its end, with an empty cache, and each day goes on from the one before:
    the result depends on the log and the settings alone, and on none of what came later.
    """

    def __init__(self) -> None:
        self._known: list[str] = []  # the ends of the days that were over
        self._made_of: object = None
        self._rows, self._files = MemoryRows(), _Files()

    def of(
        self,
        opened: OpenStore,
        ends: Sequence[str],
        projections: Sequence[Projection],
        number_of: _Numbers,
        is_asked: Callable[[str], bool],
        shows: Callable[[Line], bool],
    ) -> list[FileTimeline]:
        """Follow the files through the ends of days.

        `number_of` numbers an event and a session, -1 where it is not to be named; `is_asked` decides about the path of
        a file, or of its directory, and `shows` about its line: both as the time before.
        """
        log = _ListedLog(opened.log)
        newest = max((day.date for day in log.days()), default="")
        over = [end for end in ends if end[:10] < newest]  # no event of theirs is in a file that still grows
        if self._known != over[: len(self._known)] or self._made_of != _surroundings(opened, log, self._known):
            self._known, self._rows, self._files = [], MemoryRows(), _Files()
        known, made_of = len(self._known), _surroundings(opened, log, over)
        self._known = [EVERYTHING]  # where this fails, all is begun again
        rows, files, done = self._rows, self._files, None
        for day, until in track([*enumerate(ends)][known:], READING):
            if day == len(over):
                rows, files, done = MemoryRows(below=rows), _Files(files), None
            if day in (0, len(ends) - 1) or log.days(ends[day - 1], until):
                done = replay(log, opened.settings, projections=projections, until=until, cache=rows, before=done)
                files.record(day, done, is_asked, shows)
        self._known, self._made_of = over, made_of
        for event in files.met:
            number_of[0](event)
        found = (recorder.timeline(path, number_of) for path, recorder in sorted(files.recorders.items()))
        return [timeline for timeline in found if timeline.changes]


def _surroundings(opened: OpenStore, log: _ListedLog, over: Sequence[str]) -> object:
    """Return all that the files of days that are over are made of."""
    return opened.settings, [*map(stamps_of, log.days(until=over[-1]))] if over else []


class _Files:
    """The files that are followed, beyond those of days `before`, which stay as they are."""

    def __init__(self, before: "_Files | None" = None) -> None:
        self.paths: dict[tuple[str, str], set[str]] = before.paths.copy() if before else {}  # as last rendered
        self.met: dict[str, None] = before.met.copy() if before else {}  # events, as they came to stand behind lines
        self._before = before.recorders if before else {}
        self._grown: dict[str, _Recorder] = {}

    @property
    def recorders(self) -> dict[str, _Recorder]:
        """The timelines by path."""
        return self._before | self._grown

    def _recorder(self, path: str) -> _Recorder:
        if path not in self._grown:
            self._grown[path] = deepcopy(self._before[path]) if path in self._before else _Recorder()
        return self._grown[path]

    def record(
        self, day: int, done: ReplayResult, is_asked: Callable[[str], bool], shows: Callable[[Line], bool]
    ) -> None:
        """Record the documents of outdated units, and those that are gone."""
        fresh = {summary_path(conversation) for conversation in done.changed_conversations}
        removed: set[str] = set()
        drawn: set[str] = set()
        for unit in done.outdated():
            documents = _rendered(done, unit, is_asked)
            for document in documents:
                recorder = self._recorder(document.path)
                is_same = unit[0] == SUMMARIES.name and recorder.is_shown and document.path not in fresh
                if not (is_same or recorder.has(document)):
                    self.met |= dict.fromkeys(recorder.record(day, filter(shows, document.lines)))
            now = {document.path for document in documents}
            removed |= self.paths.get(unit, set()) - now
            drawn |= now
            self.paths[unit] = now
            if unit in done.index.current_files:
                done.publish(unit, dict.fromkeys(now, _NO_STAMP))
        for path in removed - drawn:
            self._recorder(path).remove(day)


def _rendered(done: ReplayResult, unit: tuple[str, str], is_asked: Callable[[str], bool]) -> list[Document]:
    """Render the files of a unit that are asked for; nothing of a project that is not."""
    view, name = unit
    is_other = view in _OF_PROJECTS and not is_asked(done.identities.document(name, ""))
    rendered = [] if is_other else done.render(unit)
    return [document for document in rendered if is_asked(document.path)]
