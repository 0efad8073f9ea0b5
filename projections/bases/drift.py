"""Compare a page with its ledger: locate sections, find people's edits and copied texts; pure.

A copied text came with a copy of a file, of a home or of a whole store: word for word, the section has the text that it
has on another machine. It becomes an `entry_applied` that names the event `found`, and from then on the section has the
history it has there (`ledgers`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from eventlog.format.events import HUMAN, EntryApplied, KnowledgeEdited, Operation, SectionKey
from eventlog.projections.bases import sections
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.ledger import Ledger, Observation, digest_of, key_of
from eventlog.projections.bases.section_history import Spelling
from eventlog.projections.bases.sections import Page, Section, SectionId, Spot


def find_edits(
    ledger: Ledger, file: BaseFile, path: str, page: Page, spots: Mapping[SectionId, Spot]
) -> list[Observation]:
    """Find texts of the page that the log does not have; return events to append.

    Every text of a managed section that is neither the log's nor copied is a person's edit. `spots` are those of the
    sections before the edits: the event of a removed section names its spot.
    """
    observed, located = ledger.observed_digests(path), locate(page, ledger.expected_digests(path), ledger.headings)
    blank = max((spot.blank for spot in spots.values()), default=0)  # lines that ended the file before the edits
    found: list[Observation] = list(_copied_sections(ledger, path, page, located.values()))
    for key in sorted(ledger.managed, key=lambda key: (located[key].start if key in located else -1, key)):
        section = located.get(key)
        body = page.text(section) if section else None
        now = ledger.histories[key].now if key in ledger.histories else None
        is_expected = body == (now.body if now else None) or (key not in observed and body is None)
        # a heading without a text, where the section was absent, is in a new file for the sections below it
        is_bare = body == "" and not observed.get(key)
        if not (is_expected or is_bare) and sections.digest(body) != observed.get(key):
            spot = page.spot(section) if section else spots.get(key)
            if section and spot and not observed.get(key):  # the section is new
                spot = Spot(spot.previous, blank if page.is_last(section) else 0)
            copied = _copied_text(ledger, path, key, body, spot)
            found.append(copied or edit_event(file, ledger.headings[key], body, spot=spot))
    return found


def edit_event(
    file: BaseFile, at: Spelling, body: str | None, below: str = "", *, spot: Spot | None = None
) -> KnowledgeEdited:
    """Build the event that reports the text of a section."""
    operation: Operation = "delete" if body is None else "update" if body else "clear"
    return KnowledgeEdited(
        conversation_id=HUMAN,
        agent=HUMAN,
        project=file.project or None,
        key=SectionKey(heading=at.heading, path=file.base, level=at.level, under=at.under),
        operation=operation,
        content=body or None,
        below=below or None,
        previous=spot.previous if spot else None,
        blank=spot.blank if spot else 0,
    )


def locate(
    page: Page, expected: Mapping[SectionId, str], headings: Mapping[SectionId, Spelling]
) -> dict[SectionId, Section]:
    """Find the sections of the ledger on a page, no two of them the same; `expected` has their digests, "" if absent.

    A present section is in its place, or elsewhere with its text, or the only free section of its heading and level.
    An absent section is back only in its place, and only if no present section has moved there.
    """
    # the order of these claims makes locating stable: if `expected` is updated with what was found, the same page gives
    # the same sections again, so an edit is recorded once
    finder = _Finder(page, headings)
    present = {key: digest for key, digest in expected.items() if digest}
    finder.claim(present, lambda key: finder.in_place(key, present[key]))
    finder.claim(present, lambda key: finder.with_digest(finder.same_name(key), present[key]))
    finder.claim([key for key in expected if key not in present], lambda key: finder.in_place(key, ""))
    finder.claim(present, finder.only_free)
    return finder.found


class _Finder:
    """The sections of a page, and those claimed so far."""

    def __init__(self, page: Page, headings: Mapping[SectionId, Spelling]) -> None:
        self.found: dict[SectionId, Section] = {}
        self._page = page
        self._headings = headings
        self._claimed: set[Section] = set()
        self._by_key: dict[SectionId, list[Section]] = {}
        self._by_name: dict[tuple[str, int], list[Section]] = {}
        for section in page.sections:
            self._by_key.setdefault(section.key, []).append(section)
            self._by_name.setdefault((section.heading, section.level), []).append(section)

    def claim(self, keys: Iterable[SectionId], choose: Callable[[SectionId], Section | None]) -> None:
        """Claim the chosen section for each key that has none yet."""
        for key in keys:
            section = None if key in self.found else choose(key)
            if section:
                self.found[key] = section
                self._claimed.add(section)

    def same_name(self, key: SectionId) -> list[Section]:
        """List the free sections of that heading and level, in any place."""
        return self._free(self._by_name.get((key.heading, key.level)))

    def with_digest(self, among: Iterable[Section], digest: str) -> Section | None:
        """Return the first section with that digest."""
        return next((section for section in among if sections.digest(self._page.text(section)) == digest), None)

    def in_place(self, key: SectionId, digest: str) -> Section | None:
        """Return the free section in that place; of several, the section with the digest if any has it."""
        free = self._free(self._by_key.get(key))
        return (self.with_digest(free, digest) if len(free) > 1 else None) or next(iter(free), None)

    def only_free(self, key: SectionId) -> Section | None:
        """Return the only free section; the first, where the log has no headings above."""
        free = self.same_name(key)
        return free[0] if len(free) == 1 or (free and self._headings[key].under is None) else None

    def _free(self, found: Iterable[Section] | None) -> list[Section]:
        return [section for section in found or () if section not in self._claimed]


def _copied_sections(ledger: Ledger, path: str, page: Page, located: Collection[Section]) -> Iterator[EntryApplied]:
    """Find the sections without events here that have the text they have on another machine.

    Prefers the machine whose file is most like this; sections that were removed there are removed here as well.
    """
    count = Counter(section.key for section in page.sections)
    new = [
        section
        for section in page.sections
        if count[section.key] == 1 and section not in located and not ledger.has_events_of(section.key)
    ]
    if not (new and ledger.record.elsewhere):
        return
    digests = {section.key: sections.digest(page.text(section)) for section in new}
    spots = {section.key: page.spot(section) for section in new}
    texts = {(event.replica, key_of(event), digest_of(event)): event for event in ledger.record.elsewhere}
    last = {(event.replica, key_of(event)): event for event in ledger.record.elsewhere}
    agreement = Counter(machine for (machine, key), event in last.items() if digests.get(key, "") == digest_of(event))
    nearest = sorted({machine for machine, _ in last}, key=lambda machine: (-agreement[machine], machine or ""))
    used = set()
    for key, digest in digests.items():
        same = [(machine, key, digest) for machine in nearest if (machine, key, digest) in texts]
        # else the same heading below others, which may have been removed since
        same += [
            text
            for text in texts
            if text[2] == digest
            and text[1][:2] == key[:2]
            and text[1] != key
            and not (count[text[1]] or ledger.has_events_of(text[1]))
        ]
        if same:
            used.add(same[0][0])
            yield _found(texts[same[0]], path, spots[key])
    for (machine, key), event in last.items():
        is_absent = not (digest_of(event) or count[key] or ledger.has_events_of(key))
        if machine == nearest[0] and machine in used and is_absent:
            yield _found(event, path, None)


def _copied_text(ledger: Ledger, path: str, key: SectionId, body: str | None, spot: Spot | None) -> EntryApplied | None:
    """Find the entry of another machine that gave a managed section this text; None where a person did."""
    # an entry that was applied here before is no news: a person may go back to an older text
    for event in reversed(ledger.record.elsewhere) if body else ():
        is_text = isinstance(event, EntryApplied) and key_of(event) == key and event.digest == sections.digest(body)
        if is_text and isinstance(event, EntryApplied) and ledger.is_news(key, event.target):
            return _found(event, path, spot)
    return None


def _found(event: Observation, path: str, spot: Spot | None) -> EntryApplied:
    """Build the event that reports a section with the text that an event of another machine reports."""
    previous, blank = spot or (None, 0)
    if isinstance(event, EntryApplied):
        return replace(event, id="", ts="", replica=None, path=path, found=event.id, previous=previous, blank=blank)
    at = event.key
    return EntryApplied(
        conversation_id=event.conversation_id,
        project=event.project,
        target=event.id,
        path=path,
        heading=at.heading,
        level=at.level,
        digest=digest_of(event),
        under=at.under,
        found=event.id,
        previous=previous,
        blank=blank,
    )
