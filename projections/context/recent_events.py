"""Reads what was said lately: the only part of the log a context reads, whatever lies before it.

A closed day is taken from the cache of the last replay, where that is still true; of other days' files only lines
that say or withdraw something are decoded. A log that cannot be read at all is an empty one here: the rest of the
context is not to suffer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import cast

from eventlog import days
from eventlog.events import AnyEvent, Event, Fact, Retraction, StageSummary
from eventlog.log import EventLog
from eventlog.projections.engine.day_fold import kept_day
from eventlog.projections.engine.shelf import Shelf
from eventlog.projections.state.conversations import Conversation, Conversations

_WORDS = (b'"fact"', b'"stage_summary"', b'"retraction"')
_SAY = (Fact, StageSummary, Retraction)

Visible = Callable[[Event], bool]


def said_between(log: EventLog, cache: Shelf, since: str, until: str, visible: Visible) -> Conversations:
    """Read every fact and summary of that time that may be seen, and all withdrawals, in force or not."""
    state = Conversations()
    seen: set[str] = set()
    for day in _days(log, since, until):
        for event in _load(day, cache):
            if event.id in seen or not isinstance(event, _SAY) or not since <= event.ts <= until:
                continue
            seen.add(event.id)
            if isinstance(event, Retraction) or visible(event):
                state.fold(event)
    return state


def said_in(log: EventLog, conversation_id: str, until: str, visible: Visible) -> Conversation:
    """Read all a conversation ever said that may be seen, without what was withdrawn at any time since."""
    conversation = Conversation(conversation_id)
    for event in events_of(log, conversation_id):
        if event.subagent is None and event.ts <= until and (visible(event) or not isinstance(event, _SAY)):
            conversation.fold(cast("AnyEvent", event))
    return conversation


def retractions_since(log: EventLog, cache: Shelf, since: str, until: str) -> Conversations:
    """Read a state that knows nothing but withdrawals."""
    return said_between(log, cache, since, until, lambda _: False)


def events_of(log: EventLog, conversation_id: str) -> list[Event]:
    """Read everything one conversation did, oldest first."""
    try:
        return log.session(conversation_id)
    except OSError:
        return []


def mentioning(log: EventLog, date: str, words: Sequence[bytes]) -> Iterator[Event]:
    """Read the events of one day whose lines hold any of the words."""
    for day in _days(log, date, date):
        with suppress(OSError):
            yield from days.load_mentioning(day, words)


def _days(log: EventLog, since: str, until: str) -> list[days.Day]:
    try:
        return log.days(since, until)
    except OSError:
        return []


def _load(day: days.Day, cache: Shelf) -> list[Event]:
    """Read all that was said or withdrawn on a day, and perhaps more."""
    state = kept_day(cache, day)
    if state is not None:
        said = (
            event for conversation in state.by_id.values() for event in (*conversation.facts, *conversation.summaries)
        )
        return [*said, *state.retractions]
    try:
        return days.load_mentioning(day, _WORDS)
    except OSError:
        return []
