"""What is stated about the user and about each project, each statement once; pure.

Facts and the decisions of summaries are statements. Those with the same key, or else the same text, are one: a
repetition reinforces it, a later wording of a keyed one replaces it. Repeating adds no line anywhere.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eventlog.events import Fact
from eventlog.projections.conclusion import Conclusion, Saying, conclusions
from eventlog.projections.conversations import Conversation, Conversations
from eventlog.retractions import Withdrawn
from eventlog.text import one_line, same_text

DECISION = "decision"
_PLAIN_IMPORTANCE = 3
_PLAIN_CONFIDENCE = 0.9


class Statement(NamedTuple):
    """One event that states something."""

    text: str
    ts: str
    id: str
    conversation_id: str
    key: str | None
    category: str
    memory_type: str
    importance: int
    confidence: float
    entities: tuple[str, ...] = ()


class Group(NamedTuple):
    """All statements of the same thing, oldest first."""

    statements: tuple[Statement, ...]

    @property
    def first(self) -> Statement:
        """Whose wording and day are shown."""
        return self.statements[0]

    @property
    def last_seen(self) -> str:
        """When it was last stated."""
        return self.statements[-1].ts

    @property
    def sessions(self) -> int:
        """How many conversations stated it."""
        return len({one.conversation_id for one in self.statements})

    @property
    def importance(self) -> int:
        """The highest anyone gave it."""
        return max(one.importance for one in self.statements)

    @property
    def confidence(self) -> float:
        """As last stated."""
        return self.statements[-1].confidence

    @property
    def events(self) -> tuple[str, ...]:
        """The events behind it."""
        return tuple(dict.fromkeys(one.id for one in self.statements))


class Subject(NamedTuple):
    """What is stated about one project, or about the user (`project` None), and when that last changed.

    `replaced` are the events whose statements would count if others did not stand in their place.
    """

    project: str | None
    groups: list[Group]
    changed_at: str
    replaced: tuple[str, ...]


def subjects(state: Conversations) -> list[Subject]:
    """The user first, then projects by path; only those something was ever stated about."""
    withdrawn, concluded = state.withdrawn(), state.once(conclusions)
    stated: dict[str, list[Statement]] = {}
    changed: dict[str, str] = {}
    standing: dict[str, list[str]] = {}
    for conversation in state.by_id.values():
        for project, ts in _changes(conversation, withdrawn):
            changed[project] = max(changed.get(project, ""), ts)
        for project, statement in _statements(conversation, concluded[conversation.id], withdrawn):
            stated.setdefault(project, []).append(statement)
        for project, event_id in _standing(conversation, withdrawn):
            standing.setdefault(project, []).append(event_id)
    return [
        _subject(project, stated.get(project, []), ts, standing.get(project, []))
        for project, ts in sorted(changed.items())
    ]


def group(statements: Iterable[Statement]) -> list[Group]:
    """Statements of one subject, gathered; superseded wordings of a key are left out."""
    in_order = sorted(statements, key=lambda one: (one.ts, one.id))
    current = {one.key: same_text(one.text) for one in in_order if one.key}
    by_text: dict[str, list[Statement]] = {}
    for one in in_order:
        text = same_text(one.text)
        if one.key is None or current[one.key] == text:
            by_text.setdefault(text, []).append(one)
    return [Group(tuple(same)) for same in by_text.values()]


def _subject(project: str, stated: Iterable[Statement], changed_at: str, standing: Iterable[str]) -> Subject:
    groups = group(stated)
    current = {event for one in groups for event in one.events}
    return Subject(project or None, groups, changed_at, tuple(sorted(one for one in standing if one not in current)))


def _statements(
    conversation: Conversation, conclusion: Conclusion, withdrawn: Withdrawn
) -> Iterator[tuple[str, Statement]]:
    for fact in conversation.facts:
        if one_line(fact.content) and not withdrawn.hides(fact):
            yield _about(fact), of_fact(fact)
    for said in conclusion.decisions:
        for saying in said.sayings:
            yield conversation.project or "", _of_decision(saying, conversation.id)


def _changes(conversation: Conversation, withdrawn: Withdrawn) -> Iterator[tuple[str, str]]:
    """Subject and time of every event that has, or had, a say in what is stated."""
    for fact in conversation.facts:
        yield _about(fact), max(fact.ts, withdrawn.touched_at(fact))
    if any(summary.decisions for summary in conversation.summaries):
        named_at = conversation.first_project[0] if conversation.project else ""
        for summary in conversation.summaries:
            changed_at = max(summary.ts, withdrawn.touched_at(summary), named_at)
            yield conversation.project or "", changed_at
            if named_at > summary.ts:  # until then its decisions were the user's
                yield "", changed_at


def _standing(conversation: Conversation, withdrawn: Withdrawn) -> Iterator[tuple[str, str]]:
    """Subject and id of every event that states something and is not withdrawn, whether or not it counts."""
    for fact in conversation.facts:
        if not withdrawn.hides(fact):
            yield _about(fact), fact.id
    for summary in conversation.summaries:
        if summary.decisions and not withdrawn.hides(summary):
            yield conversation.project or "", summary.id


def _about(fact: Fact) -> str:
    return fact.project or "" if fact.reach == "project" else ""


def of_fact(fact: Fact) -> Statement:
    """What a fact states."""
    return Statement(
        text=one_line(fact.content),
        ts=fact.ts,
        id=fact.id,
        conversation_id=fact.conversation_id,
        key=fact.key or None,
        category=one_line(fact.category or ""),
        memory_type=fact.memory_type,
        importance=fact.importance,
        confidence=fact.confidence,
        entities=tuple(filter(None, map(one_line, fact.entities))),
    )


def _of_decision(one: Saying, conversation_id: str) -> Statement:
    return Statement(
        one.text, one.ts, one.id, conversation_id, None, DECISION, "W", _PLAIN_IMPORTANCE, _PLAIN_CONFIDENCE
    )
