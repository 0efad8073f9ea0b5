"""Compare a file with the log: find the log's sections again, and people's edits; pure."""

from collections.abc import Iterable, Iterator

from eventlog.events import EntryApplied, KnowledgeEdited, Operation, SectionKey
from eventlog.projections.bases import sections
from eventlog.projections.bases.ledger import Ledger, key_of
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.bases.section_history import Spelling
from eventlog.projections.bases.sections import Page, Section, SectionId

HUMAN = "human"  # agent and conversation of what people did to files by hand


def locate(page: Page, ledger: Ledger, path: str) -> dict[SectionId, Section]:
    """Find the sections the log knows on the page.

    One stands where it stood; of several that stand alike it is the one that says what it said. One that is not there
    any more is a section of its heading and level that nobody else is, if it was there and there is only one such; or
    one that says what it said, where only a section that was gone stood.
    """
    observed = ledger.last_known_digests(path)
    by_key: dict[SectionId, list[Section]] = {}
    for section in page.sections:
        by_key.setdefault(section.key, []).append(section)
    found: dict[SectionId, Section] = {}
    keys = [*observed, *(key for key in ledger.histories if key not in observed)]
    for key in keys:
        if alike := by_key.get(key):
            found[key] = _saying(page, alike, observed.get(key)) or alike[0]
    claimed = set(found.values())
    gone = {section: key for key, section in found.items() if not _was_there(ledger, key, observed)}
    for key in keys:
        if key in found or not _was_there(ledger, key, observed):
            continue
        alike = [section for section in page.sections if (section.heading, section.level) == key[:2]]
        left = [section for section in alike if section not in claimed]
        moved = _saying(page, [*left, *filter(gone.__contains__, alike)], observed.get(key))
        moved = moved or (left[0] if len(left) == 1 else None)
        if moved is None and left and ledger.spelled[key].under is None:
            moved = left[0]  # from a log that did not tell where a section stands: it meant the first
        if moved:
            if moved in gone:
                del found[gone.pop(moved)]
            found[key] = moved
            claimed.add(moved)
    return found


def edits(ledger: Ledger, file: BaseFile, path: str, page: Page) -> list[KnowledgeEdited]:
    """List what people did to sections the log has written, as events still to be stored.

    A heading without a text, where the section was gone, is none: a file made anew has it for what stands under it.
    """
    observed, there = ledger.last_known_digests(path), locate(page, ledger, path)
    found = []
    for key in sorted(ledger.managed, key=lambda key: there[key].start if key in there else -1):
        body = page.text(there[key]) if key in there else None
        now = ledger.histories[key].now if key in ledger.histories else None
        is_known = body == (now.body if now else None) or (key not in observed and body is None)
        is_bare = body == "" and not observed.get(key)
        if not (is_known or is_bare) and sections.digest(body) != observed.get(key):
            found.append(text_event(file, ledger.spelled[key], body))
    return found


def arrived(arrivals: Iterable[EntryApplied], page: Page) -> Iterator[EntryApplied]:
    """Pick those that are on the page: what was about to be told when a run broke off after its write."""
    for arrival in arrivals:
        alike = [section for section in page.sections if section.key == key_of(arrival)]
        bodies = [sections.digest(page.text(section)) for section in alike]
        if arrival.digest in bodies or not (arrival.digest or bodies):
            yield arrival


def text_event(file: BaseFile, at: Spelling, body: str | None, below: str = "") -> KnowledgeEdited:
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
    )


def _was_there(ledger: Ledger, key: SectionId, observed: dict[SectionId, str]) -> bool:
    if key in observed:
        return observed[key] != ""
    now = ledger.histories[key].now
    return now is not None and now.body is not None


def _saying(page: Page, found: Iterable[Section], digest: str | None) -> Section | None:
    return next((section for section in found if sections.digest(page.text(section)) == digest), None)
