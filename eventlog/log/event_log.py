"""The log as a Python object: append, read, audit."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from eventlog.fast import encode
from eventlog.format import codec, ids, timestamps
from eventlog.format.codec import refuse_reserved
from eventlog.format.errors import BadRequest, InvalidEvent, NotStored
from eventlog.format.events import HUMAN, EntryApplied, Event, KnowledgeEdited, PlanEntry, ProjectSeen, Redacted
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.log.days import Day, DuplicateFilter, misdated
from eventlog.log.index import ConversationIndex
from eventlog.log.lines import LogLine
from eventlog.secrets import scrub_fields, without_erased
from eventlog.settings import cached
from eventlog.store import Store, index_lookup
from eventlog.store.dayfile import DayFile
from eventlog.store.files import not_stored, read, sync_file
from eventlog.store.replica import make_replica

_TAIL = re.compile(rb'"id":"[0-9a-f]{8}-[0-9a-f]{4}(-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"')
_FEW = 100  # ids: to look for so many one by one takes less than to decode every line
_NO_TEXT = frozenset(("v", "id", "ts", "after", "type"))
_Kind = TypeVar("_Kind", bound=Event)


class AppendResult(NamedTuple):
    """An event as it stands in the log, and whether this call put it there."""

    event: Event
    new: bool


class _Found(dict[str, LogLine]):
    """Events with their lines, by id."""

    def __missing__(self, event_id: str) -> LogLine:
        raise BadRequest("no line of the log that can be read has this event", where=event_id, hint="eventlog doctor")


class EventLog:
    """The append-only log of a store; safe to use from several threads and processes.

    `store` is a directory; nothing is created before the first append. `fsync=False` leaves syncing to the system:
    an event then survives the death of every process, but not a power cut; None goes by the setting `fsync`. `clock`
    gives nanoseconds since the epoch.
    """

    def __init__(
        self,
        store: Store | str | os.PathLike[str],
        *,
        fsync: bool | None = None,
        clock: Callable[[], int] = timestamps.system_clock,
    ) -> None:
        self.store = store if isinstance(store, Store) else Store(os.fspath(store))
        self.index = ConversationIndex(self.store.log, self.store.cached("conversations.index"))
        self._fsync = fsync
        self._clock = clock
        self.ahead = ""  # when the newest event counts, where the last append found that a minute or more ahead
        cached.use_own_secrets(self.store)
        self._idle: list[DayFile] = []  # open files that nobody writes at the moment

    def __repr__(self) -> str:
        return f"EventLog({self.store.root!r})"

    @property
    def fsync(self) -> bool:
        """Return whether an append is on disk when it returns."""
        return cached.wants_sync(self.store) if self._fsync is None else self._fsync

    def now(self) -> int:
        """Return nanoseconds since the epoch, by the clock of this log."""
        return self._clock()

    def moment(self, newest: str) -> "_LogMoment":
        """Return when an event would be dated that is appended now, and after another event."""
        return _LogMoment(*timestamps.follow(self._clock(), newest))

    def append(self, event: Event | Mapping[str, Any]) -> Event:
        """Store one event and return it with its time and id; on disk when this returns.

        Raises InvalidEvent (naming the field; also for what only people's own verbs may say) or NotStored.
        """
        if not self._has_redactions() and (ordinary := encode.ready(event)):
            return self._put_ordinary(*ordinary)
        return self.append_many([event])[0]

    def append_many(self, events: Iterable[Event | Mapping[str, Any]], *, batch: str | None = None) -> list[Event]:
        """Store several events, all or nothing per day file short of a kill, and return them in the order given.

        Sent again with the same name of a `batch`, or with times of their own, only those are added that are missing.
        """
        free = [refuse_reserved(event) for event in self._accepted(events)]
        return [appended.event for appended in self._put(free, batch)]

    def put(
        self, events: Iterable[Event | Mapping[str, Any]], *, batch: str | None = None, after: str = ""
    ) -> list[AppendResult]:
        """Append events of any type like `append_many`, for use cases; return for each whether it was new.

        Those that get their time now count `after` another event, even where a clock ahead of ours dated it.
        """
        return self._put(self._accepted(events), batch, after)

    def _accepted(self, events: Iterable[Event | Mapping[str, Any]]) -> list[Event]:
        """Take the events as the log has them; the first invalid one refuses them all."""
        return [accept(self._of_here(event)) for event in events]

    def _put(self, accepted: list[Event], batch: str | None, after: str = "") -> list[AppendResult]:
        for event in accepted:
            if not event.ts:  # it grows by its stamp; others are as they were checked
                codec.encode(_LogMoment(0, "").stamp(event, 0))
        by_day: dict[str, list[int]] = {}
        done: dict[int, AppendResult] = {}
        remaining = [self._without_redacted(event) for event in accepted] if self._has_redactions() else accepted
        for position, event in enumerate(accepted):
            accepted[position] = remaining[position]
            if accepted[position].type == event.type:
                by_day.setdefault(event.ts[:10], []).append(position)
            else:  # it was erased
                done[position] = AppendResult(accepted[position], new=False)
        try:
            for day, positions in sorted(by_day.items()):
                chosen = [accepted[position] for position in positions]
                done |= zip(positions, self._put_day(day, chosen, batch, after), strict=True)
        except NotStored as error:
            if done:
                what = f"{error.what}; {len(done):,} of {len(accepted):,} events are stored"
                raise type(error)(what, where=error.where, hint=error.hint) from error
            raise
        return [done[position] for position in range(len(accepted))]

    def _has_redactions(self) -> bool:
        return os.access(self.store.redactions, os.F_OK)  # every append asks, and most stores have none

    def _without_redacted(self, event: Event) -> Event:
        """Return the event without texts that a person had erased; what stands for it where it was erased itself."""
        fields = codec.to_fields(event)
        cleaned = without_erased(self.store, fields)
        if cleaned is None:
            return Redacted(was=event.type, id=event.id, ts=event.ts, conversation_id=event.conversation_id)
        return event if cleaned == fields else codec.from_fields(cleaned)

    def confirm(self, event: Event) -> None:
        """Make durable what another writer of that event may have died before syncing; raises NotStored.

        Whoever is told "already there" is promised as much as who is told "stored".
        """
        self._confirm({event.ts[:10]})

    def read(self, since: str = "", until: str = "~") -> Iterator[Event]:
        """Read events with `since <= ts <= until`, oldest first, a single day in memory at a time; pass over damage."""
        return (entry.event for entry in self.entries(since, until))

    def entries(
        self,
        since: str = "",
        until: str = "~",
        *,
        mentioning: Sequence[bytes] = (),
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> Iterator[LogLine]:
        """Read like `read`, with the line behind each event.

        With `mentioning` only lines that hold one of these bytes, given in lower case, in any case of their ASCII
        letters; no other line is decoded. `progress` is told how many days are read, and of how many.
        """
        elsewhere, days = DuplicateFilter(self.holding), self.days(since, until)
        for number, day in enumerate(days, 1):
            found, _ = day.entries(mentioning)
            progress(number, len(days))
            copies = elsewhere.of(misdated(day.date, [entry.event.id for entry in found]))
            for entry in found:
                if since <= entry.event.ts <= until and entry.event.id not in copies:
                    yield entry

    def mentioning(self, words: Sequence[bytes]) -> Iterator[Event]:
        """Read the events of lines that hold any of the words, day by day, otherwise in no order; pass over damage."""
        elsewhere = DuplicateFilter(self.holding)
        for day in self.days():
            found = day.load_mentioning(words)
            copies = elsewhere.of(misdated(day.date, [event.id for event in found]))
            yield from (event for event in found if event.id not in copies)

    def of_types(self, *kinds: type[_Kind]) -> Iterator[_Kind]:
        """Read the events of these types as `mentioning` reads: lines of other types are not decoded."""
        words = [f'"{kind.__struct_config__.tag}"'.encode() for kind in kinds]
        return (event for event in self.mentioning(words) if isinstance(event, kinds))

    def session(self, conversation_id: str) -> list[Event]:
        """Read all events of a conversation, oldest first, over all days; found by index, not by scanning."""
        return [entry.event for entry in self.session_entries(conversation_id)]

    def session_entries(self, conversation_id: str) -> list[LogLine]:
        """Read like `session`, with the line behind each event."""
        return self._counted(self.index.entries(conversation_id))

    def sessions(self, since: str = "") -> Iterator[list[LogLine]]:
        """Read every conversation that has an event since then like `session_entries`, whole, one after the other."""
        found = map(self._counted, self.index.every(since[:10]))
        return (entries for entries in found if entries and entries[-1].event.ts >= since)

    def _counted(self, found: list[LogLine]) -> list[LogLine]:
        """Leave out the copies of events of other days."""
        lost = {entry.event.id for entry in found if entry.event.ts[:10] != day_in_id(entry.event.id)}
        copies = DuplicateFilter(self.holding).of(lost) if lost else ()
        return [entry for entry in found if entry.event.id not in copies]

    def find(self, event_ids: Collection[str]) -> dict[str, LogLine]:
        """Find the events with these ids; ids name their day, so only those days are read, and all if that fails.

        A few that are not there are looked for as bytes: an id that nobody has costs no decoding of the whole log.
        To ask for one that was not found raises BadRequest: a replay may know of a day that cannot be read any more.
        """
        wanted = set(event_ids)
        homes: dict[str, set[str]] = {}
        for event_id in wanted:
            homes.setdefault(day_in_id(event_id), set()).add(event_id)
        listed = ((day, homes[day.date]) for day in self.days() if day.date in homes)
        found = _Found((entry.event.id, entry) for day, ids in listed for entry in day.entries_of(ids))
        if missing := wanted - found.keys():
            few = missing if len(missing) <= _FEW else ()
            marks = [mark.lower() for event_id in few for mark in index_lookup.marks(event_id)]
            found |= {entry.event.id: entry for entry in self.entries(mentioning=marks) if entry.event.id in missing}
        return found

    def days(self, since: str = "", until: str = "~") -> list[Day]:
        """List the days that can hold events with `since <= ts <= until`, oldest first."""
        return days.list_days(self.store.log, since[:10], until[:10])

    def holding(self, date: str, event_ids: Collection[str], until: str = "~") -> set[str]:
        """Find those of the ids that an event of that day with `ts <= until` has."""
        present = (event for day in self.days(date, date) for event in day.load()[0])
        return {event.id for event in present if event.id in event_ids and event.ts <= until}

    def stored(self, keys: Collection[str], where: Iterable[Day]) -> dict[str, Event]:
        """Find the events of those days whose ids are derived from these keys, by key.

        Of other days than those that mention such an id nothing is decoded.
        """
        by_tail = {ids.derived_tail(key): key for key in keys}
        tails = {tail.encode() for tail in by_tail}
        found: dict[str, Event] = {}
        for day in where:
            if any(not tails.isdisjoint(_TAIL.findall(read(file) or b"")) for file in day.files):
                events = (event for event in day.load()[0] if event.id[ids.STAMP :] in by_tail)
                found |= {by_tail[event.id[ids.STAMP :]]: event for event in events}
        return found

    def _of_here(self, event_given: Event | Mapping[str, Any]) -> Event:
        """Add the name of this store to events about this machine's files and paths, and to a person's own."""
        if not isinstance(event_given, Event | Mapping):
            what = f"an event is an Event or a mapping of its fields, not {type(event_given).__name__}"
            raise InvalidEvent(what, hint='as in log.append({"type": "fact", "conversation_id": "c", "content": "…"})')
        event = event_given if isinstance(event_given, Event) else codec.from_fields(event_given)
        tells = isinstance(event, PlanEntry | EntryApplied | KnowledgeEdited | ProjectSeen) or event.agent == HUMAN
        is_unnamed = not (event.replica or event.ts or event.id)  # it is born now
        return replace(event, replica=make_replica(self.store)) if tells and is_unnamed else event

    def _put_day(self, day: str, events: list[Event], batch: str | None, after: str) -> list[AppendResult]:
        """Append events of a day; those that are to get their time now have none."""
        if not day:
            return self._put_named(events, batch, after) if batch else self._put_live(events, after)
        with self._open(day) as file:
            present = {event.id: event for files in self.days(day, day) for event in files.load()[0]}
            return self._add(file, events, [event.id for event in events], present)

    def _put_ordinary(self, event: Event, rest: bytes) -> Event:
        """Append one live event that was checked and encoded."""
        try:
            file_open = self._idle.pop()
        except IndexError:
            stored = None
        else:
            file_open.wants_sync = self.fsync
            stored = file_open.append_again(self._stamped, rest)
            self._idle.append(file_open)
        if stored is None:
            with self._open("") as file:
                if stored := self._stamped(file, rest):
                    file.append(stored[2])
        if stored is None:  # midnight has passed, or a clock was wrong
            return self._put_live([event], "")[0].event
        return replace(event, ts=stored[0], id=stored[1])

    def _stamped(self, file: DayFile, rest: bytes) -> tuple[str, str, bytes] | None:
        """Make time, id and line of a live event, under the lock; None where its place is not its time."""
        now = self._clock()
        ts = timestamps.from_ns(now)
        if ts[:10] != file.day or file.newest(ts) >= ts or now > timestamps.LAST_NS:
            return None
        self.ahead = ""
        event_id = ids.new(now // 1_000_000)
        return ts, event_id, encode.line(ts, event_id, rest)

    def _put_live(self, events: list[Event], after: str) -> list[AppendResult]:
        with self._now_locked(len(events), after) as (file, now):
            stamped = [now.stamp(event, position) for position, event in enumerate(events)]
            file.append(b"".join(codec.encode(event) + b"\n" for event in stamped))
            return [AppendResult(event, new=True) for event in stamped]

    def _put_named(self, events: list[Event], batch: str, after: str) -> list[AppendResult]:
        """Make live events whose ids follow from the batch's name and their content."""
        keys = _batch_keys(batch, events)
        today = _day_of(self._clock())
        present = self.stored(keys, [day for day in self.days() if day.date < today])
        with self._now_locked(len(events), after) as (file, now):
            present |= self.stored(keys, self.days(since=today))
            stamped = [now.stamp(event, n, key) for n, (event, key) in enumerate(zip(events, keys, strict=True))]
            return self._add(file, stamped, keys, present)

    @contextmanager
    def _now_locked(self, count: int, after: str) -> Iterator[tuple[DayFile, "_LogMoment"]]:
        """Open the file of today, locked, with the moment of the first of so many events.

        Should midnight pass while waiting for the lock, it is the next day's file. Times only grow, by a microsecond at
        least, whatever the clock does, and whoever wrote the newest event; see `timestamps.follow`.
        """
        earliest = self._clock()
        while True:
            day = _day_of(earliest)
            with self._open(day) as file:
                clock = max(self._clock(), earliest)  # read under the lock
                newest = max(file.newest(timestamps.from_ns(clock)), after)
                now = _LogMoment(*timestamps.follow(clock, newest))
                self.ahead = newest if now.after else ""
                last = now.ns + 1000 * (count - 1)
                if _day_of(now.ns) != day or _day_of(last) != day:
                    earliest = last
                    continue
                yield file, now
                return

    def _add(
        self, file: DayFile, events: list[Event], keys: list[str], present: dict[str, Event]
    ) -> list[AppendResult]:
        """Append the events of which none with that key is there; as much is promised of the others."""
        result = []
        for event, key in zip(events, keys, strict=True):
            new = key not in present
            result.append(AppendResult(present.setdefault(key, event), new))
        if lines := b"".join(codec.encode(event) + b"\n" for event, new in result if new):
            file.append(lines)
        if found := {event.ts[:10] for event, new in result if not new}:
            file.confirm()
            self._confirm(found, but=file.path)
        return result

    def _confirm(self, dates: Collection[str], but: str = "") -> None:
        """Sync all files of these days that can be read; raises NotStored."""
        listed = (day for date in sorted(dates) for day in self.days(date, date)) if self.fsync else ()
        for path in (path for day in listed for path in {*day.files} - {bad.file for bad in day.unreadable()}):
            try:
                if path != but:
                    sync_file(path)
            except OSError as error:
                raise not_stored(error, path) from error

    def _open(self, day: str) -> DayFile:
        """Take an open file of the day, or a new file; for no day, the last written file, or today's."""
        sync = self.fsync
        try:
            file = self._idle.pop()
        except IndexError:
            return DayFile(self.store.log, day or _day_of(self._clock()), sync=sync, idle=self._idle)
        if day and file.day != day:
            file.close()
            return DayFile(self.store.log, day, sync=sync, idle=self._idle)
        file.wants_sync, file.idle = sync, self._idle
        return file


def accept(event_given: Event | Mapping[str, Any]) -> Event:
    """Build the event as the log takes it: checked, named by its content where it has its own time, without secrets.

    Raises InvalidEvent.
    """
    event = codec.check(event_given if isinstance(event_given, Event) else codec.from_fields(event_given))
    return _without_secrets(replace(event, id=codec.content_id(event)) if event.ts and not event.id else event)


def _without_secrets(event: Event) -> Event:
    """Remove the secrets from an event; its id stays, so that an event sent twice is a single event.

    What a person made of their own file stays as they wrote it: it would leave the file otherwise.
    """
    fields = {name: value for name, value in codec.to_fields(event).items() if name not in _NO_TEXT}
    cleaned = scrub_fields(fields)
    if isinstance(event, KnowledgeEdited) and event.content is not None:
        cleaned["content"] = event.content
    if cleaned == fields:
        return event
    stamp = {"v": event.v, "id": event.id, "ts": event.ts, "after": event.after, "type": event.type}
    return codec.check(codec.from_fields({**cleaned, **stamp}))


def _batch_keys(batch: str, events: Iterable[Event]) -> list[str]:
    """Make the keys from which the ids of a batch's events are derived, in the order given.

    Sent again after a kill, events without a time of their own have another time; name and content are the same. Equal
    events of one batch are numbered.
    """
    equal: Counter[str] = Counter()
    keys = []
    for event in events:
        content = codec.content_of(event)
        keys.append(f"batch\n{batch}\n{equal[content]}\n{content}")
        equal[content] += 1
    return keys


def _day_of(ns: int) -> str:
    return timestamps.from_ns(ns)[:10]


class _LogMoment(NamedTuple):
    """A time of a live event in nanoseconds; and what it counts `after`, where that is not its own time."""

    ns: int
    after: str

    def stamp(self, event: Event, position: int, key: str = "") -> Event:
        """Give time and id to the event at this position of several."""
        ns = self.ns + 1000 * position
        after = timestamps.after(self.after, position) if self.after else None
        event_id = ids.derived(ns // 1_000_000, key) if key else ids.new(ns // 1_000_000)
        return replace(event, ts=timestamps.from_ns(ns), id=event_id, after=after)
