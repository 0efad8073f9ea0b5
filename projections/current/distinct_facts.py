"""Statements and groups of them: what a fact or a decision says, each thing once; pure.

Those with the same key, or else the same text, are one: a repetition reinforces it, a later wording of a keyed one
replaces it. Wherever there is no room for all, they are taken by `DistinctFact.rank`.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from msgspec import Struct

from eventlog.format.events import Fact, counts_at, order
from eventlog.format.text import one_line
from eventlog.projections.current.standing import likeness, standing


class Statement(Struct, array_like=True, frozen=True, gc=False):
    """One event that states something; `same` is the `likeness` of its text."""

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


Rank = tuple[int, int, str, float, str]
_rank_of, _time_of, _after_of = attrgetter("rank"), attrgetter("ts", "id"), attrgetter("after")


class DistinctFact(Struct, frozen=True, gc=False):
    """All statements of the same thing, oldest first.

    `rank` is the sort key, greater first: importance, conversations that stated it, recency, confidence.
    """

    statements: tuple[Statement, ...]
    rank: Rank

    @property
    def first(self) -> Statement:
        """Return the statement whose wording and day are shown."""
        return self.statements[0]

    @property
    def last_seen(self) -> str:
        """Return the time it was last stated."""
        return self.statements[-1].ts

    @property
    def sessions(self) -> int:
        """Count the conversations that stated it."""
        return self.rank[1]

    @property
    def importance(self) -> int:
        """Return the highest importance anyone gave it."""
        return self.rank[0]

    @property
    def confidence(self) -> float:
        """Return the confidence as last stated."""
        return self.statements[-1].confidence

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of the events that state it."""
        return tuple(dict.fromkeys(statement.id for statement in self.statements))


def ranked(groups: Iterable[DistinctFact]) -> list[DistinctFact]:
    """Sort facts as they are told, whatever is cut."""
    return sorted(groups, key=_rank_of, reverse=True)


def distinct_facts(statements: Iterable[Statement]) -> list[DistinctFact]:
    """Group the statements of one subject; superseded wordings of a key are left out."""
    in_order = sorted(statements, key=_time_of)
    if any(map(_after_of, in_order)):  # a clock was wrong
        in_order.sort(key=order)
    current = standing(in_order)
    facts = {
        one.same: DistinctFact((one,), (one.importance, 1, counts_at(one), one.confidence, one.id)) for one in current
    }
    if len(facts) < len(current):  # most are stated once
        facts |= {same: DistinctFact(said, _rank(said)) for same, said in _repeated(current).items()}
    return list(facts.values())


def _repeated(statements: Iterable[Statement]) -> dict[bytes, tuple[Statement, ...]]:
    """Group the statements of what is stated more than once."""
    found: dict[bytes, list[Statement]] = {}
    for statement in statements:
        found.setdefault(statement.same, []).append(statement)
    return {same: tuple(said) for same, said in found.items() if len(said) > 1}


def _rank(statements: Sequence[Statement]) -> Rank:
    last = statements[-1]
    importance = max(statement.importance for statement in statements)
    sessions = len({statement.conversation_id for statement in statements})
    return importance, sessions, counts_at(last), last.confidence, last.id


def subject_of(fact: Fact) -> str:
    """Return the project a fact is about; "" for the user."""
    return fact.project or "" if fact.effective_scope == "project" else ""


def of_fact(fact: Fact) -> Statement:
    """Make the statement of a fact."""
    text = one_line(fact.content)
    return Statement(
        text=text,
        ts=fact.ts,
        id=fact.id,
        conversation_id=fact.conversation_id,
        key=fact.key or None,
        category=one_line(fact.category) if fact.category else "",
        memory_type=fact.memory_type,
        importance=fact.importance,
        confidence=fact.confidence,
        same=likeness(text),
        entities=tuple(filter(None, map(one_line, fact.entities))),
        after=fact.after,
    )
