"""The lines that have not left yet, day by day, and the lines of days that must leave again as a whole.

A day file only grows; then what was appended leaves. Where it was rewritten (a redaction, a repair), where the rules
have changed, where segments are lost or many, the whole day is cut anew and takes the place of its segments.
"""

import zlib
from collections.abc import Collection, Iterator
from typing import NamedTuple

from eventlog.app.open_store import OpenStore
from eventlog.app.sync.leaving import LeavingCounts, LeavingRules, joined
from eventlog.app.sync.sync_state import SentDay, SyncState, load_state
from eventlog.log import days
from eventlog.store import is_own
from eventlog.store.files import file_stamp


class DayCut(NamedTuple):
    """The lines of a day that leave; `replaces` the segments it had. `sent` is what is sent of the day afterwards."""

    day: str
    lines: bytes
    replaces: bool
    sent: SentDay


def cut_days(
    opened: OpenStore,
    state: SyncState,
    rules: LeavingRules,
    counts: LeavingCounts,
    *,
    lost: Collection[str] = (),
    today: str = "",
) -> Iterator[DayCut]:
    """Cut what is to be sent of this machine's own day files, oldest first.

    Days of which segments are `lost` leave again; so do those before `today` that have several segments.
    """
    for day in days.list_days(opened.store.log):
        if not is_own(day.files[0]):
            continue
        before = state.days.get(day.date, SentDay())
        anew = day.date in lost or (day.date < today and len(before.segments) > 1)
        stamp = list(file_stamp(day.files[0]))
        if stamp == before.stamp and not (anew or rules.changed):
            continue
        data = days.read(day.files[0]) or b""
        cut = _Cut(day.date, data[: data.rfind(b"\n") + 1], before, stamp)
        yield cut.whole(rules, counts) if anew else cut.what_is_new(rules, counts)


def preview(opened: OpenStore) -> LeavingCounts:
    """Count what would leave now, and write nothing."""
    state, counts = load_state(opened.store), LeavingCounts()
    for _ in cut_days(opened, state, LeavingRules(opened, state), counts):
        pass
    return counts


class _Cut(NamedTuple):
    """A day file as it is now, and what was sent of it before."""

    day: str
    data: bytes
    before: SentDay
    stamp: list[int]

    def what_is_new(self, rules: LeavingRules, counts: LeavingCounts) -> DayCut:
        """Cut what was appended; the whole day where what left before would not leave as it did."""
        before, has_grown = self.before, self._has_grown()
        if has_grown and rules.changed and before.size:
            past = joined(rules.lines(self.day, self.data[: before.size]), lambda _: None)
            has_grown = zlib.crc32(past) == before.sent
        if not has_grown:
            return self.whole(rules, counts)
        return self._cut(before, self.data[before.size :], rules, counts, replaces=False)

    def whole(self, rules: LeavingRules, counts: LeavingCounts) -> DayCut:
        """Cut the whole day; segments with lines that this file has lost stay beside it."""
        cut = self._cut(SentDay(), self.data, rules, counts, replaces=True)
        has_lost = cut.sent.lines < self.before.lines and not rules.changed and not self._has_grown()
        return cut._replace(replaces=not has_lost)

    def _has_grown(self) -> bool:
        size = self.before.size
        return len(self.data) >= size and zlib.crc32(self.data[:size]) == self.before.read

    def _cut(
        self, after: SentDay, data: bytes, rules: LeavingRules, counts: LeavingCounts, *, replaces: bool
    ) -> DayCut:
        blocked = len(counts.blocked)
        lines = joined(rules.lines(self.day, data), counts.add)
        sent = SentDay(
            size=after.size + len(data),
            read=zlib.crc32(data, after.read),
            sent=zlib.crc32(lines, after.sent),
            lines=after.lines + lines.count(b"\n"),
            blocked=after.blocked + len(counts.blocked) - blocked,
            stamp=self.stamp,
        )
        return DayCut(self.day, lines, replaces, sent)
