"""The same event on two days: the earlier day's copy counts.

An id carries its time, so copies of an event almost always lie in one day, where they are recognised for free. Only
an id that names another day than its file's (`strays`) can have a copy elsewhere; those alone are remembered.
As the log writes lines (`id`, then `ts`), the earlier copy is also the byte-wise smaller one.
"""

from collections.abc import Callable, Collection, Iterable

from eventlog import ids, timestamps


def strays(day: str, event_ids: Collection[str]) -> list[str]:
    """Those ids that name another day, in the order given."""
    start = timestamps.to_ms(f"{day}T00:00:00.000000Z")
    low, high = ids.prefix(start), ids.prefix(start + 86_400_000)
    if not event_ids or (low <= min(event_ids) and max(event_ids) < high):
        return []
    return [event_id for event_id in event_ids if not low <= event_id < high]


class Earlier:
    """Fed the days in order, tells which of a day's ids an earlier day already had.

    `holds(day, id)` answers whether that day of the log has that id; it is asked for strays only.
    """

    def __init__(self, holds: Callable[[str, str], bool]) -> None:
        self._holds = holds
        self._seen: set[str] = set()
        self._seen_by_home: dict[str, set[str]] = {}

    def copies(self, day: str, strays_of_day: Iterable[str]) -> frozenset[str]:
        """The ids to leave out of `day`."""
        known = set(self._seen_by_home.get(day, ()))
        for event_id in strays_of_day:
            home = home_of(event_id)
            if event_id in self._seen or (home < day and self._holds(home, event_id)):
                known.add(event_id)
            self._seen.add(event_id)
            self._seen_by_home.setdefault(home, set()).add(event_id)
        return frozenset(known)


def home_of(event_id: str) -> str:
    """The day an id names; "~", after every day, for an id that names none."""
    try:
        return timestamps.from_ns(ids.time_ms(event_id) * 1_000_000)[:10]
    except (ValueError, OverflowError, OSError):
        return "~"
