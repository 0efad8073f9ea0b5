"""Take back the last change of a person or an entry, a named change, or all changes of a file since a time.

Each is taken back by an event, which can be taken back in turn. A file as it was is one deed: every event since then
that has a say in it. What a person has rejected since then stays rejected: to see a file again as it was is no wish to
hear that again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.app.ask.history import Omission, document_meant, replay_at
from eventlog.app.build.rebuild import DeedResult, carry_out, replay_store
from eventlog.app.build.replay import replay
from eventlog.app.naming.references import event_meant
from eventlog.app.open_store import OpenStore
from eventlog.app.write.hand_edits import record_edits
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.events import (
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
)
from eventlog.format.retractions import Retractions, decided_by, goals_of
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.ledger import is_from, ledgers
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.markdown import unstamped
from eventlog.projections.views.memory import MEMORY, notes_path

_TOGETHER_NS = 500_000  # what one save of a file came to is dated one microsecond after the other


class Undoable(NamedTuple):
    """A change that can be taken back: the event that recorded it, the events to name, and a word for it."""

    event: Event
    targets: list[Event]
    what: str
    is_step: bool = False  # it is the last thing done: `undo` given again goes one further back
    staying: Sequence[Event] = ()  # what a person has rejected, and only by its name has again


def undoable(opened: OpenStore, reference: str = "") -> Undoable:
    """Find what is meant, or the last thing that was done on this machine and not taken back; raises BadRequest.

    What a person has just written into a memory by hand is done, too: it is recorded first. Raises NotStored.
    """
    if not reference and record_edits(opened.log, opened.settings, dry_run=True)[0]:
        replay_store(opened, projections=[MEMORY])
    done, here = _Done(opened), opened.replica or None
    newest = max((event for event in done.deeds() if done.happened_here(event, here)), key=order, default=None)
    last = done.behind(newest) if newest else None
    found = done.named(event_meant(opened, reference)) if reference else last
    if found is None:
        raise BadRequest("there is nothing to take back", hint="eventlog undo ID takes back one event")
    return found._replace(is_step=last is not None and _ids(found) == _ids(last))


def undo(opened: OpenStore, chosen: Undoable) -> DeedResult:
    """Take it back, and rebuild: text that made way comes back; raises NotStored."""
    common = Restored(conversation_id=HUMAN, agent=HUMAN, target="-", deed=not chosen.is_step)
    newest = max(map(counts_at, chosen.targets), default="")
    return carry_out(opened, [replace(common, target=target.id) for target in chosen.targets], after=newest)


def _ids(found: Undoable) -> set[str]:
    return {target.id for target in found.targets}


class _Done:
    """The deeds of people and entries, as the log has them.

    A deed is what one verb, one save of a file or one entry that was applied came to. What is carried out because of a
    deed (an entry that had waited for it) is part of it: nothing else was left to do when a person decided.
    """

    def __init__(self, opened: OpenStore) -> None:
        self._log = opened.log
        named = opened.log.mentioning(_NAMED)
        deeds = (event for event in named if isinstance(event, _DOING) or event.agent == HUMAN or _batch(event))
        events = sorted(deeds, key=order)
        self._events = {event.id: event for event in events}
        self._withdrawn = Retractions(event for event in events if isinstance(event, Withdrawal))
        self._firsts = _first_texts(opened)
        self._saves = {event.ts for event in events if isinstance(event, Fact) and event.agent == HUMAN}
        self._batches: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            if isinstance(event, Rejected | Restored) or _batch(event):
                self._batches[_batch(event) or event.id].append(event)
        self._arrivals: dict[str, EntryApplied] = {}  # the first of each entry
        self._applied: set[tuple[str | None, str | None]] = set()  # entries, and the stores that applied them
        self._let_through: dict[str, str] = {}  # entries, and the decision each had waited for
        self._follow(self._around({event.ts[:10] for event in events if isinstance(event, EntryApplied)}))

    def _around(self, dates: Collection[str]) -> list[Event]:
        """Read the days on which entries arrived, and those before them that may end with the decision behind that."""
        found: list[list[Event]] = []
        is_open = False
        for date in reversed([day.date for day in self._log.days()] if dates else []):
            if date in dates or is_open:
                found.append(list(self._log.read(date, f"{date}~")))
                is_open = not found[-1] or isinstance(found[-1][0], EntryApplied | KnowledgeEdited)
        return [event for events in reversed(found) for event in events]

    def _follow(self, events: Iterable[Event]) -> None:
        """Find what each decision let through: the entries that arrived after it before anything else happened."""
        decision = ""
        for event in events:
            match event:
                case EntryApplied():
                    if decision and event.target not in self._arrivals:
                        self._let_through[event.target] = decision
                    self._arrivals.setdefault(event.target, event)
                    self._applied.add((event.target, event.replica))
                case KnowledgeEdited():
                    pass  # what an entry is about to change is told before
                case Rejected() | EntryResolved() | Restored():
                    decision = event.id
                case _:
                    decision = ""

    def deeds(self) -> Iterator[Event]:
        """Yield the events of what was done and is not taken back; a step back is taken back by its id only."""
        return (
            event for event in self._events.values() if event.id not in self._withdrawn.events and self._is_deed(event)
        )

    def happened_here(self, event: Event, replica: str | None) -> bool:
        """Return whether it was done in this store, not by itself; an entry, whether it reached a file there, too."""
        if isinstance(event, ProjectJoined) and event.agent != HUMAN:
            return False
        target = event.target if isinstance(event, EntryApplied) else None
        return isinstance(event, PlanEntry) or is_from(event, replica) or (target, replica) in self._applied

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
        return self.behind(event)

    def _is_deed(self, event: Event) -> bool:
        match event:
            case EntryApplied():
                entry = self._events.get(event.target)
                is_hidden = entry is None or self._withdrawn.hides(entry)
                decision = self._events.get(self._let_through.get(event.target, ""))
                is_first = event == self._arrivals[event.target] and not (decision and self._is_deed(decision))
                return isinstance(entry, PlanEntry) and not is_hidden and is_first
            case KnowledgeEdited():
                return event.id not in self._firsts
            case Fact() | StageSummary() | PlanEntry():
                is_in_force = event.agent == HUMAN and not self._withdrawn.hides(event)
                return is_in_force and event.id not in self._arrivals
            case Retraction():
                return event.agent == HUMAN
            case Restored():
                return event.deed or self._is_saved(event)
            case _:
                return isinstance(event, EntryResolved | Rejected | ProjectJoined)

    def _is_saved(self, event: Restored) -> bool:
        """Return whether the event came from saving a file, in which a person wrote the text again."""
        return event.batch is None and event.ts in self._saves

    def behind(self, event: Event) -> Undoable:
        """Find all that the deed of an event came to."""
        deed = self._batches.get(_batch(event) or event.id)
        first = deed[0] if deed else event
        what = _WORDS.get(type(first), "a correction" if _batch(event) else "a change of yours")
        if deed and not (isinstance(event, Restored) and self._is_saved(event)):
            return Undoable(event, self._with_what_waited(deed), what)
        match event:
            case EntryApplied():
                return Undoable(event, [self._events[event.target]], what)
            case EntryResolved():
                return Undoable(event, self._with_what_waited([event]), what)
            case PlanEntry() | ProjectJoined():
                return Undoable(event, [event], what)
            case Retraction() if event.agent != HUMAN:
                return Undoable(event, [event], "a withdrawal by an agent")
            case _:
                return Undoable(event, self._saved_together(event), "a change of yours")

    def _with_what_waited(self, decisions: Iterable[Event]) -> list[Event]:
        in_force = [event for event in decisions if event.id not in self._withdrawn.events]
        decided = {event.target for event in in_force if isinstance(event, EntryResolved)}  # these wait again
        by = {event.id for event in in_force}
        let_through = [
            entry for entry, decision in self._let_through.items() if decision in by and entry not in decided
        ]
        entries = [entry for entry in map(self._events.get, let_through) if isinstance(entry, PlanEntry)]
        return [*in_force, *(entry for entry in entries if not self._withdrawn.hides(entry))]

    def _saved_together(self, event: Event) -> list[Event]:
        """Collect the events of one save of a file: all of that moment, with a repeated summary."""
        since = timestamps.to_ns(event.ts)
        around = self._log.read(timestamps.from_ns(since - _TOGETHER_NS), timestamps.from_ns(since + _TOGETHER_NS))
        kinds = (Fact, Retraction, KnowledgeEdited, StageSummary)
        others = (
            other
            for other in around
            if (isinstance(other, kinds) and (other.agent == HUMAN or isinstance(other, StageSummary)))
            or (isinstance(other, Restored) and self._is_saved(other))
        )
        stays = self._withdrawn.events | self._firsts
        found = {other.id: other for other in (event, *others) if other.id not in stays and not _batch(other)}
        return list(found.values())


def _batch(event: Event) -> str | None:
    """Return what the events of a deed have in common; None for an event that stands alone, or an agent's plan."""
    return event.batch if isinstance(event, Rejected | Restored | Fact | StageSummary | Retraction) else None


