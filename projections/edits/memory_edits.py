"""Interpret a person's edit of a MEMORY.md file as events; pure.

The base of an edited file is its rendering at the time in its last line. A bullet that is not in the base is a new
fact, a missing bullet withdraws the events behind it, and a section `## Notes` is the person's own. Without a base (no
such line, or the log renders another document by now), only additions are found. Any other change makes the reading
`unexplained`, so that the caller keeps a copy of the file.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Event, Fact, KnowledgeEdited, Retraction, SectionKey, StageSummary
from eventlog.format.retractions import Retractions
from eventlog.format.text import joined
from eventlog.format.timestamps import order
from eventlog.projections.base import Document, Line
from eventlog.projections.bases.sections import canonical, page_of
from eventlog.projections.current.conclusions import Mention
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.fact_scopes import RowSource, Statement, stated_about
from eventlog.projections.current.standing import agents_own, by_event, held_back, likeness, not_replaced, replaced
from eventlog.projections.views.labels import Labels
from eventlog.projections.views.markdown import DATED, is_stamp, unescaped
from eventlog.projections.views.memory import NOTES, is_notes, notes_path

_BULLET = re.compile(rf"[-*+] (?:{DATED})?(?P<text>.*\S)")
_GOES_ON = re.compile(r"(?: {2}|\t)\s*(?![-*+] |[>#|<]|\d+[.)] |```|~~~)(?P<text>\S.*)")  # of a bullet, below it
_HEADING = "## "
_NOTES_LEVEL = 2  # as `## Notes`


class EditReading(NamedTuple):
    """The events of an edit, and whether it has changes that no event expresses."""

    events: list[Event]
    unexplained: bool


class _Notes(NamedTuple):
    title: str
    content: str


class _Parts(NamedTuple):
    lines: list[str]  # without the notes and the last line
    notes: _Notes | None
    note_lines: list[str]


class _Bullet(NamedTuple):
    heading: str
    line: str
    text: str


class EditedFile:
    """A file that a person has edited."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def stamp(self) -> str | None:
        """Return the time of the rendering behind an edited file, wherever its last line is now."""
        stamps = [line for line in _lines(self._data) if is_stamp(line)]
        return stamps[-1].split()[2] if stamps else None

    def is_edit_of(self, base: Document) -> bool:
        """Return whether the file is an edit of this document, not of another version or of other events."""
        return base.lines[-1].text in _lines(self._data)

    def shares(self, document: Document | None) -> int:
        """Count the lines that the document has as well."""
        return len({line.text for line in document.lines}.intersection(_lines(self._data))) if document else 0

    def compared_with(
        self, base: Document, project: str | None, state: Conversations, words: Labels, ts: str
    ) -> EditReading:
        """Interpret the edit of `base` at the time `ts`; `state` is that of the whole log."""
        now, before = _parts(self._data), _parts(base.data)
        bullets = {line.text: line for line in base.lines if _BULLET.fullmatch(line.text)}
        new = [line for line in now.lines if line.strip() and line not in before.lines]
        deleted = [line for text, line in bullets.items() if text not in now.lines and text not in now.note_lines]
        added = [bullet for bullet in _bullets(now.lines) if bullet.line in new]
        events = {
            event.id: event
            for conversation in state.by_id.values()
            for event in (*conversation.facts, *conversation.summaries)
        }
        replaced = {unescaped(bullet["text"]): line for line in deleted if (bullet := _BULLET.fullmatch(line.text))}
        facts = [_in_place(_fact(bullet, project, words, ts), replaced, events) for bullet in added]
        is_reordered = [line for line in now.lines if line in bullets] != [
            text for text in bullets if text in now.lines
        ]
        has_no_event = any(events.keys().isdisjoint(line.sources) for line in deleted)
        return EditReading(
            [
                *facts,
                *withdrawals(_with_earlier(_dropped(deleted), state), state, ts),
                *_note_edits(now.notes, before.notes, base.path, ts),
            ],
            unexplained=bool(_unread(new, added)) or is_reordered or has_no_event,
        )

    def added_to(
        self, base: Document, project: str | None, state: Conversations, words: Labels, ts: str
    ) -> EditReading:
        """Find the facts of a file that the log never had; `base` is the log's present document of that path.

        A withdrawn or replaced text stays so, and makes the reading `unexplained`.
        """
        now, base_lines = _parts(self._data), {line.text for line in base.lines}
        current = {likeness(bullet.text) for bullet in _bullets(base_lines)}
        ever = _ever_stated(state, project)
        bullets = _bullets(now.lines)
        added = [bullet for bullet in bullets if likeness(bullet.text) not in current | ever]
        understood = [bullet for bullet in bullets if bullet in added or likeness(bullet.text) in current]
        title = f"# {words.memory}"
        new = [line for line in now.lines if line.strip() and line not in base_lines and not line.startswith(title)]
        facts = [_fact(bullet, project, words, ts) for bullet in added]
        notes = _note_edits(now.notes, _parts(base.data).notes, base.path, ts) if now.notes else ()
        return EditReading([*facts, *notes], unexplained=bool(_unread(new, understood)))


