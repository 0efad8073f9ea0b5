"""Plan entries onto a page, be it a file's or what the log itself makes of a base; pure.

First what was taken back gives the text back, then the pending entries are tried in the order of the log. An entry
whose result keeps every line a person wrote is carried out, merged where a person has changed other lines of the
section; all else waits, with the reason.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.events import KnowledgeEdited, PlanEntry
from eventlog.projections.bases import sections
from eventlog.projections.bases.drawn import drawn
from eventlog.projections.bases.drift import locate, text_event
from eventlog.projections.bases.ledger import HeldEntry, History, Ledger, Said, Spelling, is_same_batch
from eventlog.projections.bases.merging import lines_of, merged, missing
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.bases.sections import Ambiguous, Page, Section, SectionId, Unsafe, page_of

REMOVED = "a person has removed the section"
EDITED = "a person has edited the section"
_SHOWN, _CHARS = 3, 60


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


class WriteResult(Struct):
    """A page after everything that could be carried out, and what is to be told of it."""

    data: bytes
    arrivals: list[Arrival] = field(default_factory=list)
    texts: list[KnowledgeEdited] = field(default_factory=list)  # what the log must have before the file changes
    waiting: list[HeldEntry] = field(default_factory=list)


class _Waits(Exception):
    """An entry that is not for us to carry out."""


def carry(ledger: Ledger, place: BaseFile, path: str, data: bytes | None, *, replace: bool = False) -> WriteResult:
    """Carry out on a page whatever is due; with `replace` the last word wins over a person's lines."""
    return _Carrier(ledger, place, path, drawn(ledger) if data is None else data, replace=replace).carry()


