"""How ids and times of a store are shown: short and local to people, whole and in UTC to programs."""

import sys
from datetime import datetime, tzinfo
from functools import cached_property

from eventlog import timestamps
from eventlog.app.naming.short_ids import ShortIds
from eventlog.store import Store


class Shown:
    """The spelling of one store's ids and times, for wherever stdout leads."""

    def __init__(self, store: Store) -> None:
        self.short = ShortIds(store).of
        self.is_for_people = sys.stdout.isatty()
        self._store = store

    def id(self, full_id: str) -> str:
        """Show an id: the short one on a terminal, which every verb takes."""
        return self.short(full_id) if self.is_for_people else full_id

    def when(self, ts: str) -> str:
        """Show a time: to the minute and of the user's zone on a terminal."""
        if not self.is_for_people:
            return ts.replace("T", " ")
        return self.local(ts).strftime("%Y-%m-%d %H:%M")

    def local(self, ts: str) -> datetime:
        """Take a timestamp of the log to the user's zone."""
        return datetime.fromisoformat(ts).astimezone(self._zone)

    def day(self, ts: str, now: str) -> str:
        """Name the user's day of a time: `yesterday · Fri 20 Nov`."""
        date, today = self.local(ts).date(), self.local(now).date()
        word = {0: "today · ", 1: "yesterday · "}.get((today - date).days, "")
        year = "" if date.year == today.year else f" {date.year}"
        return f"{word}{date:%a} {date.day} {date:%b}{year}"

    @cached_property
    def _zone(self) -> tzinfo:
        from eventlog.app.naming.moments import zone_of

        return zone_of(self._store)


_MINUTE, _HOUR, _DAY = 60, 3600, 86_400  # seconds


def ago(ts: str, now: str) -> str:
    """Tell how long ago a time was, as one says it."""
    seconds = (timestamps.to_ms(now) - timestamps.to_ms(ts)) // 1000
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    days = seconds // _DAY
    return "yesterday" if days == 1 else f"{days} days ago"
