"""The log as a Python object: append, read, audit."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from eventlog import codec, days, ids, timestamps
from eventlog.dayfile import DayFile
from eventlog.days import Damage, Day, Entry
from eventlog.duplicates import Earlier, home_of, strays
from eventlog.events import Event
from eventlog.index import ConversationIndex
from eventlog.store import Store


class Appended(NamedTuple):
    """An event as it stands in the log, and whether this call put it there."""

    event: Event
    new: bool


class EventLog:
    """The append-only log of one store; safe to use from several threads and processes.

    `store` is a directory; nothing is created before the first append. `fsync=False` leaves syncing to the system:
    an event then survives the death of every process, but not a power cut. `clock` gives nanoseconds since the epoch.
    """

    def __init__(
        self, store: Store | str | os.PathLike[str], *, fsync: bool = True, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self.store = store if isinstance(store, Store) else Store(os.fspath(store))
        self.index = ConversationIndex(self.store.log, self.store.cache)
        self._fsync = fsync
        self._clock = clock
        self._last_ns = 0

    def append(self, event: Event | Mapping[str, Any]) -> Event:
        """Store one event and return it with its time and id; on disk when this returns.

        Raises InvalidEvent (naming the field) or NotStored.
        """
        return self.put([event])[0].event

    def append_many(self, events: Iterable[Event | Mapping[str, Any]]) -> list[Event]:
        """Store a batch, all or nothing per day file, and return it in the order given."""
        return [appended.event for appended in self.put(events)]

    def put(self, events: Iterable[Event | Mapping[str, Any]]) -> list[Appended]:
        """Like `append_many`, telling for each event whether it was new; the first invalid one refuses the batch."""
        batch = [_accept(event) for event in events]
        for event in batch:
            codec.encode(event if event.ts else _stamp(event, 0))
        by_day: dict[str, list[int]] = {}
        for position, event in enumerate(batch):
            by_day.setdefault(timestamps.day_of(event.ts), []).append(position)
        done: dict[int, Appended] = {}
        for day, positions in sorted(by_day.items()):
            chosen = [batch[position] for position in positions]
            done |= zip(positions, self._put_dated(day, chosen) if day else self._put_live(chosen), strict=True)
        return [done[position] for position in range(len(batch))]

    def read(self, since: str = "", until: str = "~") -> Iterator[Event]:
        """Events with `since <= ts <= until`, oldest first, one day in memory at a time; damage is passed over."""
        return (entry.event for entry in self.entries(since, until))

    def entries(
        self, since: str = "", until: str = "~", *, on_damage: Callable[[Damage], None] = lambda _: None
    ) -> Iterator[Entry]:
        """Like `read`, with the line behind each event; `on_damage` hears of everything that could not be read."""
        earlier = Earlier(self.holds)
        for day in self.days(since, until):
            found, damage = days.entries(day)
            for one in damage:
                on_damage(one)
            copies = earlier.copies(day.date, strays(day.date, [entry.event.id for entry in found]))
            for entry in found:
                if since <= entry.event.ts <= until and entry.event.id not in copies:
                    yield entry

    def session(self, conversation_id: str) -> list[Event]:
        """Everything one conversation did, oldest first, over all days; found by index, not by scanning."""
        return [entry.event for entry in self.index.entries(conversation_id)]

    def find(self, event_ids: Collection[str]) -> dict[str, Entry]:
        """The events with these ids; ids name their day, so only those days are read, and all if that fails."""
        wanted = set(event_ids)
        homes = {home_of(event_id) for event_id in wanted}
        found = {
            entry.event.id: entry
            for day in self.days()
            if day.date in homes
            for entry in days.entries(day)[0]
            if entry.event.id in wanted
        }
        if found.keys() != wanted:
            found |= {entry.event.id: entry for entry in self.entries() if entry.event.id in wanted}
        return found

    def days(self, since: str = "", until: str = "~") -> list[Day]:
        """The days that can hold events with `since <= ts <= until`, oldest first."""
        return [day for day in days.list_days(self.store.log) if since[:10] <= day.date <= until[:10]]

    def holds(self, date: str, event_id: str) -> bool:
        """Whether that day of the log has an event with that id."""
        return any(entry.event.id == event_id for day in self.days(date, date) for entry in days.entries(day)[0])

    def _put_live(self, events: list[Event]) -> list[Appended]:
        """Time and id are taken under the lock; should midnight pass while waiting for it, the next day's file.

        Times of one log object only grow, by a microsecond at least, whatever the clock does.
        """
        now = self._now()
        while True:
            day = _day_of(now)
            with self._open(day) as file:
                now = max(now, self._now())
                last = now + 1000 * (len(events) - 1)
                if _day_of(last) != day:
                    now = last
                    continue
                self._last_ns = last
                stamped = [_stamp(event, now + 1000 * position) for position, event in enumerate(events)]
                file.append(b"".join(codec.encode(event) + b"\n" for event in stamped))
                return [Appended(event, new=True) for event in stamped]

    def _now(self) -> int:
        return max(self._clock(), self._last_ns + 1000)

    def _put_dated(self, day: str, events: list[Event]) -> list[Appended]:
        with self._open(day) as file:
            there = {event.id: event for one in self.days(day, day) for event in days.load(one)[0]}
            result = []
            for event in events:
                new = event.id not in there
                result.append(Appended(there.setdefault(event.id, event), new))
            if lines := b"".join(codec.encode(event) + b"\n" for event, new in result if new):
                file.append(lines)
            return result

    def _open(self, day: str) -> DayFile:
        return DayFile(self.store.log, day, sync=self._fsync)


def _accept(given: Event | Mapping[str, Any]) -> Event:
    event = codec.check(given if isinstance(given, Event) else codec.from_fields(given))
    return replace(event, id=codec.content_id(event)) if event.ts and not event.id else event


def _day_of(ns: int) -> str:
    return timestamps.day_of(timestamps.from_ns(ns))


def _stamp(event: Event, ns: int) -> Event:
    return replace(event, ts=timestamps.from_ns(ns), id=ids.new(ns // 1_000_000))
