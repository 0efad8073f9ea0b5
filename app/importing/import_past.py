"""The import: the table of sources, and adding what the log lacks, day by day, in batches.

A batch is a locked write and a sync for each day it touches, and keeps few days open at a time. Killed between two
batches, an import has added some of its events; the next import adds the others.

What hooks recorded of a conversation is not imported again: neither its start, nor its end, unless the transcript
continues after it. What was drawn of it, by whomever, is drawn anew where that is better now. A conversation with a
deliberate save gets no automatic summary.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import BinaryIO, NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.importing.drawings import LoggedConversations
from eventlog.app.importing.other_programs import READERS
from eventlog.app.importing.source import BadPlace, Found, ImportRequest, PastEvents, Reader, SourceEvent
from eventlog.app.importing.transcripts import read_bullets, read_host, readable_hosts
from eventlog.app.progress import report
from eventlog.app.write.append import noted, numbered, object_of
from eventlog.app.write.project_events import append_project_events
from eventlog.format.codec import from_fields
from eventlog.format.errors import InvalidEvent, NotStored
from eventlog.format.events import Event
from eventlog.hosts import room_name
from eventlog.log.event_log import AppendResult, EventLog, accept
from eventlog.settings.cached import off_switch

_BATCH = 1000  # events
_ENOUGH, _MAX = 1 << 20, 8 << 20  # bytes of a batch that ends with a day, and of any
_Placed = tuple[str, Event]  # where it stands


class ImportResult(NamedTuple):
    """The number of new and of present events on each day, and the skipped conversations."""

    new: Mapping[str, int]
    known: Mapping[str, int]
    revised: int  # conversations of which something else is drawn now
    still_open: int
    switched_off: int  # in projects with memory switched off
    damage: list[BadPlace]

    @property
    def is_any(self) -> bool:
        """Return whether anything fitted the request."""
        return any(self[:-1])


def sources() -> Mapping[str, Reader]:
    """Map the names of all sources, as on the command line, to their readers."""
    hosts = {host: partial(read_host, host) for host in readable_hosts()}
    return {**hosts, "bullets": read_bullets, **READERS}


def import_past(log: EventLog, source: str, request: ImportRequest, *, dry_run: bool = False) -> ImportResult:
    """Add what the log lacks of a source, a host by any of its names; with `dry_run` only count.

    Raises BadRequest where there is nothing to read, or NotStored.
    """
    importing = _Import(log, request, dry_run=dry_run)
    done = importing.run(sources()[room_name(source)](request))
    if importing.projects and not dry_run:  # told now, or the folders of knowledge would have other names later
        append_project_events(log, replay(log, request.settings, projections=[]), sorted(importing.projects))
    return done


def import_exported(log: EventLog, lines: BinaryIO, place: str, *, dry_run: bool = False) -> ImportResult:
    """Add the lines of an export that the log lacks, decisions of people included; raises NotStored.

    Each has its id and its time, by which it is known again. What no log had is named, and left out.
    """
    new, known, damage = Counter[str](), Counter[str](), list[BadPlace]()
    store = _looked_up if dry_run else _put
    with report("storing events") as progress:
        for batch in _by_days(_exported(lines, place, damage)):
            before = new.total() + known.total()
            progress(before, 0)
            try:
                stored = store(log, batch, damage)
            except NotStored as error:
                what = f"{error.what}; {before:,} events before these are stored"
                raise type(error)(what if before else error.what, where=error.where, hint=error.hint) from error
            for event, is_new in stored:
                (new if is_new else known)[event.ts[:10]] += 1
    return ImportResult(new, known, 0, 0, 0, damage)


def _exported(lines: BinaryIO, place: str, damage: list[BadPlace]) -> Iterator[tuple[_Placed, int]]:
    """Yield the events of an export, with the lengths of their lines."""
    for number, line in numbered(lines):
        where = f"{place}:{number}"
        try:
            event = from_fields(object_of(line))
        except InvalidEvent as error:
            damage.append(BadPlace(where, str(error)))
            continue
        if event.id and event.ts:
            yield (where, event), len(line)
        else:
            damage.append(BadPlace(where, "has no id or no time, as what `eventlog export` wrote has"))


def _by_days(found: Iterable[tuple[_Placed, int]]) -> Iterator[list[_Placed]]:
    """Make batches, of whole days unless these are long: what a day has is read again for each of its batches."""
    batch: list[_Placed] = []
    size = 0
    for placed, length in found:
        is_day_over = bool(batch) and placed[1].ts[:10] != batch[-1][1].ts[:10]
        if size > (_ENOUGH if is_day_over else _MAX):
            yield batch
            batch, size = [], 0
        batch.append(placed)
        size += length
    yield batch


def _put(log: EventLog, placed: list[_Placed], damage: list[BadPlace]) -> list[AppendResult]:
    """Append a batch; where the log refuses an event, report that event and append the others."""
    try:
        return noted(log, log.put(event for _, event in placed))
    except InvalidEvent:
        return noted(log, log.put(_acceptable(placed, damage)))


def _looked_up(log: EventLog, placed: list[_Placed], damage: list[BadPlace]) -> list[AppendResult]:
    """Find out what `_put` would append."""
    by_day: dict[str, list[Event]] = defaultdict(list)
    for event in _acceptable(placed, damage):
        by_day[event.ts[:10]].append(event)
    found: list[AppendResult] = []
    for day, events in by_day.items():
        there = log.holding(day, {event.id for event in events})
        for event in events:
            found.append(AppendResult(event, event.id not in there))
            there.add(event.id)
    return found


def _acceptable(placed: list[_Placed], damage: list[BadPlace]) -> Iterator[Event]:
    for place, event in placed:
        try:
            yield accept(event)
        except InvalidEvent as error:
            damage.append(BadPlace(place, str(error)))


class _Pending(NamedTuple):
    source: SourceEvent
    event: Event
    place: str
    is_revision: bool


class _Import:
    """An import into a log."""

    def __init__(self, log: EventLog, request: ImportRequest, *, dry_run: bool) -> None:
        self._log, self._request, self._dry_run = log, request, dry_run
        self._logged = LoggedConversations.read(log)
        self._off = cache(partial(off_switch, request.machine.environ))  # of a project: nothing of it is added then
        self._pending: list[_Pending] = []
        self._new: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._revised: set[str] = set()
        self._open = self._switched_off = 0
        self.projects: set[str] = set()  # of the new events
        self._damage: list[BadPlace] = []

    def run(self, found: Iterable[Found]) -> ImportResult:
        """Add the events that match, and count them; raises NotStored."""
        for past in found:
            if isinstance(past, BadPlace):
                self._damage.append(past)
            elif past.events and self._request.wants(past.events):
                self._add(past)
            if len(self._pending) >= _BATCH:
                self._flush()
        self._flush()
        return ImportResult(self._new, self._known, len(self._revised), self._open, self._switched_off, self._damage)

    def _add(self, past: PastEvents) -> None:
        if past.is_open or self._off(past.events[0].fields.get("project")):
            self._open += past.is_open
            self._switched_off += not past.is_open
            return
        prompts = max(len(source.fields.get("prompts", ())) for source in past.events)
        for read in past.events:
            is_logged = self._logged.has(read)
            try:
                source = self._logged.revision(read, prompts) if is_logged else read
                if source is None:
                    self._known[read.fields["ts"][:10]] += 1
                    continue
                event = source.event
            except InvalidEvent as error:
                self._damage.append(BadPlace(past.place, str(error)))
                continue
            self._logged.take(event)
            self._pending.append(_Pending(source, event, past.place, is_logged))

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        undated = [item.source.key for item in pending if not item.source.is_dated]
        logged = set(self._log.stored(undated, self._log.days())) if undated else set()  # on whichever day
        self._known.update(item.event.ts[:10] for item in pending if item.source.key in logged)
        remaining = [item for item in pending if item.source.key not in logged]
        revisions = {item.event.id for item in remaining if item.is_revision}
        store = _looked_up if self._dry_run else _put
        for event, new in store(self._log, [(item.place, item.event) for item in remaining], self._damage):
            if new and event.project:
                self.projects.add(event.project)
            if new and event.id in revisions:
                self._revised.add(event.conversation_id)
            else:
                (self._new if new else self._known)[event.ts[:10]] += 1
