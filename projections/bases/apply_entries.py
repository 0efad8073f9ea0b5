"""Apply a ledger to a page: a file's page, or the page that the log alone would write; pure.

Withdrawals come first: their sections get back the text that the log has for them. Then the pending entries are tried
in the order of the log. An entry is applied if the result contains every line that a person wrote, merged where a
person has changed other lines of the section; else it waits, with the reason.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.format.events import KnowledgeEdited, PlanEntry
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.drift import edit_event
from eventlog.projections.bases.ledger import HeldEntry, Ledger, key_of
from eventlog.projections.bases.managed_page import ManagedPage, PageOrder
from eventlog.projections.bases.section_history import Spelling, Wording, lines_of, merged, missing
from eventlog.projections.bases.sections import Ambiguous, Page, Section, SectionId, Spot, Unsafe, page_of

REMOVED = "a person has removed the section"
EDITED = "a person has edited the section"
_SHOWN, _CHARS = 3, 60

Moment = tuple[str, str]  # time and id of the event that decides when an entry counts


class AppliedSection(NamedTuple):
    """A section that has the text of an event now; `body` None: removed."""

    key: SectionId
    at: Spelling
    event: str
    body: str | None
    meant: str | None
    replaced: tuple[str, ...] = ()  # lines it had before and has no more
    cascaded: bool = False  # removed with a section above it
    no_op: bool = False  # the section was so already: absent, or with this text
    spot: Spot | None = None
    withdraws: str = ""  # the entry whose text made way, where another wording is in force again


class LatestEntries(Struct):
    """The latest entry about a section, and the latest of another batch; answers in constant time."""

    seen: int = 0
    _first: tuple[Moment, str] | None = None
    _other: tuple[Moment, str] | None = None

    def add(self, entry: PlanEntry, moment: Moment) -> None:
        """Add an entry, in any order."""
        found = moment, _batch(entry)
        if self._first is None or found[0] > self._first[0]:
            self._other = self._other if self._first is None or self._first[1] == found[1] else self._first
            self._first = found
        elif found[1] != self._first[1] and (self._other is None or found[0] > self._other[0]):
            self._other = found

    def is_later_than(self, entry: PlanEntry, moment: Moment) -> bool:
        """Return whether an entry of another batch is later."""
        rivals = (latest for latest in (self._first, self._other) if latest and latest[1] != _batch(entry))
        return any(rival > moment for rival, _ in rivals)


class WriteResult(Struct):
    """A page with every applicable entry applied, and the events to append for it."""

    data: bytes
    sections: list[AppliedSection] = field(default_factory=list)
    texts: list[KnowledgeEdited] = field(default_factory=list)  # the log must have these before the file changes
    waiting: list[HeldEntry] = field(default_factory=list)


class _Hold(Exception):
    """An entry that must wait for a person."""


def apply_entries(
    ledger: Ledger, file: BaseFile, path: str, data: bytes | None, *, replace: bool = False
) -> WriteResult:
    """Undo withdrawn entries on a page, then apply pending entries; with `replace`, also over people's lines."""
    page = ManagedPage(ledger, path, data)
    return _Applier(ledger, file, path, page, replace=replace).apply()


