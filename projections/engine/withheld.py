"""The words of what was withdrawn do not stay on the shelf: days are kept without them.

Nothing is rendered of it, so its words make no difference, until it is restored: then its day is folded anew.
"""

from msgspec.structs import replace

from eventlog.events import AnyEvent, Fact, StageSummary

_WORDLESS = "…"


def without_words(event: AnyEvent) -> AnyEvent:
    """Blank what a fact or summary says, not who said it, when, how it is filed, and whether it decided anything."""
    if isinstance(event, Fact):
        return replace(event, content=_WORDLESS, entities=[], extra={})
    if isinstance(event, StageSummary):
        decisions = [_WORDLESS] * bool(event.decisions)
        return replace(event, topic="", summary=_WORDLESS, decisions=decisions, todos=[], done=[], extra={})
    return event
