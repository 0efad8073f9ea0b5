"""Read what was withdrawn, and what people decided; a log that cannot be read counts as empty.

A day is taken from the cache of the last replay, where that is still true, or the day cannot be read; of other days'
files only lines that withdraw something are decoded.
"""

from contextlib import suppress

from eventlog.format.events import Event, Withdrawal
from eventlog.log.event_log import EventLog
from eventlog.projections.engine.day_fold import DayRow, StoredDays, stamps_of
from eventlog.projections.engine.row_store import RowsDamaged, RowStore

_WORDS = (b'"retraction"', b'"rejected"', b'"restored"')


def withdrawals_until(log: EventLog, cache: RowStore, until: str = "~") -> list[Withdrawal]:
    """Read the withdrawals up to a time, each once; decode no conversation for it."""
    rows: dict[str, DayRow] = {}
    found: dict[str, Withdrawal] = {}
    with suppress(RowsDamaged):
        rows = StoredDays(cache).rows()
    with suppress(OSError):
        for day in log.days(until=until):
            row = rows.get(day.date)
            is_current = row and (row.stamps == stamps_of(day) or day.unreadable())
            events: list[Event] = [*row.retractions] if row and is_current else day.load_mentioning(_WORDS)
            for event in events:
                if isinstance(event, Withdrawal) and event.ts <= until:
                    found.setdefault(event.id, event)
    return list(found.values())
