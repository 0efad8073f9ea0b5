"""What a file says against what the log says it should: people's edits, and what is still to be written; pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eventlog import sections, timestamps
from eventlog.bases import Place
from eventlog.events import KnowledgeEdited, Operation, Target
from eventlog.projections.ledger import EDITED_BELOW, Key, Ledger, Write
from eventlog.sections import Page, Section, Unsafe

HUMAN = "human"  # agent and conversation of what people did to files by hand


class Carried(NamedTuple):
    """A file after a number of writes, those that are in it now, and those it could not take, with the reason.

    Of a deletion, `done` names the subsections that went with it as well.
    """

    data: bytes
    done: list[Write]
    refused: list[tuple[Write, str]]


def edits(ledger: Ledger, place: Place, path: str, data: bytes) -> list[KnowledgeEdited]:
    """What people did to the sections of a file that is there, as events still to be stored.

    An edit of a section the log has written before happened just now. What was in a section before the log writes it
    for the first time is dated just before that entry: it is what a withdrawal of the entry gives back.
    """
    page, observed = Page(data), ledger.observed(path)
    found, firsts = [], dict(_found_below(ledger, path, page))
    for write in [*ledger.current.values(), *_to_remove(ledger, observed)]:
        section = page.find(write.title, write.level)
        body = page.text(section) if section else None
        if _is_known(write, body, ledger, observed.get(write.key)):
            continue
        if section and write.key not in observed and write.key not in ledger.applied and not write.person:
            firsts[section] = ledger.managed_from[write.key]
        else:
            found.append(_edit(place, write.title, write.level, body))
    return [*_dated(firsts, place, page), *found]


def pending(ledger: Ledger, path: str) -> list[Write]:
    """The writes that have not reached the file at that path, in the order of the log."""
    observed = ledger.observed(path)
    due = [write for write in ledger.current.values() if _is_due(write, ledger, observed.get(write.key))]
    return sorted([*due, *_to_remove(ledger, observed)], key=lambda one: (one.ts, one.id))


def carry_out(data: bytes | None, due: list[Write], ledger: Ledger) -> Carried:
    """The file with these writes in it; where there is no file, with all it should say."""
    todo = due if data is not None else [*ledger.sections, *(one for one in due if one.body is None)]
    carried = Carried(data or b"", [], [])
    for write in todo:
        try:
            changed, also = _one(carried.data, write, ledger)
        except Unsafe as error:
            carried.refused.append((write, error.what))
            continue
        carried = carried._replace(data=changed)
        carried.done.extend([write, *also])
    return carried


def _one(data: bytes, write: Write, ledger: Ledger) -> tuple[bytes, list[Write]]:
    """Raises Unsafe."""
    if write.body is not None:
        return sections.update(data, write.title, write.level, write.body), []
    page = Page(data)
    section = page.find(write.title, write.level)
    below = page.below(section) if section and write.subsections else []
    if not write.decided and any(ledger.is_edited(Key(one.heading, one.level)) for one in below):
        raise Unsafe(EDITED_BELOW)
    also = [write._replace(title=one.source, level=one.level, subsections=False) for one in below]
    return sections.delete(data, write.title, write.level, subsections=write.subsections), also


def _is_due(write: Write, ledger: Ledger, observed: str | None) -> bool:
    if not write.person and write.event not in ledger.reached:
        return True
    if write.person and observed is None and write.key not in ledger.managed_from:
        return False  # what the log took note of, and never wrote
    return (observed or "") != sections.digest(write.body)


def _to_remove(ledger: Ledger, observed: dict[Key, str]) -> Iterator[Write]:
    """Sections the log has put there and no longer wants: all that wrote them was withdrawn."""
    for key, digest in observed.items():
        if digest and key not in ledger.current:
            event = ledger.last_applied(key)
            yield Write("", event, event, key.heading, key.level, None)


def _is_known(write: Write, body: str | None, ledger: Ledger, observed: str | None) -> bool:
    """Whether the text on disk is what the log knows, wants, or was about to put there when something broke off."""
    if body == write.body or sections.digest(body) == (observed or ""):
        return True
    unfinished = (one for one in ledger.writes if not one.person and one.event not in ledger.reached)
    return any(one.key == write.key and one.body == body for one in unfinished)


def _found_below(ledger: Ledger, path: str, page: Page) -> Iterator[tuple[Section, str]]:
    """What a deletion is about to take along and the log has never seen, and the time of the deletion."""
    for write in pending(ledger, path):
        section = page.find(write.title, write.level) if write.subsections else None
        for one in page.below(section) if section else ():
            if Key(one.heading, one.level) not in ledger.managed_from:
                yield one, write.ts


def _dated(firsts: Mapping[Section, str], place: Place, page: Page) -> Iterator[KnowledgeEdited]:
    """What sections said before the log wrote them, in the order of the file, each dated before that entry."""
    in_order = sorted(firsts, key=lambda one: one.start)
    for position, section in enumerate(in_order):
        ts = _before(firsts[section], len(in_order) - position)
        yield _edit(place, section.source, section.level, page.text(section), ts)


def _edit(place: Place, heading: str, level: int, body: str | None, dated: str = "") -> KnowledgeEdited:
    operation: Operation = "delete" if body is None else "update" if body else "clear"
    return KnowledgeEdited(
        ts=dated,
        conversation_id=HUMAN,
        agent=HUMAN,
        project=place.project or None,
        key=Target(heading=heading, path=place.base, level=level),
        operation=operation,
        content=body or None,
    )


def _before(ts: str, microseconds: int) -> str:
    ns = timestamps.to_ms(ts) * 1_000_000 + int(ts[23:26]) * 1000
    return timestamps.from_ns(ns - microseconds * 1000)
