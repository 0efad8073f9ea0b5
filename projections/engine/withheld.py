"""The words of what was withdrawn do not stay in the cache: checkpoints are kept without them.

Nothing is rendered of it, so its words make no difference, until it is restored: then its day is folded anew.
"""

from msgspec.structs import replace

from eventlog.cross_day import day_in_id
from eventlog.events import Event, Fact, StageSummary
from eventlog.projections.state.conversations import Conversations

Withheld = dict[str, frozenset[str]]  # day -> ids of events that are withdrawn
_WORDLESS = "…"


def withheld(state: Conversations) -> Withheld:
    """Find the days on which withdrawn events lie, and their ids."""
    withdrawn = state.withdrawn()
    found: dict[str, set[str]] = {}
    for event_id in withdrawn.events:
        found.setdefault(day_in_id(event_id), set()).add(event_id)
    for conversation in filter(None, map(state.by_id.get, withdrawn.conversations)):
        for event in (*conversation.facts, *conversation.summaries):
            found.setdefault(event.ts[:10], set()).add(event.id)
    return {day: frozenset(event_ids) for day, event_ids in found.items()}


def without_words(event: Event) -> Event:
    """Blank what a fact or summary says, not who said it, when, how it is filed, and whether it decided anything."""
    if isinstance(event, Fact):
        return replace(event, content=_WORDLESS, entities=[], extra={})
    if isinstance(event, StageSummary):
        decisions = [_WORDLESS] * bool(event.decisions)
        return replace(event, topic="", summary=_WORDLESS, decisions=decisions, todos=[], done=[], extra={})
    return event
