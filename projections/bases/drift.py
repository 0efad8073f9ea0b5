"""Compare a file with the log: find people's edits, and texts of entries that came with a copy; pure."""

from collections.abc import Iterable, Iterator

from eventlog.format.events import HUMAN, EntryApplied, KnowledgeEdited, Operation, SectionKey
from eventlog.projections.bases import copied_text, sections
from eventlog.projections.bases.ledger import Ledger, Told, key_of
from eventlog.projections.bases.locate import locate
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.bases.section_history import Spelling
from eventlog.projections.bases.sections import Page


def news(ledger: Ledger, file: BaseFile, path: str, page: Page) -> list[Told]:
    """List what the file says and the log does not know, as events still to be stored.

    A text that the section had on another machine, word for word, came with a copy of the file: nobody here wrote it.
    Where this file is managed already, that is so for entries that are new here; a person may go back to an older text.
    Any other text of a section the log has written is a person's edit. A heading without a text, where the section was
    gone, is none: a file made anew has it for what stands under it.
    """
    observed, there = ledger.last_known_digests(path), locate(page, ledger.stood(path), ledger.spelled)
    found: list[Told] = list(copied_text.came_along(ledger, path, page, there.values()))
    for key in sorted(ledger.managed, key=lambda key: there[key].start if key in there else -1):
        body = page.text(there[key]) if key in there else None
        now = ledger.histories[key].now if key in ledger.histories else None
        is_known = body == (now.body if now else None) or (key not in observed and body is None)
        is_bare = body == "" and not observed.get(key)
        if not (is_known or is_bare) and sections.digest(body) != observed.get(key):
            copied = copied_text.new_here(ledger, path, key, body)
            found.append(copied or text_event(file, ledger.spelled[key], body))
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
