"""What a person did to a rendered MEMORY.md, as events; pure.

The base of an edited file is what the log rendered as of the time in the file's last line: a bullet that is not in
the base is a new fact, a bullet of the base that is missing withdraws what said it, and a section `## Notes` is
theirs. Whatever else was changed is told as `rest`, so that the file can be kept beside.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.events import Event, Fact, KnowledgeEdited, Retraction, StageSummary, Target
from eventlog.projections.base import Document, Line
from eventlog.projections.labels import Labels
from eventlog.projections.markdown_file import is_stamp
from eventlog.projections.memory import NOTES, notes_path
from eventlog.sections import Page, canonical
from eventlog.text import same_text

HUMAN = "human"
_BULLET = re.compile(r"[-*+] (?:\[\d{4}-\d\d-\d\d\] )?(?P<text>.*\S)")


class Taken(NamedTuple):
    """The events an edit amounts to, and whether there is more to it than they can say."""

    events: list[Event]
    rest: bool


class _Parts(NamedTuple):
    lines: list[str]  # without the notes and the last line
    notes: str | None


def stamp_in(data: bytes) -> str | None:
    """The time of the rendering a person has edited, wherever its last line is by now."""
    stamps = [line for line in _lines(data) if is_stamp(line)]
    return stamps[-1].split()[2] if stamps else None


def take(data: bytes, base: Document, project: str | None, said: Mapping[str, Event], words: Labels, ts: str) -> Taken:
    """The edit that led from `base` to `data`, made at `ts`; `said` has the events behind the base's lines."""
    now, before = _parts(data), _parts(base.data)
    if base.lines[-1].text not in _lines(data):
        return Taken([], rest=True)  # not the base: rendered by another version, or from other events
    bullets = {line.text: line for line in base.lines if _BULLET.fullmatch(line.text)}
    new = [line for line in now.lines if line.strip() and line not in before.lines]
    gone = [line for text, line in bullets.items() if text not in now.lines]
    facts = list(_facts(now.lines, set(new), project, words, ts))
    withdrawn = list(_withdrawals(gone, said, ts))
    notes = list(_notes(now.notes, before.notes, base.path, ts))
    kept = [line for line in now.lines if line in bullets]
    moved = kept != [text for text in bullets if text in now.lines]
    helpless = any(not any(event in said for event in line.events) for line in gone)
    return Taken([*facts, *withdrawn, *notes], rest=len(facts) < len(new) or moved or helpless)


def _facts(lines: list[str], new: set[str], project: str | None, words: Labels, ts: str) -> Iterator[Event]:
    """A fact for every new bullet, of the kind its section is for."""
    heading = ""
    for line in lines:
        if line.startswith("## "):
            heading = line.removeprefix("## ").strip()
        elif line in new and (bullet := _BULLET.fullmatch(line)):
            category, memory_type = _kind(heading, words)
            yield Fact(
                ts=ts,
                conversation_id=HUMAN,
                agent=HUMAN,
                project=project,
                scope="project" if project else "user",
                content=bullet["text"],
                category=category,
                memory_type=memory_type,  # type: ignore[arg-type]  # one of the three
            )


def _kind(heading: str, words: Labels) -> tuple[str | None, str]:
    """Category and memory type of what stands in a section."""
    known = {
        words.decisions: ("decision", "W"),
        words.preferences: ("preference", "O"),
        words.lessons: ("lesson", "W"),
        words.knowledge: (None, "W"),
        words.experience: (None, "B"),
        "": (None, "W"),
    }
    return known.get(heading, (heading, "W"))


def _withdrawals(gone: Iterable[Line], said: Mapping[str, Event], ts: str) -> Iterator[Event]:
    """Facts are withdrawn; a summary that decided it is withdrawn, and said again without that decision."""
    dropped: dict[str, set[str]] = {}
    for line in gone:
        bullet = _BULLET.fullmatch(line.text)
        for event in line.events:
            dropped.setdefault(event, set()).add(same_text(bullet["text"] if bullet else ""))
    reason = "removed from MEMORY.md by hand"
    for event_id in dropped:
        if event_id in said:
            yield Retraction(ts=ts, conversation_id=HUMAN, agent=HUMAN, target=event_id, reason=reason)
    for summary in _latest(said[one] for one in dropped if isinstance(said.get(one), StageSummary)):
        decisions = [text for text in summary.decisions if same_text(text) not in dropped[summary.id]]
        yield replace(summary, id="", ts=ts, decisions=decisions)


def _latest(events: Iterable[Event]) -> list[StageSummary]:
    """All stages, and of the revisions of a session's summary the one in force."""
    summaries = sorted((one for one in events if isinstance(one, StageSummary)), key=lambda one: (one.ts, one.id))
    by_role = {(one.conversation_id, one.scope == "session" or one.id): one for one in summaries}
    return list(by_role.values())


def _notes(now: str | None, before: str | None, path: str, ts: str) -> Iterator[Event]:
    if now != before:
        yield KnowledgeEdited(
            ts=ts,
            conversation_id=HUMAN,
            agent=HUMAN,
            key=Target(heading=NOTES, path=notes_path(path)),
            operation="delete" if now is None else "update",
            content=now,
        )


def _parts(data: bytes) -> _Parts:
    page = Page(data)
    notes = page.find(NOTES, 2)
    texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in page.lines]
    inside = range(notes.start, notes.last) if notes else range(0)
    own = [text for number, text in enumerate(texts) if number not in inside and not is_stamp(text)]
    theirs = [text for number, text in enumerate(texts) if notes and notes.body <= number < notes.last]
    return _Parts(own, canonical("\n".join(one for one in theirs if not is_stamp(one))) if notes else None)


def _lines(data: bytes) -> list[str]:
    return [line.decode("utf-8", "replace").rstrip("\r\n") for line in Page(data).lines]
