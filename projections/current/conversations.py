"""Conversations, their times of work, places and statements: the state most projections ask.

Events that carry words (facts, summaries, retractions) are kept as they are, and receipts of recalls; of all others
only what they add up to.
Subagents' events are for audits and are left out, and so is what became of plan entries afterwards: that a file was
written, edited or decided about next week is no part of the conversation that planned it. What a person rejects or
takes back is no part of any.

What was planned, applied, decided and edited by hand is the state of knowledge bases (`Knowledge`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import filterfalse, groupby
from operator import attrgetter
from typing import ClassVar, assert_never

from msgspec import Struct, field
from msgspec.structs import fields

from eventlog.format.events import (
    HUMAN,
    AnyEvent,
    ContextInjected,
    ConversationText,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    HostEvent,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    ProjectSeen,
    Redacted,
    Rejected,
    Restored,
    Retraction,
    SaveRequested,
    SessionEnd,
    SessionStart,
    StageSummary,
    TurnEnd,
    UnknownEvent,
    Withdrawal,
)
from eventlog.format.retractions import Retractions, wordless
from eventlog.format.timestamps import counts_at, order
from eventlog.hosts import protocol
from eventlog.log.envelope_scan import Envelope

Named = tuple[str, str, str]  # ts and id of the first event that names it, and the name
_NEVER: Named = ("~", "", "")
_OF_WORK = ("session_start", "turn_end")
_OF_PROJECTS = (ProjectSeen, ProjectJoined)
_OF_NONE = (*_OF_PROJECTS, Rejected, Restored, EntryApplied, EntryResolved, KnowledgeEdited)
_ts_of, _replica_of, _name_of, _agent_of = map(attrgetter, ("ts", "replica", "name", "agent"))
_subagent_of, _conversation_of = attrgetter("subagent"), attrgetter("conversation_id")


class Conversation(Struct, array_like=True):
    """The state of a conversation."""

    id: str
    started_at: str = "~"  # its first event, whether or not a session_start arrived
    last_at: str = ""
    resumed_at: str = ""  # the last sign of work: a start or a finished turn
    end: SessionEnd | None = None  # the newest
    first_project: Named = _NEVER
    first_agent: Named = _NEVER
    first_replica: Named = _NEVER
    place: str | None = None  # the path of the project, where `first_project` names its identity
    turn_ends: int = 0
    events: int = 0
    flushed: bool = False  # asked to save before a compaction
    asked: bool = False  # asked to save at the end of a turn
    facts: list[Fact] = []
    summaries: list[StageSummary] = []
    receipts: int = 0  # of contexts it was given
    prompts: int = 0  # with which a hook might have told something
    recalled: list[ContextInjected] = []  # receipts of what was told with a prompt or before a file
    worked_at: str = ""  # its last event that is no fact and no summary

    @property
    def project(self) -> str | None:
        """The project the conversation worked in, as first named."""
        return self.first_project[2] or None

    @property
    def agent(self) -> str | None:
        """The host program, as first named."""
        return self.first_agent[2] or None

    @property
    def replica(self) -> str | None:
        """The store whose machine it ran on, as first named."""
        return self.first_replica[2] or None

    def taken_back(self, withdrawn: Retractions) -> set[str]:
        """Collect what a person recorded in it by hand, and took back: that was no work, as if it had never been."""
        if not withdrawn.taken_back:
            return set()
        return {event.id for event in (*self.facts, *self.summaries) if event.id in withdrawn.taken_back}

    def last_work(self, withdrawn: Retractions) -> str:
        """Return when it was last at work."""
        gone = self.taken_back(withdrawn)
        if not gone:
            return self.last_at
        times = (event.ts for event in (*self.facts, *self.summaries) if event.id not in gone)
        return max([self.worked_at, *times])

    @property
    def began(self) -> bool:
        """The conversation has more events than an end, or than receipts of contexts.

        Some hosts end threads that nobody ever spoke in.
        """
        return self.events > self.receipts + (self.end is not None)

    @property
    def ended(self) -> SessionEnd | None:
        """Return the newest end, unless the conversation came back after it."""
        return self.end if self.end and counts_at(self.end) >= self.resumed_at else None

    @property
    def turns(self) -> int:
        """Return how many turns were finished, by their ends, or by what an import counted."""
        return max(self.turn_ends, (self.end and self.end.turns) or 0)

    def fold(self, events: Sequence[AnyEvent], skimmed: Sequence[Envelope] = ()) -> None:
        """Fold events of this conversation, whole events and envelopes of others; at least a single event."""
        self._date(skimmed, events)
        self._count(skimmed)
        for event in events:
            self._hear(event)

    def _count(self, skimmed: Sequence[Envelope]) -> None:
        for event in [event for event in skimmed if event.type != "host_event"]:
            if event.type in _OF_WORK:
                self.turn_ends += event.type == "turn_end"
                self.resumed_at = max(self.resumed_at, counts_at(event))
            elif event.type == "context_injected":
                self.receipts += 1
        names = list(map(_name_of, skimmed))
        for agent in set(map(_agent_of, skimmed)):
            if (prompt := protocol(agent).prompt) and prompt in names:
                named = [event for event in skimmed if event.name == prompt]
                self.prompts += sum(event.type == "host_event" and event.agent == agent for event in named)

    def _hear(self, event: AnyEvent) -> None:
        match event:
            case Fact():
                self.facts.append(event)
            case StageSummary():
                self.summaries.append(event)
            case ContextInjected():
                self.receipts += 1
                self.recalled += [event] if event.trigger != "start" else []
            case SessionEnd():
                self.end = _newest(self.end, event)
            case TurnEnd():
                self.turn_ends += 1
                self.resumed_at = max(self.resumed_at, counts_at(event))
            case SessionStart():
                self.resumed_at = max(self.resumed_at, counts_at(event))
            case SaveRequested():
                self.flushed = self.flushed or event.trigger == "pre_compact"
                self.asked = self.asked or event.trigger == "stop"
            case HostEvent():
                self.prompts += event.name == protocol(event.agent).prompt
            case (
                ConversationText() | PlanEntry() | Retraction() | Rejected()
                | Restored() | EntryApplied() | EntryResolved() | KnowledgeEdited() | ProjectSeen() | ProjectJoined()
                | Redacted() | UnknownEvent()
            ):  # fmt: skip
                pass  # dated; nothing else is asked of it
            case _:
                assert_never(event)

    def _date(self, skimmed: Sequence[Envelope], heard: Sequence[AnyEvent]) -> None:
        """Note how many there are, when they were, and what the first of them name."""
        events = [*skimmed, *heard]
        times = list(map(_ts_of, events))
        begun = min(times)
        self.events += len(events)
        self.started_at = min(self.started_at, begun)
        self.last_at = max(self.last_at, *times)
        work = (event.ts for event in heard if not isinstance(event, Fact | StageSummary))
        self.worked_at = max([self.worked_at, *times[: len(skimmed)], *work])
        first = events[times.index(begun)]
        if times.count(begun) > 1:
            first = min((event for event in events if event.ts == begun), key=order)
        has_all = first.project and first.agent and (first.replica or not any(map(_replica_of, events)))
        for event in (first,) if has_all else events:
            self._learn_names(event)

    def _learn_names(self, event: AnyEvent | Envelope) -> None:
        ts = event.ts
        if event.project and ts <= self.first_project[0]:
            self.first_project = min(self.first_project, (ts, event.id, event.project))
        if event.agent and ts <= self.first_agent[0]:
            self.first_agent = min(self.first_agent, (ts, event.id, event.agent))
        if event.replica and ts <= self.first_replica[0]:
            self.first_replica = min(self.first_replica, (ts, event.id, event.replica))

    @classmethod
    def merged(cls, parts: Iterable["Conversation"]) -> "Conversation":
        """Merge the parts of a conversation, at least one part; leave them unchanged, and share no list with them."""
        first, *others = parts
        found = copy(first)
        for name in _LISTS:
            setattr(found, name, getattr(first, name)[:])
        for other in others:
            found.merge(other)
        return found

    def merge(self, other: "Conversation") -> None:
        """Take in what other events of this conversation led to."""
        self.started_at = min(self.started_at, other.started_at)
        self.last_at = max(self.last_at, other.last_at)
        self.worked_at = max(self.worked_at, other.worked_at)
        self.resumed_at = max(self.resumed_at, other.resumed_at)
        self.end = _newest(self.end, other.end)
        self.first_project = min(self.first_project, other.first_project)
        self.first_agent = min(self.first_agent, other.first_agent)
        self.first_replica = min(self.first_replica, other.first_replica)
        self.turn_ends += other.turn_ends
        self.events += other.events
        self.receipts += other.receipts
        self.prompts += other.prompts
        self.recalled += other.recalled
        self.flushed = self.flushed or other.flushed
        self.asked = self.asked or other.asked
        self.facts += other.facts
        self.summaries += other.summaries


_LISTS = tuple(each.name for each in fields(Conversation) if isinstance(each.default_factory, type))


class _Stay(Struct, array_like=True):
    """The first event of a machine at a path, and the time of the last."""

    first: tuple[str, str]  # ts and id
    last: str


class Places(Struct):
    """The events about projects, unfolded, and the stays of each machine at each path."""

    seen: list[ProjectSeen] = field(default_factory=list)
    joined: list[ProjectJoined] = field(default_factory=list)
    stays: dict[str, dict[str, _Stay]] = field(default_factory=dict)  # path -> replica -> stay

    def fold(self, event: Event | Envelope) -> None:
        """Take in one event."""
        if isinstance(event, ProjectSeen):
            self.seen.append(event)
            if event.replica:
                self._stay(event.path, event.replica, _Stay(order(event), ""))
        elif isinstance(event, ProjectJoined):
            self.joined.append(event)
        elif event.replica and event.project:
            self._stay(event.project, event.replica, _Stay(order(event), event.ts))

    def merge(self, other: "Places") -> None:
        """Merge the places of other events."""
        self.seen += other.seen
        self.joined += other.joined
        for path, stays in other.stays.items():
            for replica, stay in stays.items():
                self._stay(path, replica, stay)

    def _stay(self, path: str, replica: str, stay: _Stay) -> None:
        at = self.stays.setdefault(path, {})
        old = at.get(replica, stay)
        at[replica] = _Stay(min(old.first, stay.first), max(old.last, stay.last))


class Conversations(Struct):
    """The conversations of a log, and the retractions."""

    version: ClassVar[int] = 11

    by_id: dict[str, Conversation] = field(default_factory=dict)
    retractions: list[Withdrawal] = field(default_factory=list)
    notes: list[KnowledgeEdited] = field(default_factory=list)  # what people wrote into files of the store
    places: Places = field(default_factory=Places)

    def fold(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.fold_all((event,))

    def fold_all(self, events: Iterable[AnyEvent], skimmed: Iterable[Envelope] = ()) -> None:
        """Fold events at once, whole events and envelopes of others: the same as singly."""
        counted: defaultdict[str, list[Envelope]] = defaultdict(list)
        own = list(filterfalse(_subagent_of, skimmed))
        for conversation_id, together in groupby(own, _conversation_of):  # a loop of our own takes four times as long
            counted[conversation_id].extend(together)
        for envelope in filter(_replica_of, own):
            self.places.fold(envelope)
        heard: defaultdict[str, list[AnyEvent]] = defaultdict(list)
        for event in events:
            if not event.subagent and self._is_of_conversation(event):
                heard[event.conversation_id].append(event)
        for conversation_id in {**counted, **heard}:
            if conversation_id not in self.by_id:
                self.by_id[conversation_id] = Conversation(conversation_id)
            self.by_id[conversation_id].fold(heard[conversation_id], counted[conversation_id])

    def _is_of_conversation(self, event: AnyEvent) -> bool:
        """Fold what an event adds beyond its conversation; return whether it is a part of that."""
        if event.replica or type(event) in _OF_PROJECTS:
            self.places.fold(event)
        match event:
            case Fact() | StageSummary() | ContextInjected() | SessionEnd():
                return True  # the many
            case Retraction() | Rejected() | Restored():
                self.retractions.append(wordless(event) if isinstance(event, Rejected) else event)
                return isinstance(event, Retraction) and event.agent != HUMAN
            case KnowledgeEdited():
                self.notes += [event] if (event.key.path or "").startswith("knowledge/") else []
        return not isinstance(event, _OF_NONE)

    def merge(self, other: "Conversations") -> None:
        """Take in the state of other events."""
        for conversation_id, theirs in other.by_id.items():
            own = self.by_id.get(conversation_id)
            if own is None:
                self.by_id[conversation_id] = Conversation.merged((theirs,))
            else:
                own.merge(theirs)
        self.retractions += other.retractions
        self.notes += other.notes
        self.places.merge(other.places)

    def in_order(self) -> list[Conversation]:
        """Sort all conversations that began by their start."""
        begun = (conversation for conversation in self.by_id.values() if conversation.began)
        return sorted(begun, key=lambda conversation: (conversation.started_at, conversation.id))

    def withdrawn(self) -> Retractions:
        """Return the withdrawals in force."""
        return Retractions(self.retractions)


class Knowledge(Struct):
    """The events that change knowledge bases, unfolded; `bases/ledger.py: ledgers` folds them."""

    version: ClassVar[int] = 4

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: list[EntryResolved] = field(default_factory=list)
    retractions: list[Withdrawal] = field(default_factory=list)

    @property
    def tells_of_files(self) -> bool:
        """The log has planned, applied, resolved or edited entries: withdrawals alone concern no file."""
        return bool(self.entries or self.edits or self.applied or self.resolved)

    def fold(self, event: AnyEvent) -> None:
        """Take in one event; most do not concern knowledge bases, and subagents' are for audits."""
        if event.subagent:
            return
        match event:
            case PlanEntry():
                self.entries.append(event)
            case KnowledgeEdited():
                self.edits.append(event)
            case EntryApplied():
                self.applied.append(event)
            case EntryResolved():
                self.resolved.append(event)
            case Retraction() | Restored():
                self.retractions.append(event)
            case Rejected():
                self.retractions.append(wordless(event))

    def merge(self, other: "Knowledge") -> None:
        """Take in the state of other events."""
        self.entries += other.entries
        self.edits += other.edits
        self.applied += other.applied
        self.resolved += other.resolved
        self.retractions += other.retractions


def _newest(session_end: SessionEnd | None, other: SessionEnd | None) -> SessionEnd | None:
    if session_end is None or other is None:
        return session_end or other
    return max(session_end, other, key=order)