def _heading(line: str) -> str | None:
    return unescaped(line.removeprefix(_HEADING).strip()) if line.startswith(_HEADING) else None


def _bullets(lines: Iterable[str]) -> list[_Bullet]:
    found = []
    heading = ""
    for line in lines:
        heading = _heading(line) or heading
        if bullet := _BULLET.fullmatch(line):
            found.append(_Bullet(heading, line, unescaped(bullet["text"])))
    return found


def _unread(lines: Iterable[str], read: Collection[_Bullet]) -> list[str]:
    """List the lines that are neither these bullets nor their headings."""
    bullets = {bullet.line for bullet in read}
    headings = {bullet.heading for bullet in read}
    return [line for line in lines if line not in bullets and _heading(line) not in headings]


def _fact(bullet: _Bullet, project: str | None, words: Labels, ts: str) -> Fact:
    """Build a fact of the kind that belongs in the section of the bullet."""
    kinds = {
        words.decisions: ("decision", "W"),
        words.preferences: ("preference", "O"),
        words.lessons: ("lesson", "W"),
        words.knowledge: (None, "W"),
        words.general: (None, "W"),
        words.experience: (None, "B"),
        words.agents_notes: ("notes", "W"),
        "": (None, "W"),
    }
    category, memory_type = kinds.get(bullet.heading, (bullet.heading, "W"))
    return Fact(
        ts=ts,
        conversation_id=HUMAN,
        agent=HUMAN,
        project=project,
        scope="project" if project else "user",
        content=bullet.text,
        category=category,
        memory_type=memory_type,  # type: ignore[arg-type]  # of the three literals
    )


def _in_place(fact: Fact, deleted: dict[str, Line], events: Mapping[str, Event]) -> Fact:
    """Let a fact that rewords a line take its place: under its key, no earlier wording of that holds again.

    Each of the lines that are `deleted`, by their texts, is reworded once.
    """
    if not (near := get_close_matches(fact.content, deleted, 1)):
        return fact
    replaced = [event for source in deleted.pop(near[0]).sources if (event := events.get(source))]
    keys = [event.key for event in replaced if isinstance(event, Fact) and event.key]
    return in_place_of(replace(fact, key=keys[-1] if keys else None), near[0], replaced)


def in_place_of(fact: Fact, text: str, events: Collection[Event]) -> Fact:
    """Let a fact take the place of a text, also in earlier events that arrive later, and of the events behind it."""
    corrections = (event.instead_of for event in events if isinstance(event, Fact) and event.subject == fact.subject)
    outdated = {likeness(text).hex()}.union(*corrections) - {likeness(fact.content).hex()}
    return replace(fact, replaces=[event.id for event in events], instead_of=sorted(outdated))


def _ever_stated(state: Conversations, project: str | None) -> set[bytes]:
    """Collect all texts ever stated about the project, or the user, including withdrawn and replaced texts."""
    conversations = state.by_id.values()
    facts = (fact for conversation in conversations for fact in conversation.facts if fact.subject == (project or ""))
    summaries = (
        summary
        for conversation in conversations
        if conversation.project == project
        for summary in conversation.summaries
    )
    decisions = (text for summary in summaries for text in summary.decisions)
    return {likeness(text) for text in (*(fact.content for fact in facts), *decisions)}


def _dropped(deleted: Iterable[Line]) -> dict[str, set[bytes]]:
    """Map the events behind missing bullets to the likeness of the texts they lose."""
    dropped: dict[str, set[bytes]] = {}
    for line in deleted:
        bullet = _BULLET.fullmatch(line.text)
        for source in line.sources:
            dropped.setdefault(source, set()).add(likeness(unescaped(bullet["text"]) if bullet else ""))
    return dropped


