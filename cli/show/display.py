"""Format ids and times of a store: short and local for people, whole and in UTC for programs."""

import sys
from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import cached_property

from eventlog.app.naming.references import ShortIds
from eventlog.app.open_store import Machine
from eventlog.format import timestamps
from eventlog.format.events import Event, Rejected
from eventlog.log.event_log import EventLog
from eventlog.store import Store


class Display:
    """Formats ids and times of a store for a terminal or a pipe."""

    def __init__(self, store: Store, now: str = "") -> None:
        self.is_for_people = sys.stdout.isatty()
        self._store = store
        self._now = now or Machine.here().now()

    @cached_property
    def short(self) -> Callable[[str], str]:
        """Return the function that shortens ids, by the size of the log."""
        return ShortIds(self._store).of

    def worded(self, event: Event) -> Event:
        """Restore the words of a rejected statement; returns other events unchanged."""
        if not isinstance(event, Rejected) or not event.digest:
            return event
        from eventlog.app.write.rejections import worded

        return worded(EventLog(self._store), [event])[0]

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
        """Format a day in the user's zone: `yesterday · Fri 20 Nov`."""
        date, today = self.local(ts).date(), self.local(self._now).date()
        word = {0: "today · ", 1: "yesterday · "}.get((today - date).days, "")
        year = "" if date.year == today.year else f" {date.year}"
        return f"{word}{date:%a} {date.day} {date:%b}{year}"

    def ago(self, ts: str) -> str:
        """Format the time since a timestamp: `3 h ago`."""
        return ago(ts, self._now)

    def moment(self, ts: str) -> str:
        """Format a time by day and minute: `yesterday 13:40`, `20 Nov 13:40`."""
        at, today = self.local(ts), self.local(self._now).date()
        word = {0: "today", 1: "yesterday"}.get((today - at.date()).days, f"{at.day} {at:%b}")
        year = "" if at.year == today.year else f" {at.year}"
        return f"{word}{year} {at:%H:%M}"

    @cached_property
    def _zone(self) -> tzinfo:
        from eventlog.app.naming.moments import zone_of

        return zone_of(self._store)


_MINUTE, _HOUR, _DAY = 60, 3600, 86_400  # seconds
_MANY = 14  # days
_UNITS = (("years", 365), ("months", 30), ("weeks", 7))  # days


def ago(ts: str, now: str) -> str:
    """Format the time since a timestamp: `3 h ago`."""
    seconds = (timestamps.to_ms(now) - timestamps.to_ms(ts)) // 1000
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
