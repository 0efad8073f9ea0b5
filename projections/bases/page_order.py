"""The order of the sections of a file, removed sections included; pure.

Events name the heading before a section on the page. A removed section keeps its place in the order, so sections return
to their places, whichever returns first. A section that is created again gets a new place: the removed text has its own
place to return to.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from eventlog.format.events import EntryApplied
from eventlog.projections.bases.ledger import Observation, digest_of, key_of
from eventlog.projections.bases.sections import Page, SectionId, Under


class _Place(Struct, eq=False):
    """The place of a section until it is removed, or of a heading that an event names as the one before."""

    path: Under
    level: int = 0
    is_managed: bool = False  # the log has an event when it is removed
    is_removed: bool = False
    texts: set[str] = field(default_factory=set)  # ids of the entries and edits that gave it a text
    blank: int = 0  # lines that ended the file after it
    blank_before: int | None = None  # lines that ended the file before it came; None where the log does not say

    @property
    def is_present(self) -> bool:
        """Return whether the section is certainly on the page."""
        return self.is_managed and not self.is_removed


class PageOrder:
    """The places of the sections of a file, in the order of the page."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        """Follow the observations of the file, oldest first."""
        self._order = [_Place((), is_managed=True)]  # the start of the page, which is before the first section
        self._of: dict[SectionId, list[_Place]] = {}
        for event in observations:
            self._observe(event)

    def give_back(self, key: SectionId, event: str, page: Page) -> tuple[int | None, int]:
        """Find the line to which a section returns with the text of an event, and the blank lines if it is the last.

        The line is None for a section without a place.
        """
        places = [place for place in self._of.get(key, ()) if place in self._order]
        place = next((place for place in reversed(places) if event in place.texts), places[-1] if places else None)
        if place is None:
            return None, 0
        place.is_removed = False
        ends = {section.key.path: section.end for section in page.sections}
        ends[()] = page.sections[0].start if page.sections else len(page.lines)
        before = reversed(self._order[: self._order.index(place)])
        return next(ends[other.path] for other in before if other.path in ends and not other.is_removed), place.blank

    def blank_before(self, key: SectionId) -> int | None:
        """Return the blank lines that ended the file before a present section came; None if unrecorded."""
        return next((place.blank_before for place in self._of.get(key, ()) if place.is_present), None)

    def _observe(self, event: Observation) -> None:
        text = event.target if isinstance(event, EntryApplied) else event.id
        place = self._place_of(key_of(event), text)
        was_present, place.is_removed = place.is_present, not digest_of(event)
        if place.is_present and not was_present:
            place.blank_before = None if event.previous is None else event.blank
        elif event.previous is not None:
            place.blank = event.blank
        place.texts |= set() if place.is_removed else {text}
        if event.previous is not None:
            self._move(place, event.previous)

    def _place_of(self, key: SectionId, text: str) -> _Place:
        """Return the place of a present section, else the place it had with that text, else a new place."""
        places = self._of.setdefault(key, [])
        present = (place for place in places if place.is_present)
        former = (place for place in reversed(places) if text in place.texts)
        if place := next(present, None) or next(former, None):
            return place
        named = (place for place in self._order if place.path == key.path and not place.is_managed)
        place = next(named, None) or _Place(key.path)
        place.level, place.is_managed, place.is_removed = key.level, True, True
        places.append(place)
        return place

    def _move(self, place: _Place, previous: Under) -> None:
        """Move a place behind the heading before it on the page, unless only removed sections are between the two."""
        order = self._order
        before = self._before(place, previous)
        if place in order:
            after, at = order.index(before) + 1, order.index(place)
            if after <= at and not any(other.is_present for other in order[after:at]):
                # headings of the person between the two have been removed since
                order[after:at] = [other for other in order[after:at] if other.is_managed]
                return
            order.remove(place)
        after = order.index(before) + 1
        while after < len(order) and order[after].is_removed and order[after].level >= place.level:
            after += 1
        order.insert(after, place)

    def _before(self, place: _Place, previous: Under) -> _Place:
        """Return the place of the heading before a section; a new heading gets its place before removed sections."""
        for other in reversed(self._order):
            if other.path == previous and not other.is_removed and other is not place:
                return other
        at = self._order.index(place) if place in self._order else 0
        while at and not self._order[at - 1].is_present:
            at -= 1
        new = _Place(previous)
        self._order.insert(at or len(self._order), new)
        return new