class _Carrier:
    """One page that changes step by step."""

    def __init__(self, ledger: Ledger, place: BaseFile, path: str, data: bytes, *, replace: bool) -> None:
        self._ledger = ledger
        self._place = place
        self._path = path
        self._replace = replace
        self._observed = ledger.last_known_digests(path)
        self._histories = dict(ledger.histories)  # with what is said in this run
        self._managed = set(ledger.managed)
        self._done = WriteResult(data)
        self._look()

    def carry(self) -> WriteResult:
        for key in sorted(self._ledger.managed, key=lambda key: len(key.under)):
            self._give_back(key)
        waiting = [*self._ledger.held]
        for entry in self._ledger.pending:
            if self._is_overtaken(entry):
                continue
            try:
                self._try(entry)
            except (_Waits, Unsafe) as reason:
                waiting.append(HeldEntry(entry, reason.what if isinstance(reason, Unsafe) else str(reason)))
        self._done.waiting += self._in_force(waiting)
        return self._done

    def _look(self) -> None:
        """Parse the page as it is now."""
        self._page = page_of(self._done.data)
        self._there = locate(self._page, self._ledger, self._path)
        self._names = {section: key for key, section in self._there.items()}

    def _change(self, data: bytes) -> None:
        if data != self._done.data:
            self._done.data = data
            self._look()

    # ------------------------------------------------------------------------------------------ what was taken back

    def _give_back(self, key: SectionId) -> None:
        """Bring a section to what the log says of it, where that has changed since it was written."""
        history = self._ledger.histories.get(key)
        now = history.now if history else None
        body = now.body if now else None
        if sections.digest(body) == self._observed.get(key, ""):
            return
        event = now.event if now else self._ledger.last_arrived(key)
        section, before = self._there.get(key), None
        try:
            if body is None and section:
                before = self._page.text(section)
                self._change(sections.without(self._page, section, subsections=False))
            elif section and body is not None:
                before = self._page.text(section)
                self._change(sections.with_body(self._page, section, body))
            elif now and body is not None:
                self._change(_put(self._page, key, now.title, body, now.below))
        except Unsafe as error:
            if event in self._ledger.entries:
                self._done.waiting.append(HeldEntry(self._ledger.entries[event], error.what))
            return
        gone = tuple(missing(_texts(before), lines_of(body)))
        meant = now.meant if now else None
        self._done.arrivals.append(Arrival(key, self._ledger.spelled[key], event, body, meant, gone))

    # ------------------------------------------------------------------------------------------ what is pending

    def _meant(self, entry: PlanEntry) -> SectionId:
        found = self._page.candidates(entry.key.heading, entry.key.level, entry.key.under)
        if len(found) == 1:
            return self._names.get(found[0], found[0].key)
        return self._absent(entry)

    def _absent(self, entry: PlanEntry) -> SectionId:
        """The section the log knows by that name and the page has not, else a new one."""
        name = SectionId.of(entry.key.heading, entry.key.level, entry.key.under)
        here = {self._key(section) for section in self._page.sections}
        known = [key for key in self._histories if key[:2] == name[:2] and key not in here]
        known = [key for key in known if entry.key.under is None or _is_part(name.under, key.under)]
        return name if name in known or len(known) != 1 else known[0]

    def _is_overtaken(self, entry: PlanEntry) -> bool:
        """Whether an entry declared later has reached the section it means."""
        events = [said.event for said in self._history_of(self._meant(entry)).valid]
        later = [self._ledger.entries[event] for event in events if event in self._ledger.entries]
        moment = self._ledger.moment
        return any(moment(other) > moment(entry) for other in later if not is_same_batch(other, entry))

    def _in_force(self, waiting: Sequence[HeldEntry]) -> list[HeldEntry]:
        """Those that no later entry has overtaken, and that want what the section does not say anyway."""
        meant = {one.entry.id: self._meant(one.entry) for one in waiting}
        found = []
        for one in waiting:
            key, moment = meant[one.entry.id], self._ledger.moment
            later = [other.entry for other in waiting if moment(other.entry) > moment(one.entry)]
            newer = any(meant[other.id] == key and not is_same_batch(other, one.entry) for other in later)
            if not (newer or self._is_overtaken(one.entry) or self._is_said(one.entry, key)):
                found.append(one)
        return found

    def _is_said(self, entry: PlanEntry, key: SectionId) -> bool:
        section = next((section for section in self._page.sections if self._key(section) == key), None)
        operation, content = self._ledger.change(entry)
        return section is not None and operation != "delete" and self._page.text(section) == content

    def _try(self, entry: PlanEntry) -> None:
        """Carry out one entry; raises _Waits or Unsafe."""
        target = entry.key
        found = self._page.candidates(target.heading, target.level, target.under)
        if len(found) > 1:
            raise Ambiguous(sections.ambiguity(found))
        operation, content = self._ledger.change(entry)
        if operation == "delete":
            self._delete(entry, found[0] if found else None)
        elif found:
            self._update(entry, found[0], content)
        else:
            self._create(entry, content)

    def _delete(self, entry: PlanEntry, section: Section | None) -> None:
        if section is None:
            key = self._absent(entry)
            named = Spelling(entry.key.heading.strip(), entry.key.level, entry.key.under or ())
            at = self._ledger.spelled.get(key, named)
            self._done.arrivals.append(Arrival(key, at, entry.id, None, None, idle=True))
            return
        page = self._page
        below = page.below(section)
        gone = [line for one in (section, *below) for line in self._persons(one)]
        if gone and not self._may_replace(entry):
            raise _Waits(_would_remove(gone))
        source = page.source_below(section)
        if source or not self._is_told(section):
            self._tell_text(section, source)
        lines = tuple(line for one in (section, *below) for line in [one.source, *_texts(page.text(one))])
        self._arrive(entry, section, None, None, lines)
        for one in below:
            if self._key(one) in self._managed:
                self._arrive(entry, one, None, None, (), follows=True)
        self._change(sections.without(page, section, subsections=True))

    def _update(self, entry: PlanEntry, section: Section, content: str) -> None:
        body = self._page.text(section)
        result = self._result(entry, section, body, content)
        data = sections.with_body(self._page, section, result)
        if not self._is_told(section):
            self._tell_text(section)
        self._arrive(entry, section, result, content, tuple(missing(_texts(body), lines_of(result))))
        self._change(data)

    def _create(self, entry: PlanEntry, content: str) -> None:
        target, key = entry.key, self._absent(entry)
        now = self._history_of(key).now
        if now and now.person and now.body is None and not self._may_replace(entry):
            raise _Waits(REMOVED)
        self._change(sections.insert(self._page, target.heading, target.level, content, target.under))
        section = self._page.find(target.heading, target.level, target.under)
        assert section is not None
        self._arrive(entry, section, content, content, ())

    def _result(self, entry: PlanEntry, section: Section, body: str, content: str) -> str:
        """The body the section is to have; raises _Waits."""
        if body == content or self._may_replace(entry):
            return content
        history = self._history(section)
        mine, wanted, base = lines_of(body), lines_of(content), history.base
        persons = [line for line, is_persons in history.marked(body) if is_persons and line.strip()]
        both = merged(lines_of(base), mine, wanted) if base is not None else None
        only_added = not missing(_texts(base), mine)
        for lines in (both, wanted if only_added else None):
            if lines is not None and not missing(persons, lines):
                return sections.canonical("\n".join(lines))
        lost = missing(persons, wanted)
        raise _Waits(_would_remove(lost) if lost else EDITED)

    # ------------------------------------------------------------------------------------------ who wrote what

    def _may_replace(self, entry: PlanEntry) -> bool:
        return self._replace or self._ledger.is_decided(entry)

    def _history(self, section: Section) -> History:
        return self._history_of(self._key(section))

    def _history_of(self, key: SectionId) -> History:
        return self._histories.get(key) or History((), set())

    def _key(self, section: Section) -> SectionId:
        return self._names.get(section, section.key)

    def _persons(self, section: Section) -> list[str]:
        """The lines of a section that a person wrote, its heading first."""
        history = self._history(section)
        lines = [line for line, is_persons in history.marked(self._page.text(section)) if is_persons and line.strip()]
        return [section.source, *lines] if history.is_persons else lines

    def _is_told(self, section: Section) -> bool:
        """Whether the log has the body of the section."""
        now = self._history(section).now
        return self._key(section) in self._managed or (now is not None and now.body == self._page.text(section))

    def _tell_text(self, section: Section, below: str = "") -> None:
        body, key = self._page.text(section), self._key(section)
        self._done.texts.append(text_event(self._place, self._spelling(section), body, below))
        said = Said("", "", "", section.source, body, None, person=True, below=below)
        self._histories[key] = self._history_of(key).then(said)

    def _spelling(self, section: Section) -> Spelling:
        return self._ledger.spelled.get(self._key(section), Spelling(section.source, section.level, section.above))

    def _arrive(
        self, entry: PlanEntry, section: Section, body: str | None, meant: str | None, gone: Iterable[str], *,
        follows: bool = False,
    ) -> None:  # fmt: skip
        at, key = self._spelling(section), self._key(section)
        self._done.arrivals.append(Arrival(key, at, entry.id, body, meant, tuple(gone), follows))
        said = Said("", "", entry.id, section.source, body, meant, person=False)
        self._histories[key] = self._history_of(key).then(said)
        self._managed.add(key)


def _put(page: Page, key: SectionId, title: str, body: str, below: str) -> bytes:
    """The page with a section back in its place, at the end where that is gone."""
    try:
        return sections.insert(page, title, key.level, body, key.under or None, below)
    except Unsafe:
        return sections.insert(page, title, key.level, body, None, below)


def _would_remove(lines: list[str]) -> str:
    shown = "; ".join(line.strip()[:_CHARS] for line in lines[:_SHOWN])
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"would remove {len(lines)} {'line' if len(lines) == 1 else 'lines'} you wrote: {shown}{more}"


def _texts(body: str | None) -> list[str]:
    return [line for line in lines_of(body) if line.strip()]


def _is_part(under: Iterable[str], above: Iterable[str]) -> bool:
    left = iter(above)
    return all(name in left for name in under)
