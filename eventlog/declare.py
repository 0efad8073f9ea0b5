"""Saying something once: the same fact or summary again in the same conversation adds nothing."""

from collections.abc import Iterable
from pathlib import Path

from eventlog import days, files, tally
from eventlog.events import Event, Fact, Retraction, StageSummary
from eventlog.log import Appended, EventLog
from eventlog.retractions import Withdrawn
from eventlog.text import same_text


def declare(log: EventLog, event: Event) -> Appended:
    """Append a fact or summary unless its conversation has already said exactly that; other events are appended.

    What was withdrawn meanwhile may be said again. One at a time per store, so that two callers cannot both be
    first. Raises InvalidEvent or NotStored.
    """
    with files.lock(f"{log.store.cache}/declare.lock"):
        said = _said_before(log, event)
        if not said:
            return log.put([event])[0]
        tally.count(log.store, "statement")
        return Appended(said, new=False)


def _said_before(log: EventLog, event: Event) -> Event | None:
    before = _alike(event, log.session(event.conversation_id))
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
    """Every retraction of those days; only files that mention one are decoded."""
    mentioned = (
        day for day in log.days(since) if any(b'"retraction"' in Path(file).read_bytes() for file in day.files)
    )
    return [entry.event for day in mentioned for entry in days.entries(day)[0] if isinstance(entry.event, Retraction)]
