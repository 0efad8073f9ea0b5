"""Facts about the user and about each project; pure.

Facts and the decisions of summaries are statements. Each subject has its own: a key of one replaces nothing in another.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eventlog.projections.state.conclusions import Conclusion, Mention, conclusions
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.projections.state.distinct_facts import DistinctFact, Statement, distinct_facts, of_fact, subject_of
from eventlog.retractions import Retractions
from eventlog.text import one_line

DECISION = "decision"
_PLAIN_IMPORTANCE = 3
_PLAIN_CONFIDENCE = 0.9


class FactScope(NamedTuple):
    """The facts of one project, or about the user (`project` None), and when that last changed.

    `superseded` are the events whose statements would count if others did not stand in their place.
    """

    project: str | None
    facts: list[DistinctFact]
    changed_at: str
    superseded: tuple[str, ...]


def fact_scopes(state: Conversations) -> list[FactScope]:
    """List the user, then projects by path; only those something was ever stated about."""
    withdrawn, concluded = state.withdrawn(), state.once(conclusions)
    stated: dict[str, list[Statement]] = {}
    changed: dict[str, str] = {}
    not_retracted: dict[str, list[str]] = {}
    for conversation in state.by_id.values():
        for project, ts in _changes(conversation, withdrawn):
            changed[project] = max(changed.get(project, ""), ts)
        for project, statement in _statements(conversation, concluded[conversation.id], withdrawn):
            stated.setdefault(project, []).append(statement)
        for project, event_id in _not_retracted(conversation, withdrawn):
            not_retracted.setdefault(project, []).append(event_id)
    return [
        _scope(project, stated.get(project, []), ts, not_retracted.get(project, []))
        for project, ts in sorted(changed.items())
    ]


def _scope(project: str, stated: Iterable[Statement], changed_at: str, not_retracted: Iterable[str]) -> FactScope:
    groups = distinct_facts(stated)
    current = {event for fact in groups for event in fact.sources}
    return FactScope(
        project or None,
        groups,
        changed_at,
        tuple(sorted(event_id for event_id in not_retracted if event_id not in current)),
    )


def _statements(
    conversation: Conversation, conclusion: Conclusion, withdrawn: Retractions
) -> Iterator[tuple[str, Statement]]:
    for fact in conversation.facts:
        if one_line(fact.content) and not withdrawn.hides(fact):
            yield subject_of(fact), of_fact(fact)
    for said in conclusion.decisions:
        for saying in said.mentions:
            yield conversation.project or "", _of_decision(saying, conversation.id)


def _changes(conversation: Conversation, withdrawn: Retractions) -> Iterator[tuple[str, str]]:
    """Yield subject and time of every event that has, or had, a say in what is stated."""
    for fact in conversation.facts:
        yield subject_of(fact), max(fact.ts, withdrawn.touched_at(fact))
    named_at = conversation.first_project[0] if conversation.project else ""
    for summary in conversation.summaries:
        if summary.decisions:
            changed_at = max(summary.ts, withdrawn.touched_at(summary), named_at)
            yield conversation.project or "", changed_at
            if named_at > summary.ts:  # until then its decisions were the user's
                yield "", changed_at


def _not_retracted(conversation: Conversation, withdrawn: Retractions) -> Iterator[tuple[str, str]]:
    """Yield subject and id of every event that states something and is not withdrawn, whether or not it counts."""
    for fact in conversation.facts:
        if not withdrawn.hides(fact):
            yield subject_of(fact), fact.id
    for summary in conversation.summaries:
        if summary.decisions and not withdrawn.hides(summary):
            yield conversation.project or "", summary.id


def _of_decision(mention: Mention, conversation_id: str) -> Statement:
    return Statement(
        mention.text, mention.ts, mention.id, conversation_id, None, DECISION, "W", _PLAIN_IMPORTANCE, _PLAIN_CONFIDENCE
    )
