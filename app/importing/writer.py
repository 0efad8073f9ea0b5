"""The writer of an import: adds what the log lacks, day by day, in batches of which few are open at a time.

A batch is one locked write and one sync for each day it touches. Killed between two of them, an import has added
some of its events; the next one adds the others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from eventlog.app.importing.log_side import KnownConversations
from eventlog.app.importing.source import BadPlace, Found, PastEvents, SourceEvent, id_of
from eventlog.app.machine import Machine
from eventlog.app.write.record_once import off_switch
from eventlog.format.codec import from_fields
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import Event
from eventlog.log import batches
from eventlog.log.event_log import EventLog, accept

_BATCH = 1000  # events


class ImportFilter(NamedTuple):
    """Which of what is found is wanted."""

    since: str = ""
    project: str | None = None

    def wants(self, told: PastEvents) -> bool:
        """Tell whether it reaches into that time, in that project."""
        newest = max(str(event.fields["ts"]) for event in told.events)
        projects = {event.fields.get("project") for event in told.events}
        return newest >= self.since and (self.project is None or self.project in projects)


class ImportResult(NamedTuple):
    """How many events were new on each day, and known already; and what was left out."""

    new: Mapping[str, int]
    known: Mapping[str, int]
    still_open: int
    switched_off: int  # in projects where memory is
    damage: list[BadPlace]


class _Waiting(NamedTuple):
    source: SourceEvent
    event: Event
    place: str


class Writer:
    """One import into one log; with `dry_run` it only counts."""

    def __init__(self, log: EventLog, machine: Machine, *, dry_run: bool) -> None:
        self._log = log
        self._machine = machine
        self._dry_run = dry_run
        self._known_conversations = KnownConversations(log)
        self._off: dict[str | None, bool] = {}
        self._waiting: list[_Waiting] = []
        self._new: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._open = self._switched_off = 0
        self._damage: list[BadPlace] = []

    def write(self, found: Iterable[Found], wanted: ImportFilter) -> ImportResult:
        """Add all that is wanted of what is found, and count it; raises NotStored."""
        for one in found:
            if isinstance(one, BadPlace):
                self._damage.append(one)
            elif one.events and wanted.wants(one):
                self._take_in(one)
            if len(self._waiting) >= _BATCH:
                self._flush()
        self._flush()
        return ImportResult(self._new, self._known, self._open, self._switched_off, self._damage)

    def _take_in(self, told: PastEvents) -> None:
        if told.is_open or self._is_off(told.events[0].fields.get("project")):
            self._open += told.is_open
            self._switched_off += not told.is_open
            return
        for event in told.events:
            if self._known_conversations.has(event):
                self._known[event.fields["ts"][:10]] += 1
            else:
                self._wait(event, told.place)

    def _wait(self, source: SourceEvent, place: str) -> None:
        fields = {name: value for name, value in source.fields.items() if value is not None}
        try:
            event = from_fields({**fields, "id": id_of(str(source.fields["ts"]), source.key)})
        except InvalidEvent as error:
            self._damage.append(BadPlace(place, str(error)))
            return
        self._known_conversations.add(source)
        self._waiting.append(_Waiting(source, event, place))

    def _is_off(self, project: str | None) -> bool:
        """Tell whether memory is switched off in a project: nothing of it is written."""
        if project not in self._off:
            self._off[project] = bool(off_switch(self._machine, project))
        return self._off[project]

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        there = self._undated_there(waiting)
        self._known.update(one.event.ts[:10] for one in waiting if one.source.key in there)
        store = self._count if self._dry_run else self._put
        store([one for one in waiting if one.source.key not in there])

    def _undated_there(self, waiting: list[_Waiting]) -> set[str]:
        """Find what has no time of its own and is in the log already, on whichever day."""
        keys = [one.source.key for one in waiting if not one.source.is_dated]
        return set(batches.stored(self._log.days(), keys)) if keys else set()

    def _put(self, waiting: list[_Waiting]) -> None:
        """Append a batch; where the log refuses one of its events, that one is named and the others are appended."""
        try:
            stored = self._log.put(one.event for one in waiting)
        except InvalidEvent:
            stored = self._log.put(one.event for one in self._acceptable(waiting))
        for event, new in stored:
            (self._new if new else self._known)[event.ts[:10]] += 1

    def _acceptable(self, waiting: list[_Waiting]) -> Iterator[_Waiting]:
        for one in waiting:
            try:
                accept(one.event)
                yield one
            except InvalidEvent as error:
                self._damage.append(BadPlace(one.place, str(error)))

    def _count(self, waiting: list[_Waiting]) -> None:
        by_day = defaultdict(set)
        for one in self._acceptable(waiting):
            by_day[one.event.ts[:10]].add(one.event.id)
        for day, wanted in by_day.items():
            there = self._log.holding(day, wanted)
            self._known[day] += len(there)
            self._new[day] += len(wanted) - len(there)
