"""Saying something once: the same fact or summary again in the same conversation adds nothing."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from eventlog import days, files, tally
from eventlog.errors import Busy, NotStored
from eventlog.events import Event, Fact, Retraction, StageSummary
from eventlog.log import Appended, EventLog, accept
from eventlog.retractions import Withdrawn
from eventlog.text import same_text


def declare(log: EventLog, event: Event) -> Appended:
    """Append a fact or summary unless its conversation has already said exactly that; other events are appended.

    What was withdrawn meanwhile may be said again. One at a time per store, so that two callers cannot both be
    first. Raises InvalidEvent or NotStored.
    """
    event = accept(event)
    with _one_at_a_time(log):
        said = _said_before(log, event)
        if not said:
            return log.put([event])[0]
        log.confirm(said)
        tally.count(log.store, "statement")
        return Appended(said, new=False)


def _one_at_a_time(log: EventLog) -> AbstractContextManager[object]:
    """Take turns; where the cache cannot be written that costs a repetition at most, no event."""
    try:
        return files.lock(f"{log.store.cache}/declare.lock")
    except Busy:
        raise
    except NotStored:
        return nullcontext()


def _said_before(log: EventLog, event: Event) -> Event | None:
    """Find what the conversation has said already; what cannot be read was not said."""
    try:
        before = _alike(event, log.session(event.conversation_id))
    except OSError:
        return None
    if not before:
        return None
    withdrawn = Withdrawn(_retractions(log, since=before[0].ts))
    return next((one for one in before if not withdrawn.hides(one)), None)


def _alike(event: Event, earlier: Iterable[Event]) -> list[Event]:
    """Earlier events that say the same, oldest first.

    A summary of the whole session revises the one before it, so only the newest can be repeated.
    """
    alike = [one for one in earlier if _meaning(one) is not None and _scope(one) == _scope(event)]
    if isinstance(event, StageSummary) and event.scope == "session":
        alike = alike[-1:]
    return [one for one in alike if _meaning(one) == _meaning(event)]


def _scope(event: Event) -> tuple[str, str]:
    return event.type, event.scope if isinstance(event, StageSummary) else ""


def _meaning(event: Event) -> tuple[object, ...] | None:
    match event:
        case Fact():
            about = (event.reach, event.project, event.memory_type, event.category, event.key, event.subagent)
            return (same_text(event.content), *about)
        case StageSummary():
            return same_text(event.topic), same_text(event.summary), event.decisions, event.todos, event.subagent
        case _:
            return None


def _retractions(log: EventLog, since: str) -> list[Retraction]:
    """Find every retraction of those days; only lines that mention one are decoded."""
    mentioned = (event for day in log.days(since) for event in days.load_mentioning(day, [b'"retraction"']))
    return [event for event in mentioned if isinstance(event, Retraction)]
