"""Saying something once: what its conversation has said already, and what still holds, adds nothing when said again."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from eventlog.app.machine import Machine
from eventlog.app.write.rejections import Rejections
from eventlog.format.errors import Busy, NotStored
from eventlog.format.events import Event, Fact, StageSummary, Withdrawal, order
from eventlog.format.retractions import Retractions
from eventlog.format.text import same_text
from eventlog.hooks import duplicate_log
from eventlog.log import days
from eventlog.log.event_log import AppendResult, EventLog, accept, is_unnamed
from eventlog.store import index_lookup
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

_WITHDRAWALS = tuple(f'"{kind.__struct_config__.tag}"'.encode() for kind in get_args(Withdrawal))


def off_switch(machine: Machine, *places: str | None) -> str:
    """Name what switches memory off for these directories, as it does for hooks; "" where nothing does."""
    if machine.is_switched_off:
        return "EVENTLOG_DISABLED"
    files = (Path(place, ".eventlog-disable") for place in places if place)
    return next((str(file) for file in files if file.exists()), "")


def record_once(log: EventLog, event: Event) -> AppendResult:
    """Append a fact or summary unless its conversation has said exactly that and it still holds; append all others.

    What a person has rejected is not appended: that decision is returned. What was withdrawn meanwhile, or replaced by
    another fact of the same key, by whomever, may be said again. One at a time per store, so that two callers cannot
    both be first. Raises InvalidEvent or NotStored.
    """
    event = accept(event)
    event = replace(event, replica=make_replica(log.store)) if is_unnamed(event) else event
    with _one_at_a_time(log):
        if rejection := Rejections(log).of(event):
            return AppendResult(rejection, new=False)
        said = _said_before(log, event)
        if not said:
            return log.put([event])[0]
        log.confirm(said)
        duplicate_log.count_duplicate(log.store, "statement")
        return AppendResult(said, new=False)


def _one_at_a_time(log: EventLog) -> AbstractContextManager[object]:
    """Take turns; where the cache cannot be written that costs a repetition at most, no event."""
    try:
        return locked(log.store, log.store.lock("declare"))
    except Busy:
        raise
    except NotStored:
        return nullcontext()


def _said_before(log: EventLog, event: Event) -> Event | None:
    """Find what the conversation has said already; what cannot be read was not said."""
    try:
        before = _same_statement(event, log.session(event.conversation_id))
    except OSError:
        return None
    if not before:
        return None
    since = _since(log, event, before[0].ts)
    withdrawn = Retractions(event for event in since if isinstance(event, Withdrawal))
    valid = [said for said in before if not withdrawn.hides(said)]
    if isinstance(event, Fact) and event.key:
        later = [fact for fact in since if not withdrawn.hides(fact)]
        valid = [said for said in valid if _is_current(said, later)]
    return valid[0] if valid else None


def _same_statement(event: Event, earlier: Iterable[Event]) -> list[Event]:
    """Find earlier events that say the same, oldest first.

    A summary of the whole session revises the one before it, so only the newest can be repeated.
    """
    alike = [said for said in earlier if _statement_key(said) is not None and _scope(said) == _scope(event)]
    if isinstance(event, StageSummary) and event.scope == "session":
        alike = alike[-1:]
    return [said for said in alike if _statement_key(said) == _statement_key(event)]


def _scope(event: Event) -> tuple[str, str]:
    return event.type, event.scope if isinstance(event, StageSummary) else ""


def _statement_key(event: Event) -> tuple[object, ...] | None:
    match event:
        case Fact():
            about = (event.effective_scope, event.project, event.memory_type, event.category, event.key, event.subagent)
            return (same_text(event.content), *about)
        case StageSummary():
            said = (same_text(event.topic), same_text(event.summary))
            return *said, event.decisions, event.todos, event.done, event.subagent
        case _:
            return None


def _is_current(said: Event, later: Iterable[Event]) -> bool:
    """Tell whether no other fact has taken the place of this one under its key."""
    same_key = (fact for fact in later if isinstance(fact, Fact) and _place(fact) == _place(said))
    newest = max(chain([said], same_key), key=order)
    return isinstance(newest, Fact) and isinstance(said, Fact) and same_text(newest.content) == same_text(said.content)


def _place(event: Event) -> tuple[object, ...]:
    """Tell where a fact stands: its key, what it is about, and whether knowledge files hear of it."""
    if not isinstance(event, Fact):
        return ()
    return (
        event.key,
        event.effective_scope,
        event.project if event.effective_scope == "project" else None,
        event.subagent,
    )


def _since(log: EventLog, event: Event, since: str) -> list[Event]:
    """Find the withdrawals and the facts of the same key since that day; other lines are not decoded."""
    key = event.key if isinstance(event, Fact) else None
    words = [*_WITHDRAWALS, *(index_lookup.marks(key) if key else ())]
    return [event for day in log.days(since) for event in days.load_mentioning(day, words)]
