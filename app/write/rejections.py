"""Find the decision of a person against a statement, before an agent repeats it."""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from eventlog.app.build.cache import open_for_reading
from eventlog.format.events import EntryResolved, Event, Fact, PlanEntry, Rejected, StageSummary
from eventlog.format.marks import mark_in, marks_of
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import one_line, statement_of
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.projections.current.withdrawals import withdrawals_until

if TYPE_CHECKING:
    from eventlog.projections.bases.base_file import Bases
    from eventlog.projections.bases.ledger import Refusals


class Rejections:
    """The decisions of people about statements, as far as the log can be read: storing reports what is wrong.

    Each is read when it is first asked for, once. `bases` tells what knowledge bases there are.
    """

    def __init__(self, log: EventLog, bases: "Callable[[], Bases]" = dict) -> None:
        self._log = log
        self._bases = bases

    def of(self, event: Event) -> Event | None:
        """Find the decision that rejects a fact or a summary, or None."""
        if event.subagent or not isinstance(event, Fact | StageSummary):
            return None
        found = self._withdrawn.rejections(event.content if isinstance(event, Fact) else event.summary)
        if not found:
            alike = (other for other in self._targets if _words(event) == _words(other))
            found = [rejection for other in alike for rejection in self._withdrawn.rejections_of(other)]
        return self._event(found[0]) if found else None

    def of_entry(self, entry: PlanEntry) -> Event | None:
        """Find the decision that rejects a plan entry: about its text, or about an entry that plans the same."""
        about_text = self._withdrawn.rejections(entry.content or "")
        found = about_text[0] if about_text else self._refusals.of(entry)
        return self._event(found) if found else None

    def line_of(self, entry: PlanEntry) -> str:
        """Return the line for which a plan entry has to wait, because a person rejected it; "" for none."""
        from eventlog.projections.bases.ledger import rejected_line

        return rejected_line(entry, self._withdrawn.rejects)

    @cached_property
    def _withdrawn(self) -> Retractions:
        with suppress(OSError):
            return Retractions(withdrawals_until(self._log, open_for_reading(self._log.store)))
        return Retractions(())

    @cached_property
    def _targets(self) -> list[Event]:
        """The events that were rejected by their ids."""
        return self._events(self._withdrawn.rejected_events)

    @cached_property
    def _refusals(self) -> "Refusals":
        from eventlog.projections.bases.ledger import Refusals  # brings YAML along, which facts need not

        discarded: list[EntryResolved] = []
        with suppress(OSError):
            discarded = list(self._log.of_types(EntryResolved))
        entries = [*self._targets, *self._events([event.target for event in discarded])]
        planned = [event for event in entries if isinstance(event, PlanEntry)]
        return Refusals(planned, discarded, self._withdrawn, self._bases() if planned else {})

    def _events(self, ids: Collection[str]) -> list[Event]:
        return [line.event for line in self._log.find(ids).values()] if ids else []

    def _event(self, event_id: str) -> Event:
        return self._log.find([event_id])[event_id].event


def worded(log: EventLog, rejections: Iterable[Rejected]) -> list[Rejected]:
    """Give rejections of statements their words, for people to read, where a line of the log still has them."""
    found = list(rejections)
    lines = log.find({rejection.source or rejection.id for rejection in found if rejection.digest})
    return [_worded(rejection, lines.get(rejection.source or rejection.id)) for rejection in found]


def _worded(rejection: Rejected, line: LogLine | None) -> Rejected:
    if not rejection.digest or line is None:
        return rejection
    if isinstance(line.event, Rejected):
        return line.event
    says = (text for text in statements_of(line.event) if mark_in(rejection) in marks_of(text, [rejection.salt or ""]))
    found = next(says, None)
    return replace(rejection, statement=one_line(found), salt=None, digest=None, source=None) if found else rejection


def _words(event: Event) -> tuple[str, ...] | None:
    """Reduce a fact or a summary to what equal statements have in common; None for other types."""
    match event:
        case Fact():
            return (statement_of(event.content),)
        case StageSummary():
            return statement_of(event.topic), statement_of(event.summary)
        case _:
            return None
