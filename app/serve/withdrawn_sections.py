"""Sections of knowledge bases that a withdrawn plan entry put there: left out before the next replay removes them.

Loaded where something was withdrawn lately: it reads the log with its types, and Markdown.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from eventlog.app.build.cache import open_for_reading
from eventlog.format.events import Event, PlanEntry, Restored, Withdrawal
from eventlog.format.ids import day_in_id
from eventlog.format.retractions import Retractions
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projections.bases.sections import Page, canonical
from eventlog.projections.current.withdrawals import retractions_since
from eventlog.store import Store


def without_withdrawn_sections(text: str, store: Store, since: str, until: str) -> str:
    """Drop from a knowledge base the sections that an entry put there which was withdrawn in that time."""
    log = EventLog(store)
    withdrawals = retractions_since(log, open_for_reading(store), since, until).retractions
    withdrawn = Retractions(withdrawals)
    for entry in _targets(log, withdrawals):
        if isinstance(entry, PlanEntry) and entry.content and withdrawn.hides(entry):
            page = Page(text.encode())
            section = page.find(entry.key.heading, entry.key.level)
            if section and page.text(section) == canonical(entry.content):
                text = b"".join([*page.lines[: section.start], *page.lines[section.end :]]).decode()
    return text


def _targets(log: EventLog, withdrawals: Iterable[Withdrawal]) -> Iterator[Event]:
    """Yield the withdrawn events, reading only the days the ids name, and of those the lines that mention an id."""
    by_day: dict[str, list[bytes]] = {}
    for withdrawal in withdrawals:
        conversation = None if isinstance(withdrawal, Restored) else withdrawal.conversation
        if conversation:
            with suppress(OSError):
                yield from log.session(conversation)
        elif withdrawal.target:
            by_day.setdefault(day_in_id(withdrawal.target), []).append(withdrawal.target.encode())
    for date, targets in by_day.items():
        with suppress(OSError):
            yield from (event for day in log.days(date, date) for event in days.load_mentioning(day, targets))
