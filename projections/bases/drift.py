"""Compare a file with the log: find people's edits, and texts of entries that came with a copy; pure."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from eventlog.format.events import HUMAN, EntryApplied, KnowledgeEdited, Operation, SectionKey
from eventlog.projections.bases import sections
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.ledger import Ledger, Told, digest_of, key_of
from eventlog.projections.bases.section_history import Spelling
from eventlog.projections.bases.sections import Page, Section, SectionId, Spot


def news(ledger: Ledger, file: BaseFile, path: str, page: Page, seen: Mapping[SectionId, Spot]) -> list[Told]:
    """List what the file says and the log does not know, as events still to be stored.

    `seen` has the spots of its sections when it was last at rest: one that a person has removed is told with its own.

    A text that the section had on another machine, word for word, came with a copy of the file: nobody here wrote it.
    Where this file is managed already, that is so for entries that are new here; a person may go back to an older text.
    Any other text of a section the log has written is a person's edit. A heading without a text, where the section was
    gone, is none: a file made anew has it for what stands under it.
    """
    observed, there = ledger.last_known_digests(path), locate(page, ledger.stood(path), ledger.spelled)
    found: list[Told] = list(came_along(ledger, path, page, there.values()))
    for key in sorted(ledger.managed, key=lambda key: (there[key].start if key in there else -1, key)):
        body = page.text(there[key]) if key in there else None
        now = ledger.histories[key].now if key in ledger.histories else None
        is_known = body == (now.body if now else None) or (key not in observed and body is None)
        is_bare = body == "" and not observed.get(key)
        if not (is_known or is_bare) and sections.digest(body) != observed.get(key):
            spot = page.spot(there[key]) if key in there else seen.get(key)
            copied = new_here(ledger, path, key, body, spot)
            found.append(copied or text_event(file, ledger.spelled[key], body, spot=spot))
    return found


def arrived(arrivals: Iterable[EntryApplied], page: Page) -> Iterator[EntryApplied]:
    """Pick those that are on the page: what was about to be told when a run broke off after its write."""
    for arrival in arrivals:
        alike = [section for section in page.sections if section.key == key_of(arrival)]
        bodies = [sections.digest(page.text(section)) for section in alike]
        if arrival.digest in bodies or not (arrival.digest or bodies):
            yield arrival


def text_event(
    file: BaseFile, at: Spelling, body: str | None, below: str = "", *, spot: Spot | None = None
) -> KnowledgeEdited:
    """Build the event that says what a section of the file says."""
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
    page: Page, stood: Mapping[SectionId, str], spelled: Mapping[SectionId, Spelling]
) -> dict[SectionId, Section]:
    """Find the sections of a page that the log knows, no two of them the same.

    `stood` has the digest each was last known to have, "" where it was gone. What was there is where it stood, or says
    elsewhere what it said, or is the only section of its heading and level that is nothing else. What was gone is
    there again only where it had stood, and only if nothing that was there has moved to that place. On one page, a
    `stood` that follows from what was found finds the same texts again: edits are recorded once.
    """
    finder = _Finder(page, spelled)
    there = {key: digest for key, digest in stood.items() if digest}
    finder.claim(there, lambda key: finder.in_place(key, there[key]))
    finder.claim(there, lambda key: finder.saying(finder.alike(key), there[key]))
    finder.claim([key for key in stood if key not in there], lambda key: finder.in_place(key, ""))
    finder.claim(there, finder.only)
    return finder.found


class _Finder:
    """The sections of a page, and which of them are found."""

    def __init__(self, page: Page, spelled: Mapping[SectionId, Spelling]) -> None:
        self.found: dict[SectionId, Section] = {}
        self._page = page
        self._spelled = spelled
        self._claimed: set[Section] = set()
        self._at: dict[SectionId, list[Section]] = {}
        self._named: dict[tuple[str, int], list[Section]] = {}
        for section in page.sections:
            self._at.setdefault(section.key, []).append(section)
            self._named.setdefault((section.heading, section.level), []).append(section)

    def claim(self, keys: Iterable[SectionId], choose: Callable[[SectionId], Section | None]) -> None:
        """Give those that have no section yet the one that is chosen for them."""
        for key in keys:
            section = None if key in self.found else choose(key)
            if section:
                self.found[key] = section
                self._claimed.add(section)

    def alike(self, key: SectionId) -> list[Section]:
        """List the sections of that heading and level, wherever they stand, that are nothing else."""
        return self._free(self._named.get((key.heading, key.level)))

    def saying(self, among: Iterable[Section], digest: str) -> Section | None:
        """Pick the first that says that."""
        return next((section for section in among if sections.digest(self._page.text(section)) == digest), None)

    def in_place(self, key: SectionId, digest: str) -> Section | None:
        """Pick the section that stands there; of several, the one that says what it said."""
        left = self._free(self._at.get(key))
        return (self.saying(left, digest) if len(left) > 1 else None) or next(iter(left), None)

    def only(self, key: SectionId) -> Section | None:
        """Pick the only one left; the first, where the log did not tell where the section stands."""
        left = self.alike(key)
        return left[0] if len(left) == 1 or (left and self._spelled[key].under is None) else None

    def _free(self, found: Iterable[Section] | None) -> list[Section]:
        return [section for section in found or () if section not in self._claimed]


def came_along(ledger: Ledger, path: str, page: Page, known: Collection[Section]) -> Iterator[EntryApplied]:
    """Yield what tells of sections the log knows nothing of here, and that are as they were on another machine.

    Of several machines it is the one whose file is most like this. What was removed there is missing here as well.
    """
    alike = Counter(section.key for section in page.sections)
    new = [one for one in page.sections if alike[one.key] == 1 and one not in known and not ledger.knows(one.key)]
    if not (new and ledger.record.elsewhere):
        return
    here = {section.key: sections.digest(page.text(section)) for section in new}
    spots = {section.key: page.spot(section) for section in new}
    told = {(one.replica, key_of(one), digest_of(one)): one for one in ledger.record.elsewhere}
    last = {(one.replica, key_of(one)): one for one in ledger.record.elsewhere}
    agree = Counter(machine for (machine, key), one in last.items() if here.get(key, "") == digest_of(one))
    nearest = sorted({machine for machine, _ in last}, key=lambda machine: (-agree[machine], machine or ""))
    used = set()
    for key, digest in here.items():
        same = [(machine, key, digest) for machine in nearest if (machine, key, digest) in told]
        same += [
            at
            for at in told
            if at[2] == digest and _has_moved(at[1], key) and not (alike[at[1]] or ledger.knows(at[1]))
        ]
        if same:
            used.add(same[0][0])
            yield _found(told[same[0]], path, spots[key])
    for (machine, key), one in last.items():
        if machine == nearest[0] and machine in used and not (digest_of(one) or alike[key] or ledger.knows(key)):
            yield _found(one, path, None)


def _has_moved(from_: SectionId, to: SectionId) -> bool:
    """Tell whether one may be the other, below other headings: those may have gone since."""
    return from_[:2] == to[:2] and from_ != to


def new_here(ledger: Ledger, path: str, key: SectionId, body: str | None, spot: Spot | None) -> EntryApplied | None:
    """Tell how a section that is managed here got this text: by an entry that has not come this way before, if so.

    A text that was here before is none: a person may go back to it.
    """
    for told in reversed(ledger.record.elsewhere) if body else ():
        is_text = isinstance(told, EntryApplied) and key_of(told) == key and told.digest == sections.digest(body)
        if is_text and isinstance(told, EntryApplied) and ledger.is_news(key, told.target):
            return _found(told, path, spot)
    return None


def _found(told: Told, path: str, spot: Spot | None) -> EntryApplied:
    """Build the event that says that a section was found as it is told of on another machine."""
    previous, blank = spot or (None, 0)
    if isinstance(told, EntryApplied):
        return replace(told, id="", ts="", replica=None, path=path, found=told.id, previous=previous, blank=blank)
    at = told.key
    return EntryApplied(
        conversation_id=told.conversation_id,
        project=told.project,
        target=told.id,
        path=path,
        heading=at.heading,
        level=at.level,
        digest=digest_of(told),
        under=at.under,
        found=told.id,
        previous=previous,
        blank=blank,
    )
