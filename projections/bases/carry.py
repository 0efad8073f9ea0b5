"""Plan entries onto a page, be it a file's or what the log itself makes of a base; pure.

First what was taken back gives the text back, then the pending entries are tried in the order of the log. An entry
whose result keeps every line a person wrote is carried out, merged where a person has changed other lines of the
section; all else waits, with the reason.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.format.events import KnowledgeEdited, PlanEntry
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.drift import text_event
from eventlog.projections.bases.ledger import HeldEntry, Ledger
from eventlog.projections.bases.managed_page import ManagedPage, render_base
from eventlog.projections.bases.page_order import PageOrder
from eventlog.projections.bases.section_history import Spelling, Wording, lines_of, merged, missing
from eventlog.projections.bases.sections import Ambiguous, Section, SectionId, Spot, Unsafe, page_of

REMOVED = "a person has removed the section"
EDITED = "a person has edited the section"
_SHOWN, _CHARS = 3, 60


Moment = tuple[str, str]  # ts and id of what decides when an entry counts


class Arrival(NamedTuple):
    """A section that now says what an event wants; `body` None: it is gone."""

    key: SectionId
    at: Spelling
    event: str
    body: str | None
    meant: str | None
    gone: tuple[str, ...] = ()  # lines that had been there
    follows: bool = False  # went with a section above it
    idle: bool = False  # there was nothing to delete
    spot: Spot | None = None  # of the page before it leaves, or after it came


class LatestEntries(Struct):
    """The latest entry about a section, and the latest that was not declared with it; a question costs the same."""

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


class WriteResult(Struct):
    """A page after everything that could be carried out, and what is to be told of it."""

    data: bytes
    arrivals: list[Arrival] = field(default_factory=list)
    texts: list[KnowledgeEdited] = field(default_factory=list)  # what the log must have before the file changes
    waiting: list[HeldEntry] = field(default_factory=list)


class _Waits(Exception):
    """An entry that is not for us to carry out."""


def carry(ledger: Ledger, file: BaseFile, path: str, data: bytes | None, *, replace: bool = False) -> WriteResult:
    """Carry out on a page whatever is due; with `replace` the last word wins over a person's lines."""
    page = ManagedPage(ledger, path, render_base(ledger) if data is None else data)
    return _Carrier(ledger, file, path, page, replace=replace).carry()


