"""A page of a knowledge base while entries are applied to it, and the page that the log alone would write; pure.

Events name the heading before a section on the page. A removed section keeps its place in the order, so sections return
to their places, whichever returns first. A section that is created again gets a new place: the removed text has its own
place to return to.
"""

from collections.abc import Iterable, Iterator
from operator import add

from msgspec import Struct, field

from eventlog.format.events import EntryApplied, PlanEntry
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.drift import locate
from eventlog.projections.bases.ledger import Ledger, Observation, digest_of, key_of
from eventlog.projections.bases.section_history import SectionHistory, Spelling, Wording
from eventlog.projections.bases.sections import Page, Section, SectionId, Under, Unsafe, page_of

_EMPTY = SectionHistory((), ())


class ManagedPage:
    """The sections of a page by their keys in the ledger; `histories`, `managed` and `expected` follow every change.

    Without `data`, it is the page that the log alone would write.
    """

    def __init__(self, ledger: Ledger, path: str, data: bytes | None) -> None:
        self._ledger = ledger
        self.histories = {key: history.copy() for key, history in ledger.histories.items()}  # which others share
        self.managed = set(ledger.managed)
        self.expected = ledger.expected_digests(path)
        self._read(_rendered(ledger) if data is None else data)

    def _read(self, data: bytes) -> None:
        self.page = page_of(data)
        self.located = locate(self.page, self.expected, self._ledger.headings)
        self._keys = {section: key for key, section in self.located.items()}

    def change(self, data: bytes) -> None:
        """Replace the page; sections of the page before are invalid afterwards."""
        if data != self.page.data:
            self._read(data)

    def key(self, section: Section) -> SectionId:
        """Return the key of a section in the ledger, wherever it stands now."""
        return self._keys.get(section, section.key)

    def spelling(self, section: Section) -> Spelling:
        """Return the headings of a section as events spell them."""
        return self._ledger.headings.get(self.key(section), Spelling(section.source, section.level, section.above))

    def meant_by(self, entry: PlanEntry) -> SectionId:
        """Return the key of the section that an entry means, on the page or not."""
        found = self.page.candidates(entry.key.heading, entry.key.level, entry.key.under)
        return self.key(found[0]) if len(found) == 1 else self.absent(entry)

    def absent(self, entry: PlanEntry) -> SectionId:
        """Return the key of the absent section that an entry means, else a new key."""
        name = SectionId.of(entry.key.heading, entry.key.level, entry.key.under)
        present = {self.key(section) for section in self.page.sections}
        found = []
        for key in self.histories:
            above = iter(key.under)
            is_under = entry.key.under is None or all(heading in above for heading in name.under)
            if key[:2] == name[:2] and key not in present and is_under:
                found.append(key)
        return name if name in found or len(found) != 1 else found[0]

    def history(self, key: SectionId) -> SectionHistory:
        """Return the history of a section, empty where the log has none."""
        return self.histories.get(key) or _EMPTY

    def persons_lines(self, section: Section) -> list[str]:
        """List the lines of a section that a person wrote, its heading first."""
        history = self.history(self.key(section))
        lines = [line for line, is_persons in history.marked(self.page.text(section)) if is_persons and line.strip()]
        return [section.source, *lines] if history.is_persons else lines

    def is_recorded(self, section: Section) -> bool:
        """Return whether the log has the body of a section."""
        key = self.key(section)
        now, body = self.history(key).now, self.page.text(section)
        is_orphan = any((key_of(it), it.digest) == (key, sections.digest(body)) for it in self._ledger.record.orphans)
        return key in self.managed or is_orphan or (now is not None and now.body == body)

    def record_entry(self, key: SectionId, title: str, entry: str, body: str | None, meant: str | None) -> None:
        """Add the body that an entry gives a section to its history, and manage the section."""
        self.record(key, Wording("", "", entry, title, body, meant, person=False))
        self.managed.add(key)

    def record(self, key: SectionId, wording: Wording) -> None:
        """Add a wording to the history of a section, whose body it is from now on."""
        self.histories.setdefault(key, SectionHistory((), ())).add(wording)
        self.expected[key] = sections.digest(wording.body)


def _rendered(ledger: Ledger) -> bytes:
    """Render the page that the log alone would write, without pending entries.

    A heading without events that other sections stand under has no text.
    """
    keys = sorted(ledger.histories, key=lambda key: len(key.under))
    in_force = {key: now for key in keys if (now := ledger.histories[key].now)}
    present = {key: now for key, now in in_force.items() if now.body is not None}
    # writing all sections at once is fast, and right if they are read back where they were meant to be
    if not any(now.below for now in present.values()):
        nodes = list(_in_order(_tree(present)))
        titles = (f"{'#' * node.key.level} {node.title.strip()}\n" for node in nodes)
        bodies = (f"\n{node.body}\n" if node.body else "" for node in nodes)
        data = "\n".join(map(add, titles, bodies)).encode()
        if [section.key for section in page_of(data).sections] == [node.key for node in nodes]:
            return data
    return _render_stepwise(present, [key for key in keys if key not in present])


class _Node(Struct):
    """A section and the sections below it."""

    key: SectionId
    title: str
    body: str = ""
    below: "list[_Node]" = field(default_factory=list)


def _tree(present: dict[SectionId, Wording]) -> list[_Node]:
    top: list[_Node] = []
    for key, now in present.items():
        siblings = top
        for depth, heading in enumerate(key.under):
            above = SectionId(heading, key.level - len(key.under) + depth, key.under[:depth])
            same = (node for node in siblings if node.key.heading == heading and node.key.level < key.level)
            siblings = (next(same, None) or _inserted(siblings, _Node(above, heading))).below
        same = (node for node in siblings if node.key == key)
        node = next(same, None) or _inserted(siblings, _Node(key, now.title))
        node.title, node.body = now.title, now.body or ""
    return top


def _inserted(siblings: list[_Node], node: _Node) -> _Node:
    """Insert a node last, but before a node of a smaller level, which would capture it."""
    at = (at for at, other in enumerate(siblings) if other.key.level < node.key.level)
    siblings.insert(next(at, len(siblings)), node)
    return node


def _in_order(nodes: list[_Node]) -> Iterator[_Node]:
    for node in nodes:
        yield node
        yield from _in_order(node.below)


def _render_stepwise(present: dict[SectionId, Wording], removed: list[SectionId]) -> bytes:
    """Insert section by section, each result checked; leaves out a section that cannot stand beside the others."""
    data = b""
    for key, now in present.items():
        try:
            data = _with_section(data, key, now)
        except Unsafe:
            continue
    for key in removed:
        if section := _section_of(page_of(data), key):
            data = section_edits.without(page_of(data), section, subsections=False)
    return data


def _with_section(data: bytes, key: SectionId, now: Wording) -> bytes:
    """Insert or update a section, and the headings above it; raises Unsafe."""
    for depth, heading in enumerate(key.under):
        page = page_of(data)
        if not any(section.key.path == (*key.under[:depth], heading) for section in page.sections):
            level = key.level - len(key.under) + depth
            data = section_edits.insert(page, heading, level, "", key.under[:depth])
    page = page_of(data)
    if section := _section_of(page, key):
        return section_edits.with_body(page, section, now.body or "")
    return section_edits.insert(page, now.title, key.level, now.body or "", key.under, now.below)


def _section_of(page: Page, key: SectionId) -> Section | None:
    return next((section for section in page.sections if section.key == key), None)


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
