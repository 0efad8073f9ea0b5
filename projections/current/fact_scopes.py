"""The statements of conversations, and the facts about the user and about each project; pure.

Facts and the decisions of summaries are statements. Each subject has its own: a key of one replaces nothing in another.
What a program drew from an agent's closing words counts once a second conversation says it, or a person.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from eventlog.format import SESSION_END
from eventlog.format.events import Fact, StageSummary
from eventlog.format.local_time import local_time
from eventlog.format.retractions import Retractions
from eventlog.format.text import differing_in_a_number, key_of, one_line
from eventlog.format.timestamps import order
from eventlog.projections.base import RowKind
from eventlog.projections.current.conclusions import Mention, conclusion_of, mentions
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.distinct_facts import DistinctFact, distinct_facts
from eventlog.projections.current.standing import likeness, likenesses

if TYPE_CHECKING:
    from eventlog.format.local_time import Local
    from eventlog.projections.engine.documents import DocumentIndex

_UTC = local_time("UTC")


class RowSource:
    """A conversation, the withdrawals in force, the clock of the user, and what all rows of it are made of.

    `project` is its project, "" for none. `saved` are its facts and summaries, `hidden` the ids of those withdrawn,
    `touched` maps those that anybody ever withdrew to when their fate was last decided. Of what is left, `stated` maps
    each fact to its subject and what it states, `summaries` are the summaries.
    """

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: "Local" = _UTC) -> None:
        self.conversation = conversation
        self.project = conversation.project or ""
        self.withdrawn = withdrawn
        self.local = local
        self.saved = [*conversation.facts, *conversation.summaries]
        self.touched = withdrawn.touched_of(self.saved)
        self.hidden = {event.id for event in self.saved if event.id in self.touched and withdrawn.hides(event)}
        facts = [fact for fact in conversation.facts if fact.id not in self.hidden]
        self.stated = {fact.id: (fact.subject, Statement.of(fact)) for fact in facts}
        self.summaries = [summary for summary in conversation.summaries if summary.id not in self.hidden]
        self.conclusion = conclusion_of(self.summaries, self.stated.values(), withdrawn)


class Statement(Struct, array_like=True, frozen=True, gc=False):
    """An event with a statement; `same` is the `likeness` of its text."""

    text: str
    ts: str
    id: str
    conversation_id: str
    key: str | None
    category: str
    memory_type: str
    importance: int
    confidence: float
    same: bytes
    entities: tuple[str, ...] = ()
    after: str | None = None
    drawn: bool = False  # by a program from a transcript, of an agent's words
    instead_of: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, fact: Fact) -> "Statement":
        """Make the statement of a fact."""
        text = one_line(fact.content)
        return cls(
            text=text,
            ts=fact.ts,
            id=fact.id,
            conversation_id=fact.conversation_id,
            key=key_of(fact.key or "") or None,
            category=one_line(fact.category) if fact.category else "",
            memory_type=fact.memory_type,
            importance=fact.importance,
            confidence=fact.confidence,
            same=likeness(text),
            entities=tuple(filter(None, map(one_line, fact.entities))),
            after=fact.after,
            instead_of=likenesses(fact.instead_of),
        )


DECISION = "decision"
_PLAIN_IMPORTANCE = 3
_PLAIN_CONFIDENCE = 0.9


class _Stated(Struct, array_like=True):
    """The statements of a conversation about a subject; `silent` are events not withdrawn that add none."""

    changed_at: str = ""
    statements: list[Statement] = []
    silent: list[str] = []


class FactScope(Struct, frozen=True, eq=False, dict=True):
    """The facts of a project, or about the user (`project` None), when that last changed, and the user's clock."""

    project: str | None
    facts: list[DistinctFact]
    changed_at: str
    rows: list[_Stated]
    local: "Local"

    @cached_property
    def ranked(self) -> list[DistinctFact]:
        """Sort the facts by rank, before any are cut."""
        return sorted(self.facts, key=attrgetter("rank"), reverse=True)

    @cached_property
    def _doubtful(self) -> set[str]:
        unnamed = (fact.first.text for fact in self.facts if not fact.first.key)
        return differing_in_a_number(unnamed)

    def is_doubtful(self, fact: DistinctFact) -> bool:
        """Return whether another fact differs only in a number; a fact with a key is replaced, not doubted."""
        return not fact.first.key and fact.first.text in self._doubtful

    @cached_property
    def stated(self) -> list[Statement]:
        """List every statement, oldest first, also those in whose place others stand."""
        return sorted((statement for row in self.rows for statement in row.statements), key=order)

    @property
    def superseded(self) -> tuple[str, ...]:
        """Find the events whose statements would count if others did not stand in their place."""
        current = {event for fact in self.facts for event in fact.sources}
        stated = {statement.id for statement in self.stated}
        return tuple(sorted(stated.union(*(row.silent for row in self.rows)) - current))


