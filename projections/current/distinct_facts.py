"""Statements in groups: the content of facts and decisions, each thing once; pure.

Those with the same key, or else the same text, are one: a repetition reinforces it, a later wording of a keyed one
replaces it. Wherever there is no room for all, they are taken by `DistinctFact.rank`.

Imported inside agents' hooks: standard library only.
"""

from _operator import attrgetter

from eventlog.format.timestamps import counts_at, order
from eventlog.projections.current.standing import standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eventlog.projections.current.fact_scopes import Statement

Rank = tuple[int, int, str, float, str]
_time_of, _after_of = attrgetter("ts", "id"), attrgetter("after")


class DistinctFact:
    """The statements of the same thing, oldest first.

    `rank` is the sort key, greater first: importance, conversations that stated it, recency, confidence.
    """

    __slots__ = ("rank", "statements")

    def __init__(self, statements: "tuple[Statement, ...]", rank: "Rank") -> None:
        self.statements = statements
        self.rank = rank

    @property
    def first(self) -> "Statement":
        """Return the statement whose wording is shown, with the day of the last."""
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


def distinct_facts(statements: "Iterable[Statement]") -> list[DistinctFact]:
    """Group the statements of a subject; superseded wordings of a key are left out."""
    in_order = sorted(statements, key=_time_of)
    if any(map(_after_of, in_order)):  # a clock was wrong
        in_order.sort(key=order)
    current = standing(in_order)
    facts = {
        statement.same: DistinctFact(
            (statement,), (statement.importance, 1, counts_at(statement), statement.confidence, statement.id)
        )
        for statement in current
    }
    if len(facts) < len(current):  # most are stated once
        facts |= {same: DistinctFact(statements, _rank(statements)) for same, statements in _repeated(current).items()}
    return list(facts.values())


def _repeated(statements: "Iterable[Statement]") -> "dict[bytes, tuple[Statement, ...]]":
    """Group the statements of what is stated more than once."""
    found: dict[bytes, list[Statement]] = {}
    for statement in statements:
        found.setdefault(statement.same, []).append(statement)
    return {same: tuple(statements) for same, statements in found.items() if len(statements) > 1}


def _rank(statements: "Sequence[Statement]") -> "Rank":
    last = statements[-1]
    importance = max(statement.importance for statement in statements)
    sessions = len({statement.conversation_id for statement in statements})
    return importance, sessions, counts_at(last), last.confidence, last.id
