"""Taking back the last thing a person or an entry did, or one that is named, by an event that can be taken back."""

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from eventlog import timestamps
from eventlog.app.apply import read_knowledge
from eventlog.app.naming.references import event_meant
from eventlog.app.open_store import OpenStore
from eventlog.app.rebuild import RebuildResult, replay_store
from eventlog.errors import BadRequest
from eventlog.events import (
    HUMAN,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    Rejected,
    Restored,
    Retraction,
    StageSummary,
    Withdrawal,
    counts_at,
    order,
)
from eventlog.projections.bases.ledgers import ledgers
from eventlog.retractions import Retractions

_TOGETHER_US = 500  # what one save of a file came to is dated one microsecond after the other


class Undoable(NamedTuple):
    """Something that can be taken back: the event that tells of it, and those to name, the first of them in a word."""

    told: Event
    targets: list[Event]
    what: str


class UndoResult(NamedTuple):
    """The events that took it back, and what that led to."""

    events: list[Event]
    rebuilt: RebuildResult


def undoable(opened: OpenStore, said: str = "") -> Undoable:
    """Find what is meant, or the last thing that was done and not taken back; raises BadRequest."""
    done = _Done(opened)
    if said:
        return done.named(event_meant(opened, said))
    found = max(done.all(), key=lambda one: order(one.told), default=None)
    if found is None:
        raise BadRequest("there is nothing to take back", hint="eventlog undo ID takes back one event")
    return found


def undo(opened: OpenStore, chosen: Undoable) -> UndoResult:
    """Take it back, and rebuild: text that made way comes back; raises NotStored."""
    batch = os.urandom(8).hex() if len(chosen.targets) > 1 else None
    events = [Restored(conversation_id=HUMAN, agent=HUMAN, target=target.id, batch=batch) for target in chosen.targets]
    newest = max(map(counts_at, chosen.targets), default="")
    stored = [appended.event for appended in opened.log.put(events, after=newest)]
    return UndoResult(stored, replay_store(opened))


class _Done:
    """The deeds of people and entries, as the log has them."""

    def __init__(self, opened: OpenStore) -> None:
        self._log = opened.log
        events = [event for event in opened.log.read() if isinstance(event, _DOING) or event.agent == HUMAN]
        self._events = {event.id: event for event in events}
        self._withdrawn = Retractions(event for event in events if isinstance(event, Withdrawal))
        self._firsts = _first_texts(opened)
        self._arrivals: dict[str, list[EntryApplied]] = defaultdict(list)  # by entry
        for event in self._events.values():
            if isinstance(event, EntryApplied):
                self._arrivals[event.target].append(event)

    def all(self) -> Iterator[Undoable]:
        """Yield what was done and is not taken back; what took something back is taken back by name only."""
        for event in self._events.values():
            if event.id not in self._withdrawn.events and not isinstance(event, Restored) and self._is_deed(event):
                yield self._undoable(event)

    def named(self, event_id: str) -> Undoable:
        """Find what an event did; raises BadRequest where that is nothing, or taken back."""
        event = self._events.get(event_id) or self._log.find([event_id])[event_id].event
        if isinstance(event, EntryApplied):
            event = self._events.get(event.target, event)
        if event.id in self._withdrawn.events:
            raise BadRequest("it is taken back already", where=event.id)
        if isinstance(event, Fact | StageSummary) and event.agent != HUMAN:
            raise BadRequest("an agent said this", hint=f"eventlog forget {event.id} keeps it from being said")
        if not isinstance(event, Fact | StageSummary | PlanEntry | Restored | Retraction) and not self._is_deed(event):
            raise BadRequest(f"{event.type} did nothing that could be taken back", where=event.id)
        return self._undoable(event)

    def _is_deed(self, event: Event) -> bool:
        match event:
            case EntryApplied():
                entry = self._events.get(event.target)
                is_hidden = entry is None or self._withdrawn.hides(entry)
                return isinstance(entry, PlanEntry) and not is_hidden and event.id == self._first_arrival(entry)
            case KnowledgeEdited():
                return event.id not in self._firsts
            case Fact() | StageSummary() | PlanEntry():
                is_in_force = event.agent == HUMAN and not self._withdrawn.hides(event)
                return is_in_force and event.id not in self._arrivals
            case Retraction():
                return event.agent == HUMAN
            case _:
                return isinstance(event, EntryResolved | Rejected | ProjectJoined)

    def _first_arrival(self, entry: PlanEntry) -> str:
        return min(self._arrivals[entry.id], key=order).id

    def _undoable(self, event: Event) -> Undoable:
        what = _WORDS.get(type(event), "an edit by hand")
        match event:
            case EntryApplied():
                return Undoable(event, [self._events[event.target]], what)
            case Rejected() | Restored():
                return Undoable(event, list(self._alike(event)), what)
            case PlanEntry() | EntryResolved() | ProjectJoined():
                return Undoable(event, [event], what)
            case Retraction() if event.agent != HUMAN:
                return Undoable(event, [event], "a withdrawal by an agent")
            case _:
                return Undoable(event, self._saved_together(event), what)

    def _alike(self, event: Rejected | Restored) -> Iterator[Event]:
        for other in self._events.values():
            same_batch = isinstance(other, Rejected | Restored) and event.batch and other.batch == event.batch
            if (other.id == event.id or same_batch) and other.id not in self._withdrawn.events:
                yield other

    def _saved_together(self, event: Event) -> list[Event]:
        """Collect what one save of a file came to: all of that moment, a summary told again with it."""
        since = timestamps.to_ns(event.ts)
        around = self._log.read(_shifted(since, -_TOGETHER_US), _shifted(since, _TOGETHER_US))
        kinds = (Fact, Retraction, Restored, KnowledgeEdited, StageSummary)
        by_hand = (one for one in around if one.agent == HUMAN or isinstance(one, StageSummary))
        told = (one for one in by_hand if isinstance(one, kinds) and one.id not in self._firsts)
        found = {one.id: one for one in (event, *told) if one.id not in self._withdrawn.events}
        return list(found.values())


_WORDS: dict[type[Event], str] = {
    EntryApplied: "an entry that was applied",
    PlanEntry: "an entry",
    EntryResolved: "a decision about an entry",
    Rejected: "a forgetting",
    Restored: "a taking back",
    ProjectJoined: "a joining of two projects",
}
_DOING: tuple[type[Event], ...] = (*_WORDS, KnowledgeEdited, Retraction)


def _first_texts(opened: OpenStore) -> set[str]:
    """Find the edits that only tell what a section said before there was an entry for it: nothing is behind them."""
    state = read_knowledge(opened.log, opened.settings)
    files = ledgers(state, opened.settings.knowledge_bases, opened.replica).values()
    first = (history.valid[0] for ledger in files for history in ledger.histories.values() if history.valid)
    return {wording.event for wording in first if wording.person}


def _shifted(ns: int, us: int) -> str:
    return timestamps.from_ns(ns + us * 1000)