def _rows(source: RowSource) -> dict[str, _Stated]:
    found: dict[str, _Stated] = defaultdict(_Stated)
    for fact in source.conversation.facts:
        row = found[fact.subject]
        row.changed_at = max(row.changed_at, fact.ts, source.touched.get(fact.id, ""))
        if fact.id in source.stated:
            _, statement = source.stated[fact.id]
            if statement.text:
                row.statements.append(statement)
            else:
                row.silent.append(fact.id)
    if deciding := [summary for summary in source.conversation.summaries if summary.decisions]:
        _add_decisions(found, deciding, source)
    return found


def _add_decisions(found: dict[str, _Stated], deciding: list[StageSummary], source: RowSource) -> None:
    """Add the decisions of summaries, and when the events last changed that decide about them."""
    row = found[source.project]
    decided = [mention for decision in source.conclusion.decisions for mention in decision.mentions]
    drawn = [summary for summary in deciding if summary.layer == SESSION_END]
    # what a user decided in no project is not about the user, unless it is said again
    agents = {save.id: set(map(likeness, save.of_user if source.project else ())) for save in drawn}
    row.statements += [
        _of_decision(
            mention, source.conversation.id, drawn=mention.id in agents and mention.same not in agents[mention.id]
        )
        for mention in decided
    ]
    heard = {*source.hidden, *[mention.id for mention in decided]}
    row.silent += [summary.id for summary in deciding if summary.id not in heard]
    named_at = source.conversation.first_project[0] if source.project else ""
    for summary in deciding:
        changed_at = max(summary.ts, source.touched.get(summary.id, ""), named_at)
        row.changed_at = max(row.changed_at, changed_at)
        if named_at > summary.ts:  # until then its decisions were the user's
            found[""].changed_at = max(found[""].changed_at, changed_at)


STATED = RowKind("stated", _Stated, _rows)


def fact_scope(index: "DocumentIndex", name: str) -> FactScope:
    """Collect what is stated about a project, or "" the user."""
    rows = index.rows(STATED, name)
    facts = distinct_facts(statement for row in rows for statement in row.statements)
    facts = [fact for fact in facts if fact.sessions > 1 or not all(statement.drawn for statement in fact.statements)]
    changed_at = max((row.changed_at for row in rows), default="")
    return FactScope(name or None, facts, changed_at, rows, local_time(index.settings.timezone))


def stated_about(conversations: Iterable[Conversation], withdrawn: Retractions) -> dict[str, list[Statement | Mention]]:
    """Collect what is stated about each project, or "" the user, and not withdrawn, oldest first."""
    found: dict[str, list[Statement | Mention]] = defaultdict(list)
    for conversation in conversations:
        for fact in conversation.facts:
            if not withdrawn.hides(fact):
                found[fact.subject].append(Statement.of(fact))
        saves = [
            withdrawn.cleared(save) for save in conversation.summaries if save.decisions and not withdrawn.hides(save)
        ]
        if saves:
            found[conversation.project or ""] += mentions(saves, attrgetter("decisions"))
    return {subject: sorted(statements, key=order) for subject, statements in found.items()}


def _of_decision(mention: Mention | Statement, conversation_id: str, *, drawn: bool) -> Statement:
    return Statement(
        mention.text,
        mention.ts,
        mention.id,
        conversation_id,
        None,
        DECISION,
        "W",
        _PLAIN_IMPORTANCE,
        _PLAIN_CONFIDENCE,
        mention.same,
        after=mention.after,
        drawn=drawn,
    )