class _Applier:
    """A run over a page."""

    def __init__(self, ledger: Ledger, file: BaseFile, path: str, page: ManagedPage, *, replace: bool) -> None:
        self._ledger = ledger
        self._file = file
        self._replace = replace
        self._observed = ledger.observed_digests(path)
        self._on = page
        self._latest: dict[SectionId, LatestEntries] = {}
        self._result = WriteResult(page.page.data)

    def apply(self) -> WriteResult:
        for key in sorted(self._ledger.managed, key=lambda key: (len(key.under), key)):
            self._restore(key)
        pending, waiting = self._ledger.pending, self._tried(self._ledger.pending)
        while len(waiting) < len(pending):  # a heading that one waited for may have come with another
            pending = [held.entry for held in waiting]
            waiting = self._tried(pending)
        waiting = [*self._ledger.held, *waiting]
        self._result.waiting += self._still_open(waiting)
        self._result.data = self._on.page.data
        return self._result

    # ------------------------------------------------------------------------------------------ withdrawals

    @cached_property
    def _places(self) -> PageOrder:
        return PageOrder(self._ledger.observations)

    def _restore(self, key: SectionId) -> None:
        """Bring a section to its wording in force, where that has changed since the section was last observed."""
        now = self._ledger.histories[key].now if key in self._ledger.histories else None
        body = now.body if now else None
        if sections.digest(body) == self._observed.get(key, ""):
            return
        last = next((event.target for event in reversed(self._ledger.record.applied) if key_of(event) == key), "")
        event = now.event if now else last
        section = self._on.located.get(key)
        before = self._on.page.text(section) if section else None
        try:
            data = self._restored(key, section, now)
        except Unsafe as error:
            if event in self._ledger.entries:
                self._result.waiting.append(HeldEntry(self._ledger.entries[event], error.what))
            return
        self._on.expected[key] = sections.digest(body)
        page = self._on.page
        self._on.change(data)
        spot = page.spot(section) if section else self._spot_of_new(page, self._on.located.get(key))
        replaced = tuple(missing(_texts(before), lines_of(body)))
        meant = now.meant if now else None
        at = self._ledger.headings[key]
        self._result.sections.append(AppliedSection(key, at, event, body, meant, replaced, spot=spot, withdraws=last))

    def _restored(self, key: SectionId, section: Section | None, now: Wording | None) -> bytes:
        """Return the page with a section at its wording in force; raises Unsafe."""
        page = self._on.page
        if now is None or now.body is None:
            return section_edits.taken_back(page, section, self._places.blank_before(key)) if section else page.data
        if section:
            return section_edits.with_body(page, section, now.body)
        return self._reinserted(key, now, now.body)

    def _reinserted(self, key: SectionId, now: Wording, body: str) -> bytes:
        """Return the page with a section back in its place, else last; raises Unsafe."""
        page, title, below = self._on.page, now.title, now.below
        try:
            line, blank = self._places.give_back(key, now.event, page)
            data = section_edits.insert(page, title, key.level, body, key.under, below, at=line, blank=blank)
            if any(section.key == key for section in page_of(data).sections):
                return data
        except Unsafe:
            pass
        try:
            return section_edits.insert(page, title, key.level, body, key.under or None, below)
        except Unsafe:
            return section_edits.insert(page, title, key.level, body, None, below)

    # ------------------------------------------------------------------------------------------ pending entries

    def _tried(self, entries: Sequence[PlanEntry]) -> list[HeldEntry]:
        """Apply entries that nothing supersedes; return those that wait."""
        waiting = []
        for entry in entries:
            if self._is_superseded(entry):
                continue
            try:
                self._apply(entry)
            except (_Hold, Unsafe) as reason:
                waiting.append(HeldEntry(entry, reason.what if isinstance(reason, Unsafe) else str(reason)))
        return waiting

    def _is_superseded(self, entry: PlanEntry) -> bool:
        """Return whether a later entry has been applied to the section that an entry means."""
        return self._latest_of(self._on.meant_by(entry)).is_later_than(entry, self._ledger.moment(entry))

    def _latest_of(self, key: SectionId) -> LatestEntries:
        """Return the latest entries applied to a section; looks at each wording once."""
        latest = self._latest.setdefault(key, LatestEntries())
        for wording in self._on.history(key).valid[latest.seen :]:
            latest.seen += 1
            if entry := self._ledger.entries.get(wording.event):
                latest.add(entry, self._ledger.moment(entry))
        return latest

    def _still_open(self, waiting: Sequence[HeldEntry]) -> list[HeldEntry]:
        """Choose the entries that no later entry supersedes, and whose text the section does not have anyway."""
        meant = {held.entry.id: self._on.meant_by(held.entry) for held in waiting}
        moment = self._ledger.moment
        wanted: dict[SectionId, LatestEntries] = {}
        for entry, _ in waiting:
            wanted.setdefault(meant[entry.id], LatestEntries()).add(entry, moment(entry))
        found = []
        for held in waiting:
            entry, key = held.entry, meant[held.entry.id]
            is_older = wanted[key].is_later_than(entry, moment(entry))
            if not (is_older or self._is_superseded(entry) or self._is_satisfied(entry, key)):
                found.append(held)
        return found

    def _is_satisfied(self, entry: PlanEntry, key: SectionId) -> bool:
        """Return whether every section that an entry could mean has its text already."""
        operation, content = self._ledger.change(entry)
        if operation == "delete":
            return False
        target, page = entry.key, self._on.page
        found = page.candidates(target.heading, target.level, target.under)
        if len(found) <= 1:
            found = [section for section in page.sections if self._on.key(section) == key][:1]
        return bool(found) and all(page.text(section) == content for section in found)

    def _apply(self, entry: PlanEntry) -> None:
        """Apply one entry; raises _Hold or Unsafe."""
        target = entry.key
        found = self._on.page.candidates(target.heading, target.level, target.under)
        if len(found) > 1:
            raise Ambiguous(found)
        operation, content = self._ledger.change(entry)
        if operation == "delete":
            self._delete(entry, found[0]) if found else self._delete_nothing(entry)
        elif found:
            self._update(entry, found[0], content)
        else:
            self._create(entry, content)

    def _delete_nothing(self, entry: PlanEntry) -> None:
        key = self._on.absent(entry)
        named = Spelling(entry.key.heading.strip(), entry.key.level, entry.key.under or ())
        at = self._ledger.headings.get(key, named)
        self._result.sections.append(AppliedSection(key, at, entry.id, None, None, no_op=True))
        self._on.record_entry(key, at.heading, entry.id, None, None)

    def _delete(self, entry: PlanEntry, section: Section) -> None:
        on, page = self._on, self._on.page
        below = page.below(section)
        persons = [line for part in (section, *below) for line in on.persons_lines(part)]
        if persons and not self._may_replace(entry):
            raise _Hold(_would_remove(persons))
        source = page.source_below(section)
        if persons and (source or not on.is_recorded(section)):
            self._record_text(section, source)
        lines = tuple(line for part in (section, *below) for line in [part.source, *_texts(page.text(part))])
        self._record(entry, section, None, None, lines)
        for part in below:
            if on.key(part) in on.managed:
                self._record(entry, part, None, None, (), cascaded=True)
        on.change(section_edits.without(page, section, subsections=True))

    def _update(self, entry: PlanEntry, section: Section, content: str) -> None:
        before = self._on.page.text(section)
        body = self._body(entry, section, before, content)
        data = section_edits.with_body(self._on.page, section, body)
        if not self._on.is_recorded(section):
            self._record_text(section)
        lines = missing(_texts(before), lines_of(body))
        self._record(entry, section, body, content, lines, no_op=before == body)
        self._on.change(data)

    def _create(self, entry: PlanEntry, content: str) -> None:
        target = entry.key
        removed = self._on.history(self._on.absent(entry)).is_removed_by_person
        if removed and not self._may_replace(entry):
            raise _Hold(REMOVED)
        page = self._on.page
        self._on.change(section_edits.insert(page, target.heading, target.level, content, target.under))
        section = self._on.page.find(target.heading, target.level, target.under)
        assert section is not None
        self._record(entry, section, content, content, (), spot=self._spot_of_new(page, section))

    def _spot_of_new(self, before: Page, section: Section | None) -> Spot | None:
        """Return the spot of an inserted section, with the blank lines that ended the file before."""
        page = self._on.page
        if section is None:
            return None
        return Spot(page.spot(section).previous, before.blank if page.is_last(section) else 0)

    def _body(self, entry: PlanEntry, section: Section, before: str, content: str) -> str:
        """Return the body that the section gets; raises _Hold."""
        if before == content or self._may_replace(entry):
            return content
        history = self._on.history(self._on.key(section))
        present, wanted, base = lines_of(before), lines_of(content), history.base
        persons = [line for line, is_persons in history.marked(before) if is_persons and line.strip()]
        # two ways to change the body and lose no line of a person: merge both changes of the last entry's text; or, if
        # people have only added lines to it, take the new text where that has the added lines anyway
        both = merged(lines_of(base), present, wanted) if base is not None else None
        only_added = not missing(_texts(base), present)
        for lines in (both, wanted if only_added else None):
            if lines is not None and not missing(persons, lines):
                return sections.canonical("\n".join(lines))
        lost = missing(persons, wanted)
        raise _Hold(_would_remove(lost) if lost else EDITED)

    def _may_replace(self, entry: PlanEntry) -> bool:
        return self._replace or self._ledger.is_decided(entry)

    def _record_text(self, section: Section, below: str = "") -> None:
        """Record the text of a section that the next change removes."""
        spelling, body = self._on.spelling(section), self._on.page.text(section)
        spot = self._on.page.spot(section)
        self._result.texts.append(edit_event(self._file, spelling, body, below, spot=spot))
        text = Wording("", "", "", section.source, body, None, person=True, below=below)
        self._on.record(self._on.key(section), text)

    def _record(
        self, entry: PlanEntry, section: Section, body: str | None, meant: str | None, replaced: Iterable[str], *,
        cascaded: bool = False, no_op: bool = False, spot: Spot | None = None,
    ) -> None:  # fmt: skip
        """Record the text that a section gets from an entry."""
        key, at, spot = self._on.key(section), self._on.spelling(section), spot or self._on.page.spot(section)
        applied = AppliedSection(key, at, entry.id, body, meant, tuple(replaced), cascaded, no_op, spot)
        self._result.sections.append(applied)
        self._on.record_entry(key, section.source, entry.id, body, meant)


def _batch(entry: PlanEntry) -> str:
    """Name the batch of an entry; an entry without a batch is a batch of its own."""
    return f"batch {entry.batch}" if entry.batch is not None else f"entry {entry.id}"


def _would_remove(lines: list[str]) -> str:
    shown = "; ".join(line.strip()[:_CHARS] for line in lines[:_SHOWN])
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"would remove {len(lines)} {'line' if len(lines) == 1 else 'lines'} you wrote: {shown}{more}"


def _texts(body: str | None) -> list[str]:
    return [line for line in lines_of(body) if line.strip()]