def _with_earlier(dropped: dict[str, set[bytes]], state: Conversations) -> dict[str, set[bytes]]:
    """Add the facts that would hold again, as those that are dropped had replaced them."""
    about = stated_about(state.by_id.values(), state.withdrawn()) if dropped else {}
    earlier = by_event(
        old
        for stated in about.values()
        for same in {statement.same for statement in stated if statement.same in dropped.get(statement.id, ())}
        for old in held_back(stated, same)
    )
    return {event: earlier.get(event, set()) | dropped.get(event, set()) for event in (*earlier, *dropped)}


def withdrawals(
    dropped: Mapping[str, set[bytes]], state: Conversations, ts: str, reason: str = "removed from MEMORY.md by hand"
) -> Iterator[Event]:
    """Withdraw facts; withdraw a summary with a dropped decision, and append it again without the decision.

    `dropped` maps events to the likeness of the texts they lose; without a `ts` they are to be dated by the log.
    """
    if not dropped:
        return  # most statements stand in no summary
    withdrawn = state.withdrawn()
    stated = stated_about(state.by_id.values(), withdrawn)
    for conversation in state.in_order():
        for event in (*conversation.facts, *conversation.summaries):
            if event.id in dropped:
                yield Retraction(ts=ts, conversation_id=HUMAN, agent=HUMAN, target=event.id, reason=reason)
        over = replaced(stated.get(conversation.project or "", ()))
        again = _without_dropped(conversation, withdrawn, dropped, over)
        for position, summary in enumerate(again, -len(again)):  # before what takes the place of the decision
            yield replace(summary, id="", ts=ts and timestamps.after(ts, position))


def _without_dropped(
    conversation: Conversation,
    withdrawn: Retractions,
    dropped: Mapping[str, set[bytes]],
    over: Mapping[bytes, Statement | Mention],
) -> list[StageSummary]:
    """Rebuild the summaries without dropped decisions: each stage, and the newest revision of the session's.

    What a key has replaced is not said again, either.
    """
    # as the newest saves, these revise the to-dos of all earlier ones: they repeat the open, and list the rest as done
    source = RowSource(conversation, withdrawn)
    summaries = sorted(source.summaries, key=order)
    roles: dict[object, list[StageSummary]] = {}
    for summary in summaries:
        by_agent = bool(agents_own([summary]))
        roles.setdefault((summary.scope, by_agent, summary.scope == "stage" and summary.id), []).append(summary)
    todos = [todo.text for todo in source.conclusion.todos]
    done = list(
        dict.fromkeys(text for summary in summaries for text in (*summary.todos, *summary.done) if text not in todos)
    )
    deleted, found = set().union(*dropped.values()), []
    for revisions in roles.values():
        if withdrawn_now := [summary for summary in revisions if summary.id in dropped]:
            stated = dict.fromkeys(
                text for summary in withdrawn_now for text in not_replaced(summary.decisions, summary, over)
            )
            decisions = [text for text in stated if likeness(text) not in deleted]
            found.append(replace(revisions[-1], decisions=decisions, todos=todos, done=done))
    return found


def _note_edits(now: _Notes | None, before: _Notes | None, path: str, ts: str) -> Iterator[Event]:
    if now != before:
        title = (now or before or _Notes(NOTES, "")).title
        yield KnowledgeEdited(
            ts=ts,
            conversation_id=HUMAN,
            agent=HUMAN,
            key=SectionKey(heading=title, path=notes_path(path)),
            operation="update" if now else "delete",
            content=now.content if now else None,
        )


def _parts(data: bytes) -> _Parts:
    page = page_of(data)
    titled = (section for section in reversed(page.sections) if section.level == _NOTES_LEVEL)
    notes = next((section for section in titled if is_notes(section.source)), None)
    texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in page.lines]
    inside = range(notes.start, notes.last) if notes else range(0)
    own: list[str] = []
    for text in (text for number, text in enumerate(texts) if number not in inside and not is_stamp(text)):
        goes_on = _GOES_ON.fullmatch(text) if own and _BULLET.fullmatch(own[-1]) else None
        own[-1:] = [joined((own[-1], goes_on["text"]))] if goes_on else [*own[-1:], text]
    lines = [texts[number] for number in range(notes.body, notes.last) if not is_stamp(texts[number])] if notes else []
    return _Parts(own, _Notes(notes.source, canonical("\n".join(lines))) if notes else None, lines)


def _lines(data: bytes) -> list[str]:
    return [line.decode("utf-8", "replace").rstrip("\r\n") for line in page_of(data).lines]
