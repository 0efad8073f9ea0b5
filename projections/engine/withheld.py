"""The words of what was withdrawn do not stay on the shelf: days are kept without them.

Nothing is rendered of it, so its words make no difference, until it is restored: then its day is folded anew. What has
to recognise a repetition goes by marks: they stand in for words.
"""

from collections.abc import Collection
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.format.events import AnyEvent, EntryApplied, EntryResolved, Event, Fact, PlanEntry, Rejected, StageSummary
from eventlog.format.retractions import Retractions, statements_of, wordless
from eventlog.format.statement_marks import stand_in

_WORDLESS = "…"


class Withheld(NamedTuple):
    """The events of a day that are withdrawn, by their ids, and the withdrawals, of statements as well."""

    ids: Collection[str] = ()
    withdrawn: Retractions = Retractions(())

    def __bool__(self) -> bool:
        return bool(self.ids or self.withdrawn.statements)

    def without_words(self, event: AnyEvent) -> AnyEvent:
        """Blank what an event says, not who said it, when, how it is filed, and whether it decided anything."""
        if isinstance(event, Rejected):
            return wordless(event)
        if event.id in self.ids:
            return self._blank(event)
        return self._without_statements(event) if rejected_in(event, self.withdrawn) else event

    def _blank(self, event: AnyEvent) -> AnyEvent:
        match event:
            case Fact():
                return _said_nothing(event, _WORDLESS)
            case StageSummary():
                decisions = [_WORDLESS] * bool(event.decisions)
                return replace(event, topic="", summary=_WORDLESS, decisions=decisions, todos=[], done=[], extra={})
            case PlanEntry(content=str(content)) if content.strip():
                marked = stand_in(content, [event.id, *self.withdrawn.salts])
                return replace(event, content=marked, meta=replace(event.meta, reason=None), extra={})
            case EntryApplied(content=str()) | EntryResolved(content=str()):
                return replace(event, content=_WORDLESS)
            case _:
                return event

    def _without_statements(self, event: AnyEvent) -> AnyEvent:
        """Let other texts stand in for the statements of an event that are rejected."""
        match event:
            case Fact():
                return _said_nothing(event, self._kept(event.content))
            case StageSummary():
                texts = {name: self._kept(getattr(event, name)) for name in ("topic", "summary")}
                lists = {name: [*map(self._kept, getattr(event, name))] for name in ("decisions", "todos")}
                return replace(event, **texts, **lists)
            case _:
                return self._blank(event)

    def _kept(self, text: str) -> str:
        return stand_in(text, self.withdrawn.salts) if self.withdrawn.rejects(text) else text


def rejected_in(event: Event, withdrawn: Retractions) -> list[str]:
    """List the marks of the rejected statements that an event makes, where it is not withdrawn as a whole."""
    if not withdrawn.has_rejections or event.subagent or withdrawn.hides_whole(event):
        return []
    return [mark for text in statements_of(event) for mark in withdrawn.rejected_marks(text)]


def _said_nothing(fact: Fact, content: str) -> Fact:
    return replace(fact, content=content, category=None, key=None, entities=[], extra={})
