"""Read what was withdrawn, and what people decided; a log that cannot be read counts as empty.

A closed day is taken from the cache of the last replay, where that is still true; of other days' files only lines
that withdraw something are decoded.
"""

from collections.abc import Iterable, Iterator

from eventlog.format.events import Event, Rejected, Restored, Retraction, Withdrawal
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.engine.day_fold import StoredDays, stamps_of
from eventlog.projections.engine.row_store import RowStore

_WORDS = (b'"retraction"', b'"rejected"', b'"restored"')
_DECISIONS = (Rejected, Restored)
_WITHDRAW = (Retraction, *_DECISIONS)


def retractions_since(log: EventLog, cache: RowStore, since: str, until: str) -> Conversations:
    """Read a state that knows nothing but withdrawals; decode no conversation of cached days for it."""
    state = Conversations(retractions=decided_before(log, cache, since))
    found: dict[str, Withdrawal] = {}
    for event in _withdrawals(log, cache, since, until):
        if since <= event.ts <= until:
            found.setdefault(event.id, event)
    state.fold_all(found.values())
    _add_what_is_undone(state, log, cache, since)
    return state


def _withdrawals(log: EventLog, cache: RowStore, first: str, last: str) -> Iterator[Withdrawal]:
    """Yield what was withdrawn on these days, and what took that back."""
    for day in _days(log, first, last):
        for event in _withdrawals_on(day, cache):
            if isinstance(event, _WITHDRAW):
                yield event


def _days(log: EventLog, since: str, until: str) -> list[days.Day]:
    try:
        return log.days(since, until)
    except OSError:
        return []


def decided_before(log: EventLog, cache: RowStore, until: str = "~") -> list[Withdrawal]:
    """Read what people had rejected and taken back before a time."""
    found: dict[str, Withdrawal] = {}
    decisions = StoredDays(cache).decisions()
    for day in _days(log, "", until):
        decided = decisions.get(day.date)
        for event in decided.decisions if decided and decided.stamps == stamps_of(day) else _decisions_on(day, cache):
            if isinstance(event, _DECISIONS) and event.ts < until:
                found[event.id] = event
    return list(found.values())


def _add_what_is_undone(state: Conversations, log: EventLog, cache: RowStore, since: str) -> None:
    """Add all earlier withdrawals where a later event takes back any of them: what that had undone counts again."""
    retracted = {retraction.id for retraction in state.retractions}
    targets = {retraction.target for retraction in state.retractions if retraction.target} - retracted
    before = [date for date in sorted(map(day_in_id, targets)) if date <= since[:10]]
    events = (event for date in dict.fromkeys(before) for event in _withdrawals(log, cache, date, date))
    if not targets.isdisjoint(event.id for event in events if event.ts < since):
        earlier = _withdrawals(log, cache, "", since)
        state.fold_all(event for event in earlier if event.ts < since and event.id not in retracted)


def _decisions_on(day: days.Day, cache: RowStore) -> Iterable[Event]:
    row = StoredDays(cache).current(day)
    return day.load_mentioning(_WORDS[1:]) if row is None else row.retractions


def _withdrawals_on(day: days.Day, cache: RowStore) -> Iterable[Event]:
    row = StoredDays(cache).current(day)
    return day.load_mentioning(_WORDS) if row is None or row.redacted else row.retractions
