"""Reads what was said lately: the only part of the log a context reads, whatever lies before it.

A closed day is taken from the cache of the last replay, where that is still true; of other days' files only lines
that say or withdraw something are decoded. A log that cannot be read at all is an empty one here: the rest of the
context is not to suffer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import cast

from msgspec.structs import replace

from eventlog.format import SESSION_END
from eventlog.format.event_order import order
from eventlog.format.events import AnyEvent, Event, Fact, Rejected, Restored, Retraction, StageSummary, Withdrawal
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.engine.day_fold import stamps_of, stored_day, stored_decisions, stored_row
from eventlog.projections.engine.row_store import RowStore

_WORDS = (b'"fact"', b'"stage_summary"', b'"retraction"', b'"rejected"', b'"restored"')
_DECISIONS = (Rejected, Restored)
_WITHDRAW = (Retraction, *_DECISIONS)
_SAY = (Fact, StageSummary, *_WITHDRAW)

Visible = Callable[[Event], bool]


def said_between(log: EventLog, cache: RowStore, since: str, until: str, visible: Visible) -> Conversations:
    """Read every fact and summary of that time that may be seen, and all withdrawals, in force or not.

    What a person rejected counts for what is said later: of earlier days that is read as well.
    """
    state = Conversations(retractions=decided_before(log, cache, since))
    seen: set[str] = set()
    heard: list[AnyEvent] = []
    unheard: list[StageSummary] = []
    for day in _days(log, since, until):
        for event in _load(day, cache):
            if event.id in seen or not isinstance(event, _SAY) or not since <= event.ts <= until:
                continue
            seen.add(event.id)
            if isinstance(event, _WITHDRAW) or visible(event):
                heard.append(event)
            elif isinstance(event, StageSummary):
                unheard.append(event)
    state.fold_all(heard)
    _add_what_is_of_home(state, unheard, log, visible)
    _add_what_is_undone(state, log, cache, since)
    return state


def said_in(log: EventLog, conversation_id: str, until: str, visible: Visible) -> Conversation:
    """Read all a conversation ever said that may be seen, without what was withdrawn at any time since."""
    conversation = Conversation(conversation_id)
    events = [event for event in events_of(log, conversation_id) if event.subagent is None and event.ts <= until]
    heard: list[AnyEvent] = []
    unheard: list[StageSummary] = []
    for event in events:
        if visible(event) or visible(_at_home(event, events)) or not isinstance(event, _SAY):
            heard.append(cast("AnyEvent", event))
        elif isinstance(event, StageSummary):
            unheard.append(event)
    if heard:
        conversation.fold(heard)
    _drop_what_is_revised(conversation, unheard)
    return conversation


def retractions_since(log: EventLog, cache: RowStore, since: str, until: str) -> Conversations:
    """Read a state that knows nothing but withdrawals; of days that are kept, no conversation is decoded for it."""
    state = Conversations(retractions=decided_before(log, cache, since))
    state.fold_all(withdrawals_between(log, cache, since, until))
    _add_what_is_undone(state, log, cache, since)
    return state


def withdrawals_between(log: EventLog, cache: RowStore, since: str, until: str) -> Iterator[Withdrawal]:
    """Yield what was withdrawn in that time, and what took that back, each once."""
    seen: set[str] = set()
    for day in _days(log, since, until):
        for event in _withdrawals_on(day, cache):
            if event.id not in seen and isinstance(event, _WITHDRAW) and since <= event.ts <= until:
                seen.add(event.id)
                yield event


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


def decided_before(log: EventLog, cache: RowStore, until: str = "~") -> list[Withdrawal]:
    """Read what people had rejected and taken back before a time."""
    found: dict[str, Withdrawal] = {}
    kept = stored_decisions(cache)
    for day in _days(log, "", until):
        decided = kept.get(day.date)
        for event in decided.decisions if decided and decided.stamps == stamps_of(day) else _decisions_on(day, cache):
            if isinstance(event, _DECISIONS) and event.ts < until:
                found[event.id] = event
    return list(found.values())


def _add_what_is_of_home(
    state: Conversations, summaries: Iterable[StageSummary], log: EventLog, visible: Visible
) -> None:
    """Add the summaries of conversations heard that are at home where one listens; the others revise what is heard."""
    unheard: dict[str, list[StageSummary]] = {}
    for summary in summaries:
        heard = state.by_id.get(summary.conversation_id)
        if heard is None:
            continue
        may_be_home = visible(replace(summary, project=heard.project, replica=heard.replica))  # else none is looked up
        if may_be_home and visible(_at_home(summary, events_of(log, heard.id))):
            state.fold(summary)
        else:
            unheard.setdefault(heard.id, []).append(summary)
    for conversation, others in unheard.items():
        _drop_what_is_revised(state.by_id[conversation], others)


def _drop_what_is_revised(heard: Conversation, unheard: Iterable[StageSummary]) -> None:
    """Take the words of summaries that a later one has revised which is not heard; what they decided stands."""
    revisions = (order(one) for one in unheard if one.scope == "session" and one.layer != SESSION_END)
    last = max(revisions, default=("", ""))
    heard.summaries = [
        replace(one, topic="", summary="") if one.scope == "session" and order(one) < last else one
        for one in heard.summaries
    ]


def _at_home(event: Event, of_conversation: Iterable[Event]) -> Event:
    """Give a summary the project of its conversation, where it is filed, whatever it names itself."""
    if not isinstance(event, StageSummary):
        return event
    first = next((one for one in of_conversation if one.project and not one.subagent), event)
    return replace(event, project=first.project, replica=first.replica or event.replica)


def _add_what_is_undone(state: Conversations, log: EventLog, cache: RowStore, since: str) -> None:
    """Add all earlier withdrawals where one since takes back one of them: what that had undone counts again."""
    known = {one.id for one in state.retractions}
    targets = {one.target for one in state.retractions if one.target} - known
    before = [date for date in sorted(map(day_in_id, targets)) if date <= since[:10]]
    there = (event.id for date in dict.fromkeys(before) for event in _withdrawals_before(log, cache, date, since))
    if not targets.isdisjoint(there):
        earlier = _withdrawals_before(log, cache, "", since)
        state.fold_all(event for event in earlier if event.id not in known)


def _withdrawals_before(log: EventLog, cache: RowStore, date: str, until: str) -> Iterator[Withdrawal]:
    """Yield the withdrawals of a day that are older than a time; of all days without one."""
    for day in _days(log, date, date or until):
        for event in _withdrawals_on(day, cache):
            if isinstance(event, _WITHDRAW) and event.ts < until:
                yield event


def _decisions_on(day: days.Day, cache: RowStore) -> Iterable[Event]:
    row = stored_row(cache, day)
    return _mentioning_any(day, _WORDS[-2:]) if row is None else row.retractions


def _withdrawals_on(day: days.Day, cache: RowStore) -> Iterable[Event]:
    row = stored_row(cache, day)
    return _mentioning_any(day, _WORDS[2:]) if row is None or row.redacted else row.retractions


def _mentioning_any(day: days.Day, words: Sequence[bytes]) -> list[Event]:
    try:
        return days.load_mentioning(day, words)
    except OSError:
        return []


def _load(day: days.Day, cache: RowStore) -> list[Event]:
    """Read all that was said or withdrawn on a day, and perhaps more."""
    state = stored_day(cache, day)
    if state is not None:
        said = (
            event for conversation in state.by_id.values() for event in (*conversation.facts, *conversation.summaries)
        )
        return [*said, *state.retractions]
    return _mentioning_any(day, _WORDS)