_WORDS: dict[type[Event], str] = {
    EntryApplied: "an entry that was applied",
    PlanEntry: "an entry",
    EntryResolved: "a decision about an entry",
    Rejected: "a forgetting",
    Restored: "a taking back",
    ProjectJoined: "a joining of two projects",
}
_DOING: tuple[type[Event], ...] = (*_WORDS, KnowledgeEdited, Retraction)
_STATING: tuple[type[Event], ...] = (Fact, StageSummary)
_SAYING = [f'"{kind.__struct_config__.tag}"'.encode() for kind in (*_DOING, *_STATING)]
_NAMED = [*_SAYING[: len(_DOING)], *(f'"{name}"'.encode() for name in (HUMAN, "batch"))]


def _first_texts(opened: OpenStore) -> set[str]:
    """Find the edits that only record the text of a file before an entry changed it: no person did anything there."""
    state = replay(opened.log, opened.settings, projections=[]).knowledge
    files = ledgers(state, opened.settings.knowledge_bases, opened.replica).values()
    return {text for ledger in files for text in ledger.recorded_before_entries}


def restorable(opened: OpenStore, file: str, as_of: str) -> Undoable:
    """Find what has to be taken back for a memory or a knowledge base to be as it was; raises BadRequest."""
    then, now = replay_at(opened, as_of), replay_at(opened)
    path = document_meant(opened, file, now, then)
    if not (MEMORY.owns_path(path) or path.startswith("bases/")):
        raise BadRequest("only a MEMORY.md or a knowledge base can be restored", where=path)
    events = sorted(opened.log.mentioning(_SAYING), key=order)
    since = _Since(events, list(_with_a_say(opened, now, path, events)), as_of, _first_texts(opened))

    def later(date: str) -> bool:
        return date >= as_of[:10]

    def stays(event: Event) -> bool:
        return event.ts <= as_of or event.id in since.staying

    was = _lines_of(path, replay(opened.log, opened.settings, keep=stays, concerns=later) if since.staying else then)
    if was == _lines_of(path, now):
        but = ", but for what you have forgotten" if since.rejected else ""
        hint = "\n".join(f"eventlog undo {rejection.id}" for rejection in since.rejected)
        raise BadRequest(f"it is as it was then{but}", where=path, hint=hint)
    targets = since.targets
    without = Omission(events=frozenset(event.id for event in targets))
    if not targets or _lines_of(path, replay(opened.log, opened.settings, keep=without.keeps, concerns=later)) != was:
        raise BadRequest("it cannot be had back as it was: more than what was said has changed since", where=path)
    return Undoable(targets[-1], targets, f"what changed {path} since then", staying=since.rejected)


