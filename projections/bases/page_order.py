"""Where the sections of a file stand or stood: all of them in order, those that are gone included; pure.

The log is told which heading was before a section on the page. A section that leaves keeps its place in the order, so
sections return to where they stood, whichever returns first. A section that comes to the page anew gets a new place:
the text that left before has its own place to return to.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from eventlog.format.events import EntryApplied
from eventlog.projections.bases.ledger import Told, digest_of, key_of
from eventlog.projections.bases.sections import Page, SectionId, Under


class _Place(Struct, eq=False):
    """The place of a section from when it came until it left, or of a heading that was seen before one."""

    path: Under
    level: int = 0
    is_managed: bool = False  # the log is told when it leaves
    is_gone: bool = False
    texts: set[str] = field(default_factory=set)  # ids of the entries and edits whose text it had
    blank: int = 0  # lines that ended the file after it

    @property
    def is_there(self) -> bool:
        """Tell whether the section is on the page for sure."""
        return self.is_managed and not self.is_gone


class PageOrder:
    """The places of the sections of a file, in the order of the page."""

    def __init__(self, observations: Iterable[Told]) -> None:
        """Follow what the log was told of the file, oldest first."""
        self._order = [_Place((), is_managed=True)]  # the start of the page, which is before the first section
        self._of: dict[SectionId, list[_Place]] = {}
        for told in observations:
            self._observe(told)

    def give_back(self, key: SectionId, event: str, page: Page) -> tuple[int | None, int]:
        """Find the line to which a section returns with the text of an event, and the blank lines if it is the last.

        The line is None where the log does not say.
        """
        known = [place for place in self._of.get(key, ()) if place in self._order]
        place = next((place for place in reversed(known) if event in place.texts), known[-1] if known else None)
        if place is None:
            return None, 0
        place.is_gone = False
        ends = {section.key.path: section.end for section in page.sections}
        ends[()] = page.sections[0].start if page.sections else len(page.lines)
        before = reversed(self._order[: self._order.index(place)])
        return next(ends[other.path] for other in before if other.path in ends and not other.is_gone), place.blank

    def _observe(self, told: Told) -> None:
        is_gone, event = not digest_of(told), told.target if isinstance(told, EntryApplied) else told.id
        place = self._place_of(key_of(told), event)
        place.is_gone = is_gone
        place.texts |= set() if is_gone else {event}
        if told.previous is not None:
            place.blank = told.blank
            self._put(place, told.previous)

    def _place_of(self, key: SectionId, event: str) -> _Place:
        """Return the place of a section that is there, or was with the text of that event; else make one."""
        places = self._of.setdefault(key, [])
        there = (place for place in places if place.is_there)
        was = (place for place in reversed(places) if event in place.texts)
        if place := next(there, None) or next(was, None):
            return place
        seen = (place for place in self._order if place.path == key.path and not place.is_managed)
        place = next(seen, None) or _Place(key.path)
        place.level, place.is_managed = key.level, True
        places.append(place)
        return place

    def _put(self, place: _Place, previous: Under) -> None:
        """Move a place after what was before it on the page, unless it is there already."""
        order = self._order
        before = self._seen(place, previous)
        if place in order:
            after, at = order.index(before) + 1, order.index(place)
            if after <= at and not any(other.is_there for other in order[after:at]):
                # headings of the person between the two are not there any more
                order[after:at] = [other for other in order[after:at] if other.is_managed]
                return
            order.remove(place)
        after = order.index(before) + 1
        while after < len(order) and order[after].is_gone and order[after].level >= place.level:
            after += 1
        order.insert(after, place)

    def _seen(self, place: _Place, previous: Under) -> _Place:
        """Return the place of the heading seen before a section; one that is new comes before those that left."""
        for other in reversed(self._order):
            if other.path == previous and not other.is_gone and other is not place:
                return other
        at = self._order.index(place) if place in self._order else 0
        while at and not self._order[at - 1].is_there:
            at -= 1
        new = _Place(previous)
        self._order.insert(at or len(self._order), new)
        return new
