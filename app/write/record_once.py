"""Record a statement once: what a conversation has stated already, and still holds, adds nothing."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import get_args

from msgspec.structs import replace

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.write.rejections import Rejections
from eventlog.format.errors import Busy, InvalidEvent, NotStored
from eventlog.format.events import Event, Fact, StageSummary, Withdrawal
from eventlog.format.retractions import Retractions
from eventlog.format.text import key_of, one_line, statement_of
from eventlog.hooks import duplicate_log
from eventlog.log.event_log import AppendResult, EventLog, accept
from eventlog.projections.current.distinct_facts import distinct_facts
from eventlog.projections.current.fact_scopes import Statement
from eventlog.projections.current.standing import WHOLE
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

_KEYED = b'"key":"'
_WITHDRAWALS = tuple(f'"{kind.__struct_config__.tag}"'.encode() for kind in get_args(Withdrawal))


def record_once(log: EventLog, event: Event) -> AppendResult:
    """Append a fact or summary unless its conversation states exactly that and it holds; append all other events.

    What a person has rejected is not appended: that decision is returned. What was withdrawn meanwhile, or replaced by
    another fact of the same key, by whomever, may be said again. One at a time per store, so that two callers cannot
    both be first. Raises InvalidEvent or NotStored.
    """
    event = accept(event)
    if isinstance(event, (Fact, StageSummary)):
        name = "content" if isinstance(event, Fact) else "summary"
        if not one_line(getattr(event, name)):
            raise InvalidEvent("must not be blank: nobody sees its characters", where=name)
    if not (event.replica or event.ts or event.id):  # born now, it names no store of its own
        event = replace(event, replica=make_replica(log.store))
    with in_turn(log):
        if rejection := Rejections(log).of(event):
            return AppendResult(rejection, new=False)
        repeated = _find_repeated(log, event)
        if not repeated:
            return log.put([event])[0]
        log.confirm(repeated)
        duplicate_log.count_duplicate(log.store, "statement")
        return AppendResult(repeated, new=False)


def in_turn(log: EventLog) -> AbstractContextManager[object]:
    """Take turns; where the cache cannot be written that costs a repetition at most, no event."""
    try:
        return locked(log.store, log.store.lock("declare"))
    except Busy:
        raise
    except NotStored:
        return nullcontext()


def _find_repeated(log: EventLog, event: Event) -> Event | None:
    """Find the event by which the conversation states the same already, and which stands; None in an unreadable log."""
    try:
        alike_kind = [earlier for earlier in log.session(event.conversation_id) if _kind(earlier) == _kind(event)]
    except OSError:
        return None
    alike = [earlier for earlier in alike_kind if _meaning(earlier) == _meaning(event)]
    if not alike or _meaning(event) is None:
        return None
    # of the withdrawals, and of the facts with a key, since that day; other lines are not decoded. What a fact without
    # a key says, any key may have had, and lost
    words = (*_WITHDRAWALS, _KEYED) if isinstance(event, Fact) else _WITHDRAWALS
    days = log.days() if isinstance(event, Fact) and not event.key else log.days(alike_kind[0].ts)
    since = [event for day in days for event in day.load_mentioning(words)]
    withdrawn = Retractions(event for event in since if isinstance(event, Withdrawal))
    valid = [earlier for earlier in alike_kind if not withdrawn.hides(earlier)]
    if isinstance(event, Fact):
        rivals = [event for event in since if isinstance(event, Fact) and not withdrawn.hides(event)]
        standing = _standing([*valid, *rivals], KnownProjects(log.store).about(event.project or ""), event)
        return next((earlier for earlier in alike if earlier.id in standing), None)
    if isinstance(event, StageSummary) and event.scope == WHOLE:
        valid = valid[-1:]  # each revises the one before
    return next((earlier for earlier in alike if earlier in valid), None)


def _kind(event: Event) -> tuple[str, str]:
    return event.type, event.scope if isinstance(event, StageSummary) else ""


def _meaning(event: Event) -> tuple[object, ...] | None:
    """Return what two events that state the same have in common, in any wording; None for other types."""
    match event:
        case Fact():
            filed = event.effective_scope, event.project, event.memory_type, event.category, event.subagent
            return statement_of(event.content), key_of(event.key or ""), *filed
        case StageSummary():
            lists = [[*map(statement_of, texts)] for texts in (event.decisions, event.todos, event.done)]
            return statement_of(event.topic), statement_of(event.summary), lists, event.subagent
        case _:
            return None


def _standing(events: Iterable[Event], is_same_project: Callable[[str | None, str | None], bool], of: Fact) -> set[str]:
    """List the facts of a subject that stand, of those that are not withdrawn; helpers' have files of none."""
    facts = {
        fact.id: fact
        for fact in events
        if isinstance(fact, Fact)
        and (fact.effective_scope, fact.subagent) == (of.effective_scope, of.subagent)
        and (of.effective_scope == "user" or is_same_project(fact.project, fact.replica))
    }
    return {source for fact in distinct_facts(map(Statement.of, facts.values())) for source in fact.sources}
