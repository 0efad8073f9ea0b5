"""Statements of here that still hold, one group for each thing said; found by an id or by words of it.

Here is a project, and what is known of the user: nothing of another project is found, and nothing that was withdrawn
or replaced.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from eventlog.app.build.cache import open_for_reading
from eventlog.app.naming.known_projects import about
from eventlog.app.naming.references import is_part_of
from eventlog.format.codec import from_fields
from eventlog.format.events import Event, Fact, StageSummary, order
from eventlog.format.text import one_line, same_text
from eventlog.log.event_log import EventLog
from eventlog.projections.context.recent_events import said_between, said_in
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import distinct_facts, of_fact


class Place(NamedTuple):
    """Where one listens: the project's path, None for none; `shared` where others than the user do so, too."""

    project: str | None
    shared: bool = False


class Said(NamedTuple):
    """One thing said: its wording, the events that say so, oldest first, and those it replaced under its key."""

    text: str
    events: tuple[Event, ...]
    replaced: tuple[Event, ...] = ()

    @property
    def newest(self) -> Event:
        """Return the event that said it last."""
        return self.events[-1]


def said_here(log: EventLog, place: Place) -> list[Said]:
    """List every fact and summary that holds here, newest last."""
    state = said_between(log, open_for_reading(log.store), "", "~", _may_be_heard(log, place))
    found = [*_facts(state), *_summaries(state)]
    return sorted(found, key=lambda said: order(said.newest))


def matching(said: list[Said], words: str) -> list[Said]:
    """Find what is meant by an id or a part of one, by its exact wording, or else by words that stand in it."""
    by_id = [one for one in said if any(is_part_of(event.id, words) for event in one.events)]
    same = by_id or [one for one in said if same_text(one.text) == same_text(words)]
    needle = same_text(words)
    return same or [one for one in said if needle and needle in same_text(one.text)]


def withdraw(log: EventLog, said: Said, speaker: dict[str, Any], reason: str | None) -> list[Event]:
    """Withdraw one thing said: everything that says so, and what it had replaced, which would hold again.

    `speaker` has the fields that tell who withdraws it: an agent may, until it is said again; to reject something for
    good is a person's. All or nothing; raises NotStored.
    """
    goals = dict.fromkeys(event.id for event in (*said.events, *said.replaced))
    events = [from_fields({**speaker, "type": "retraction", "target": goal, "reason": reason}) for goal in goals]
    return [appended.event for appended in log.put(events)]


def _may_be_heard(log: EventLog, place: Place) -> Callable[[Event], bool]:
    is_of_project = about(log.store, place.project) if place.project else lambda *_: False

    @cache
    def home(conversation_id: str) -> tuple[str | None, str | None]:
        conversation = said_in(log, conversation_id, "~", lambda _: True)
        return conversation.project, conversation.replica

    def may(event: Event) -> bool:
        if isinstance(event, Fact) and event.effective_scope == "user":
            return not place.shared
        path, replica = (event.project, event.replica) if event.project else home(event.conversation_id)
        return is_of_project(path, replica) if path else not (place.project or place.shared)

    return may


def _facts(state: Conversations) -> Iterator[Said]:
    withdrawn = state.withdrawn()
    facts = {
        fact.id: fact
        for conversation in state.by_id.values()
        for fact in conversation.facts
        if not withdrawn.hides(fact)
    }
    for scope in ("user", "project"):
        of_scope = {one.id: one for one in facts.values() if one.effective_scope == scope}
        current = distinct_facts(map(of_fact, of_scope.values()))
        holding = {source for group in current for source in group.sources}
        for group in current:
            keys = {statement.key for statement in group.statements if statement.key}
            older = tuple(one for one in of_scope.values() if one.key in keys and one.id not in holding)
            yield Said(group.statements[-1].text, tuple(of_scope[source] for source in group.sources), older)


def _summaries(state: Conversations) -> Iterator[Said]:
    """A later summary of a whole conversation revises the one before it."""
    withdrawn = state.withdrawn()
    for conversation in state.by_id.values():
        valid = (withdrawn.cleared(one) for one in conversation.summaries if not withdrawn.hides(one))
        holding = sorted(filter(wording, valid), key=order)
        yield from (Said(wording(one), (one,)) for one in holding if one.scope == "stage")
        if whole := [one for one in holding if one.scope == "session"]:
            yield Said(wording(whole[-1]), (whole[-1],), tuple(whole[:-1]))


def wording(event: Event) -> str:
    """Return what a fact or a summary says, on one line; "" for other events."""
    match event:
        case Fact():
            return one_line(event.content)
        case StageSummary():
            told = [": ".join(filter(None, (event.topic, event.summary)))]
            told += [f"Decision: {decision}" for decision in event.decisions]
            return one_line(" · ".join([*told, *(f"To do: {todo}" for todo in event.todos)]))
        case _:
            return ""
