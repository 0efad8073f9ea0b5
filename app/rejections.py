"""Find the decision of a person that keeps something from being said, before an agent says it again."""

from collections.abc import Iterator
from contextlib import suppress

from eventlog import days
from eventlog.app.cache import kept
from eventlog.events import EntryResolved, Event, Fact, PlanEntry, Rejected, StageSummary, Withdrawal
from eventlog.log import EventLog
from eventlog.projections.bases.ledger import rejected_line
from eventlog.projections.bases.names import Bases
from eventlog.projections.bases.refusals import Refusals
from eventlog.projections.context.recent_events import decided_before
from eventlog.retractions import Retractions
from eventlog.text import statement_of


class Rejections:
    """The decisions of people about what is said, as far as the log can be read: storing tells what is wrong."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        made: list[Withdrawal] = []
        with suppress(OSError):
            made = decided_before(log, kept(log.store))
        self._withdrawn = Retractions(made)
        rejected = (one for one in made if isinstance(one, Rejected) and one.id not in self._withdrawn.events)
        self._by_target = {str(one.target): one.id for one in rejected if one.target}

    def of(self, event: Event) -> Event | None:
        """Find the decision that keeps a fact or a summary from being said; None where there is none."""
        if event.subagent or not isinstance(event, Fact | StageSummary):
            return None
        found = self._withdrawn.rejections(event.content if isinstance(event, Fact) else event.summary)
        found = found or [self._by_target[other.id] for other in self._targets() if _says_as_much(event, other)]
        return self._event(found[0]) if found else None

    def of_entry(self, entry: PlanEntry, bases: Bases) -> Event | None:
        """Find the decision that keeps a plan entry from being planned: about the text, or one that plans the same."""
        found = self._withdrawn.rejections(entry.content or "")
        if not found:
            discarded = self._discards()
            targets = self._log.find([one.target for one in discarded]).values() if discarded else ()
            entries = [*self._targets(), *(line.event for line in targets)]
            planned = (event for event in entries if isinstance(event, PlanEntry))
            found = list(filter(None, [Refusals(planned, discarded, self._withdrawn, bases).of(entry)]))
        return self._event(found[0]) if found else None

    def line_of(self, entry: PlanEntry) -> str:
        """Return the line for which a plan entry has to wait: a person does not want it said; "" for none."""
        return rejected_line(entry, self._withdrawn.rejects)

    def _targets(self) -> Iterator[Event]:
        """Yield what was rejected by its id."""
        if self._by_target:
            yield from (line.event for line in self._log.find(set(self._by_target)).values())

    def _discards(self) -> list[EntryResolved]:
        found: list[EntryResolved] = []
        with suppress(OSError):
            for day in self._log.days():
                made = days.load_mentioning(day, [b'"entry_resolved"'])
                found += (event for event in made if isinstance(event, EntryResolved))
        return found

    def _event(self, event_id: str) -> Event:
        return self._log.find([event_id])[event_id].event


def _says_as_much(event: Event, other: Event) -> bool:
    match event, other:
        case Fact(content=text), Fact(content=earlier):
            return statement_of(text) == statement_of(earlier)
        case StageSummary(), StageSummary():
            return _reduced(event) == _reduced(other)
        case _:
            return False


def _reduced(summary: StageSummary) -> tuple[str, str]:
    return statement_of(summary.topic), statement_of(summary.summary)