def _lines_of(path: str, replayed: ReplayResult) -> list[str] | None:
    document = replayed.document(path)
    return None if document is None else unstamped(document)


def _with_a_say(opened: OpenStore, now: ReplayResult, path: str, events: list[Event]) -> Iterator[Event]:
    """Yield what a file was ever made of: entries and edits of a base, or what is stated in a memory."""
    bases = opened.settings.knowledge_bases
    for event in events:
        if isinstance(event, PlanEntry | KnowledgeEdited):
            place = BaseFile.of(event.key, event.project, bases)
            if (place and place.document == path) or event.key.path == notes_path(path):
                yield event
    names = [
        name
        for name in now.index.names(MEMORY.name)
        if any(document.path == path for document in now.rendered((MEMORY.name, name)))
    ]
    for conversation in now.conversations.by_id.values() if names else ():
        yield from (fact for fact in conversation.facts if fact.subject in names)
        if (conversation.project or "") in names:
            yield from (summary for summary in conversation.summaries if summary.decisions)


class _Since:
    """The decisions and texts since a time that changed a file.

    `targets` are to be taken back. `staying` is what is not: texts from before any entry, and what keeps something
    away; of that, `rejected` is about what the file said.
    """

    def __init__(self, events: list[Event], statements: list[Event], as_of: str, first_texts: set[str]) -> None:
        withdrawals = {event.id: event for event in events if isinstance(event, Withdrawal)}
        now = Retractions(withdrawals.values())
        then = Retractions(event for event in withdrawals.values() if event.ts <= as_of)
        self.staying = first_texts | {event.id for event in events if _keeps_away(event, withdrawals, now)}
        with_them = {_batch(event) for event in withdrawals.values() if isinstance(event, Rejected)} - {None}
        self.staying |= {event.id for event in events if isinstance(event, Retraction) and event.batch in with_them}
        self.targets: list[Event] = []
        self.rejected: list[Rejected] = []
        ids = {event.id for event in statements}
        before = [event for event in events if event.id in ids and event.ts <= as_of]  # with all their words
        goals = goals_of(before, events) - {event.id for event in before}
        for event in events:
            decides = not goals.isdisjoint(decided_by(event))
            if event.subagent or not (decides or event.id in ids):
                continue
            if event.ts <= as_of:
                goals |= set() if event.id in then.events else {event.id}
            elif event.id not in now.events | self.staying:
                self.targets.append(event)
            elif decides and isinstance(event, Rejected) and event.id not in now.events:
                self.rejected.append(event)


def _keeps_away(event: Event, withdrawals: dict[str, Withdrawal], now: Retractions) -> bool:
    """Return whether this event causes a rejection now: it is the decision, or brought it back."""
    if event.id in now.events:
        return False
    if isinstance(event, EntryResolved):
        return event.choice == "discard"
    withdrawal = withdrawals.get(event.id)
    while withdrawal and not isinstance(withdrawal, Rejected) and (older := withdrawals.get(withdrawal.target or "")):
        if older.ts >= withdrawal.ts:
            return False
        withdrawal = older
    return isinstance(withdrawal, Rejected) and withdrawal.id not in now.events
