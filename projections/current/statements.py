"""Statements of events, as rows have them."""

from msgspec import Struct

from eventlog.format.events import Fact
from eventlog.format.text import one_line
from eventlog.projections.current.standing import likeness


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
    drawn: bool = False  # by a program from a transcript, of an agent's words


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