class _Carrier:
    """One run over one page."""

    def __init__(self, ledger: Ledger, file: BaseFile, path: str, page: ManagedPage, *, replace: bool) -> None:
        self._ledger = ledger
        self._file = file
        self._replace = replace
        self._observed = ledger.last_known_digests(path)
        self._on = page
        self._order: PageOrder | None = None  # read once a section returns
        self._reached: dict[SectionId, LatestEntries] = {}
        self._result = WriteResult(page.data)

    def carry(self) -> WriteResult:
        for key in sorted(self._ledger.managed, key=lambda key: (len(key.under), key)):
            self._give_back(key)
        waiting = [*self._ledger.held]
        for entry in self._ledger.pending:
            if self._is_overtaken(entry):
                continue
            try:
                self._try(entry)
            except (_Waits, Unsafe) as reason:
                waiting.append(HeldEntry(entry, reason.what if isinstance(reason, Unsafe) else str(reason)))
        self._result.waiting += self._in_force(waiting)
        self._result.data = self._on.data
        return self._result

    # ------------------------------------------------------------------------------------------ what was taken back

    def _give_back(self, key: SectionId) -> None:
        """Bring a section to what the log says of it, where that has changed since it was written."""
        now = self._ledger.histories[key].now if key in self._ledger.histories else None
        body = now.body if now else None
        if sections.digest(body) == self._observed.get(key, ""):
            return
        event = now.event if now else self._ledger.last_arrived(key)
        section = self._on.located.get(key)
        before = self._on.page.text(section) if section else None
        try:
            data = self._given_back(key, section, now)
        except Unsafe as error:
            if event in self._ledger.entries:
                self._result.waiting.append(HeldEntry(self._ledger.entries[event], error.what))
            return
        self._on.record_return(key, body)
        spot = self._on.page.spot(section) if section else None
        self._on.change(data)
        gone = tuple(missing(_texts(before), lines_of(body)))
        meant = now.meant if now else None
        self._result.arrivals.append(Arrival(key, self._ledger.spelled[key], event, body, meant, gone, spot=spot))

    def _given_back(self, key: SectionId, section: Section | None, now: Wording | None) -> bytes:
        """Return the page with a section as it is to be again; raises Unsafe."""
        page = self._on.page
        if now is None or now.body is None:
            return section_edits.taken_back(page, section) if section else page.data
        if section:
            return section_edits.with_body(page, section, now.body)
        return self._put(key, now, now.body)

    def _put(self, key: SectionId, now: Wording, body: str) -> bytes:
        """Return the page with a section back where it stood, else last; raises Unsafe."""
        page, title, below = self._on.page, now.title, now.below
        self._order = self._order or PageOrder(self._ledger.observations)
        try:
            line, blank = self._order.give_back(key, now.event, page)
            data = section_edits.insert(page, title, key.level, body, key.under, below, at=line, blank=blank)
            if any(section.key == key for section in page_of(data).sections):
                return data
        except Unsafe:
            pass
        try:
            return section_edits.insert(page, title, key.level, body, key.under or None, below)
        except Unsafe:
            return section_edits.insert(page, title, key.level, body, None, below)

    # ------------------------------------------------------------------------------------------ what is pending

    def _is_overtaken(self, entry: PlanEntry) -> bool:
        """Tell whether an entry declared later has reached the section it means."""
        return self._arrived_at(self._on.meant_by(entry)).is_later_than(entry, self._ledger.moment(entry))

    def _arrived_at(self, key: SectionId) -> LatestEntries:
        """Return the newest entries that have reached a section; each is looked at once."""
        latest = self._reached.setdefault(key, LatestEntries())
        for wording in self._on.history(key).valid[latest.seen :]:
            latest.seen += 1
            if entry := self._ledger.entries.get(wording.event):
                latest.add(entry, self._ledger.moment(entry))
        return latest

    def _in_force(self, waiting: Sequence[HeldEntry]) -> list[HeldEntry]:
        """Choose those that no later entry has overtaken, and that want what the section does not say anyway."""
        meant = {held.entry.id: self._on.meant_by(held.entry) for held in waiting}
        moment = self._ledger.moment
        wanted: dict[SectionId, LatestEntries] = {}
        for entry, _ in waiting:
            wanted.setdefault(meant[entry.id], LatestEntries()).add(entry, moment(entry))
        found = []
        for held in waiting:
            entry, key = held.entry, meant[held.entry.id]
            newer = wanted[key].is_later_than(entry, moment(entry))
            if not (newer or self._is_overtaken(entry) or self._is_said(entry, key)):
                found.append(held)
        return found

    def _is_said(self, entry: PlanEntry, key: SectionId) -> bool:
        """Tell whether the section says it already; where several answer to the entry, whether all of them do."""
        operation, content = self._ledger.change(entry)
        if operation == "delete":
            return False
        target, page = entry.key, self._on.page
        found = page.candidates(target.heading, target.level, target.under)
        if len(found) > 1:
            return all(page.text(section) == content for section in found)
        return self._on.says(key, content)

    def _try(self, entry: PlanEntry) -> None:
        """Carry out one entry; raises _Waits or Unsafe."""
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
        at = self._ledger.spelled.get(key, named)
        self._result.arrivals.append(Arrival(key, at, entry.id, None, None, idle=True))
        self._on.record_entry(key, at.heading, entry.id, None, None)

    def _delete(self, entry: PlanEntry, section: Section) -> None:
        on, page = self._on, self._on.page
        below = page.below(section)
        persons = [line for part in (section, *below) for line in on.persons_lines(part)]
        if persons and not self._may_replace(entry):
            raise _Waits(_would_remove(persons))
        source = page.source_below(section)
        if persons and (source or not on.is_recorded(section)):
            self._tell_text(section, source)
        lines = tuple(line for part in (section, *below) for line in [part.source, *_texts(page.text(part))])
        self._arrive(entry, section, None, None, lines)
        for part in below:
            if on.key(part) in on.managed:
                self._arrive(entry, part, None, None, (), follows=True)
        on.change(section_edits.without(page, section, subsections=True))

    def _update(self, entry: PlanEntry, section: Section, content: str) -> None:
        body = self._on.page.text(section)
        result = self._body(entry, section, body, content)
        data = section_edits.with_body(self._on.page, section, result)
        if not self._on.is_recorded(section):
            self._tell_text(section)
        self._arrive(entry, section, result, content, tuple(missing(_texts(body), lines_of(result))))
        self._on.change(data)

    def _create(self, entry: PlanEntry, content: str) -> None:
        target = entry.key
        removed = self._on.history(self._on.absent(entry)).is_removed_by_person
        if removed and not self._may_replace(entry):
            raise _Waits(REMOVED)
        self._on.change(section_edits.insert(self._on.page, target.heading, target.level, content, target.under))
        section = self._on.page.find(target.heading, target.level, target.under)
        assert section is not None
        self._arrive(entry, section, content, content, ())

    def _body(self, entry: PlanEntry, section: Section, body: str, content: str) -> str:
        """Return the body the section is to have; raises _Waits."""
        if body == content or self._may_replace(entry):
            return content
        history = self._on.history(self._on.key(section))
        mine, wanted, base = lines_of(body), lines_of(content), history.base
        persons = [line for line, is_persons in history.marked(body) if is_persons and line.strip()]
        both = merged(lines_of(base), mine, wanted) if base is not None else None
        only_added = not missing(_texts(base), mine)
        for lines in (both, wanted if only_added else None):
            if lines is not None and not missing(persons, lines):
                return sections.canonical("\n".join(lines))
        lost = missing(persons, wanted)
        raise _Waits(_would_remove(lost) if lost else EDITED)

    def _may_replace(self, entry: PlanEntry) -> bool:
        return self._replace or self._ledger.is_decided(entry)

    def _tell_text(self, section: Section, below: str = "") -> None:
        spelling, body = self._on.spelling(section), self._on.page.text(section)
        spot = self._on.page.spot(section)
        self._result.texts.append(text_event(self._file, spelling, body, below, spot=spot))
        self._on.record_text(section, below)

    def _arrive(
        self, entry: PlanEntry, section: Section, body: str | None, meant: str | None, gone: Iterable[str], *,
        follows: bool = False,
    ) -> None:  # fmt: skip
        key, at = self._on.key(section), self._on.spelling(section)
        spot = self._on.page.spot(section)
        self._result.arrivals.append(Arrival(key, at, entry.id, body, meant, tuple(gone), follows, spot=spot))
        self._on.record_entry(key, section.source, entry.id, body, meant)


def _would_remove(lines: list[str]) -> str:
    shown = "; ".join(line.strip()[:_CHARS] for line in lines[:_SHOWN])
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"would remove {len(lines)} {'line' if len(lines) == 1 else 'lines'} you wrote: {shown}{more}"


def _texts(body: str | None) -> list[str]:
    return [line for line in lines_of(body) if line.strip()]
