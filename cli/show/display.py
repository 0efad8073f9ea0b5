"""Show events, ids and times of a store: short and local for people, whole and in UTC for programs."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from functools import cached_property

from msgspec.structs import replace

from eventlog.app.naming.references import ShortIds
from eventlog.app.open_store import Machine
from eventlog.cli.show.events import COLOURS, KIND, describe, gist, kind_of
from eventlog.cli.terminal import cells, fit, hang, padded, show_lines, styled, table
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Event, Rejected
from eventlog.format.text import one_line, project_name, same_text
from eventlog.hosts import ROOMS
from eventlog.log.event_log import EventLog
from eventlog.store import Store

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400  # seconds
_MANY = 14  # days
_UNITS = (("years", 365), ("months", 30), ("weeks", 7))  # days
_AGENT, _SESSION = 18, 18  # cells at most


class Display:
    """Formats events, ids and times of a store for a terminal or a pipe."""

    def __init__(self, store: Store, now: str = "") -> None:
        self.is_for_people = sys.stdout.isatty()
        self._store = store
        self._now = now or Machine.here().now()
        self._worded: dict[str, Event] = {}  # by id

    @cached_property
    def short(self) -> Callable[[str], str]:
        """Return the function that shortens ids, by the size of the log."""
        return ShortIds(self._store).of

    def worded(self, event: Event) -> Event:
        """Restore the words of a rejected statement, and format the id of a target.

        With the second one it looks for those of all of that day, as hundreds may be forgotten together.
        """
        if isinstance(event, Rejected) and event.id not in self._worded:
            days = EventLog(self._store).days(event.ts[:10], event.ts[:10]) if self._worded else ()
            found = [event, *(other for day in days for other in day.load_mentioning([b'"rejected"']))]
            self._worded |= {other.id: other for other in self.all_worded(found)}
        event = self._worded.get(event.id, event)
        return replace(event, target=self.id(target)) if (target := getattr(event, "target", None)) else event

    def all_worded(self, events: Sequence[Event]) -> list[Event]:
        """Restore the words of many, by one look at the log."""
        rejected = [event for event in events if isinstance(event, Rejected) and event.digest]
        if not rejected:
            return list(events)
        from eventlog.app.write.rejections import worded

        words = {event.id: text for event, text in zip(rejected, worded(EventLog(self._store), rejected), strict=True)}
        return [words.get(event.id, event) for event in events]

    def id(self, full_id: str) -> str:
        """Format an id: short on a terminal; every verb accepts it."""
        return self.short(full_id) if self.is_for_people else full_id

    def when(self, ts: str) -> str:
        """Format a time: to the minute in the user's zone on a terminal, unchanged in a pipe."""
        return self.local(ts).strftime("%Y-%m-%d %H:%M") if self.is_for_people else ts.replace("T", " ")

    def local(self, ts: str) -> datetime:
        """Convert a timestamp of the log to the user's zone."""
        return datetime.fromisoformat(ts).astimezone(self._zone)

    def day(self, ts: str) -> str:
        """Format a day in the user's zone: `yesterday · Fri 20 Nov`; in a pipe `2026-11-20`."""
        date, today = self.local(ts).date(), self.local(self._now).date()
        if not self.is_for_people:
            return date.isoformat()
        word = {0: "today · ", 1: "yesterday · "}.get((today - date).days, "")
        year = "" if date.year == today.year else f" {date.year}"
        return f"{word}{date:%a} {date.day} {date:%b}{year}"

    def ago(self, ts: str) -> str:
        """Format the time since a timestamp: `3 h ago`; a clock may have been wrong."""
        seconds = (timestamps.to_ms(self._now) - timestamps.to_ms(ts)) // 1000
        if seconds < -_MINUTE:
            return f"in the future, {self.local(ts):%Y-%m-%d %H:%M}"
        if seconds < _MINUTE:
            return "just now"
        if seconds < _HOUR:
            return f"{seconds // _MINUTE} min ago"
        if seconds < _DAY:
            return f"{seconds // _HOUR} h ago"
        days = seconds // _DAY
        if days < _MANY:
            return "yesterday" if days == 1 else f"{days} days ago"
        name, length = next((unit for unit in _UNITS if days >= 2 * unit[1]), _UNITS[-1])
        return f"{days // length} {name} ago"

    def moment(self, ts: str) -> str:
        """Format a time by day and minute: `yesterday 13:40`, `20 Nov 13:40`; unchanged in a pipe."""
        if not self.is_for_people:
            return self.when(ts)
        at, today = self.local(ts), self.local(self._now).date()
        word = {0: "today", 1: "yesterday"}.get((today - at.date()).days, f"{at.day} {at:%b}")
        year = "" if at.year == today.year else f" {at.year}"
        return f"{word}{year} {at:%H:%M}"

    def show_events(self, events: Iterable[Event], *, header: bool = False) -> None:
        """Print events: with short ids and local times on a terminal, as columns in a pipe."""
        if self.is_for_people:
            show_lines(self.event_lines(events))
        else:
            table(map(self._row, events), header=header, when=0, type=0, agent=0, session=16, id=0, what=200)

    def event_lines(self, events: Iterable[Event]) -> Iterator[str]:
        """Yield a line per event below headings of session and day."""
        heading = ""
        for event in events:
            mine = styled(self.heading(event, self.day(event.ts), self.id(event.conversation_id)), bold=True)
            if mine != heading:
                heading = mine
                yield mine
            head = f"  {styled(self.id(event.id), fg='cyan')}  {self.local(event.ts):%H:%M}  {self.kind(event, KIND)}  "
            yield from hang(head, one_line(gist(self.worded(event))))

    @staticmethod
    def heading(event: Event, day: str, session: str) -> str:
        """Format day, session, program and project of an event; a person's own events share one heading."""
        agent = ROOMS.get(event.agent or "", one_line(event.agent or ""))
        project = project_name(event.project) if event.project else ""
        return " · ".join(filter(None, [day, "" if _is_persons(event) else one_line(session), agent, project]))

    @staticmethod
    def kind(event: Event, room: int = 0) -> str:
        """Format the kind of an event in its colour, padded to a number of cells (0: not at all)."""
        kind = kind_of(event)
        return styled(padded(kind, room) if room else kind, fg=COLOURS.get(kind))

    @staticmethod
    def who(event: Event) -> str:
        """Name the program that recorded an event, and its helper; marks a guess."""
        named = one_line("/".join(filter(None, [ROOMS.get(event.agent or "", event.agent), event.subagent])))
        return f"{named} (guessed)" if event.speaker else named

    def sayings(self, events: Sequence[Event], text: str) -> Iterator[str]:
        """Yield who stated a text and when, a line per event; with its own words where it has others."""
        rows = list(map(self._columns, events))
        rooms = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        for event, row in zip(events, rows, strict=True):
            short, *columns = map(padded, row, rooms)
            yield "  ".join(["", styled(short, fg="cyan"), *columns, self.kind(event)]).rstrip()
            if same_text(text) not in same_text(gist(event)):
                yield from hang("    ", one_line(gist(event)))

    def _columns(self, event: Event) -> tuple[str, ...]:
        session = "" if _is_persons(event) else fit(one_line(self.id(event.conversation_id)), _SESSION)
        return self.id(event.id), self.moment(event.ts), fit(self.who(event), _AGENT), session

    def _row(self, event: Event) -> tuple[str, ...]:
        source = "/".join(filter(None, [event.agent, event.subagent]))
        ids = self.id(event.conversation_id), self.id(event.id)
        return self.when(event.ts), event.type, source, *ids, describe(self.worded(event))

    @cached_property
    def _zone(self) -> tzinfo:
        from eventlog.app.naming.moments import zone_of

        return zone_of(self._store)


def _is_persons(event: Event) -> bool:
    """Check whether an event belongs to a person's own conversation."""
    return event.agent == HUMAN and event.conversation_id.partition("-")[0] == HUMAN
