"""The newest entries about one section, kept so that each question costs the same however many there are; pure."""

from msgspec import Struct

from eventlog.events import PlanEntry

Moment = tuple[str, str]  # ts and id of what decides when an entry counts


class LatestEntries(Struct):
    """The latest entry of all, and the latest that was not declared together with it."""

    seen: int = 0
    _first: tuple[Moment, str] | None = None
    _other: tuple[Moment, str] | None = None

    def add(self, entry: PlanEntry, moment: Moment) -> None:
        """Take in an entry, in any order."""
        found = moment, _together(entry)
        if self._first is None or found[0] > self._first[0]:
            self._other = self._other if self._first is None or self._first[1] == found[1] else self._first
            self._first = found
        elif found[1] != self._first[1] and (self._other is None or found[0] > self._other[0]):
            self._other = found

    def is_later_than(self, entry: PlanEntry, moment: Moment) -> bool:
        """Tell whether an entry of another batch is later."""
        rivals = (one for one in (self._first, self._other) if one and one[1] != _together(entry))
        return any(rival > moment for rival, _ in rivals)


def _together(entry: PlanEntry) -> str:
    """Name what was declared at once: a batch, else the entry alone."""
    return f"batch {entry.batch}" if entry.batch is not None else f"entry {entry.id}"
