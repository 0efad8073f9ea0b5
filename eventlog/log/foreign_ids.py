"""The same id on two days is one event: the copy counts that lies on the day the id names, else the earliest.

An id carries its time, so copies of an event almost always lie in one day, where they are recognised for free. Only
an id that names another day than its file's (`misdated`) can have a copy elsewhere; those alone are looked up. So no
line written today can take the place of one of another day.

Imported by what answers without any library: standard library only.
"""

from eventlog.format import ids, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    Holds = Callable[[str, Collection[str]], Collection[str]]


def misdated(day: str, event_ids: "Collection[str]") -> list[str]:
    """Those ids that name another day, in the order given."""
    start = timestamps.to_ms(f"{day}T00:00:00.000000Z")
    low, high = ids.prefix(start), ids.prefix(start + 86_400_000)
    ordered = sorted(event_ids)  # hardly any work: they rise as times do
    if not ordered or (low <= ordered[0] and ordered[-1] < high):
        return []
    return [event_id for event_id in event_ids if not low <= event_id < high]


class CopyFilter:
    """Fed the days in order, tells which of a day's ids another day's event has.

    `holds(day, ids)` answers which of those ids that day of the log has; it is asked for misdated ids only.
    """

    def __init__(self, holds: "Holds") -> None:
        self._holds = holds
        self._seen: set[str] = set()

    def of(self, found: "Iterable[str]") -> frozenset[str]:
        """Find those of the next day's misdated ids that do not count there."""
        found = set(found)
        copies = found & self._seen
        by_home: dict[str, set[str]] = {}
        for event_id in found - copies:
            by_home.setdefault(day_in_id(event_id), set()).add(event_id)
        for home, candidates in by_home.items():
            copies |= candidates & set(self._holds(home, candidates))
        self._seen |= found
        return frozenset(copies)


def day_in_id(event_id: str) -> str:
    """The day an id names; "~", after every day, for an id that names none."""
    try:
        return timestamps.from_ns(ids.time_ms(event_id) * 1_000_000)[:10]
    except (ValueError, OverflowError, OSError):
        return "~"
