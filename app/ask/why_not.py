"""Why something is not in a memory: withdrawn or rejected by whom, replaced, a repetition, no room, a helper's."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, Fact, PlanEntry, Restored, StageSummary, Withdrawal, order
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import one_line, same_text, statement_of
from eventlog.projections.base import Document
from eventlog.projections.bases.ledgers import Refusals
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import fact_scope
from eventlog.projections.views.memory import MEMORY

Cause = Literal[
    "there", "repetition", "no room", "replaced", "withdrawn", "rejected", "helper", "summary", "planned", "unknown",
    "told", "no start", "shared", "later", "elsewhere", "cut", "unasked", "below", "left out",
]  # fmt: skip  # the last nine are of one session (`why_not_told`)
_LISTED = 8  # statements that have the text in them
_BULLET = "- ["


class Absence(NamedTuple):
    """Something that was said, and why it is not in a memory, or where it is.

    `by` is the event that withdrew, rejected or replaced it, or said it first; `place` the file that has it, or has no
    room for it, `rank` its place among the `ranked` facts of that. Where no prompt of a session asked for it, `score`
    is what the nearest one shares with it, of the `need`; `had_start`: its start was answered.
    """

    event: Event
    text: str
    cause: Cause
    by: Event | None = None
    place: str = ""
    rank: int = 0
    ranked: int = 0
    score: float = 0.0
    need: float = 0.0
    had_start: bool = True


class _Shown(NamedTuple):
    """A fact as a memory would tell it, whether there is room for it, and its rank."""

    fact: DistinctFact
    place: str
    has_room: bool
    rank: int
    ranked: int


def why_not(opened: OpenStore, said: str) -> list[Absence]:
    """Tell of every statement that has the text in it why it is not in a memory; raises BadRequest where none has.

    A statement that says just this comes alone.
    """
    wanted = statement_of(said)
    entries = [entry.event for entry in opened.log.entries()]
    found: dict[tuple[str, bool], list[tuple[Event, str]]] = {}
    for event in entries:
        for text in map(one_line, statements_of(event)):
            if wanted in statement_of(text):
                found.setdefault((statement_of(text), bool(event.subagent)), []).append((event, text))
    if not found:
        raise BadRequest(f"nobody has ever said {said!r}", hint="eventlog query --grep finds the very characters")
    exact = {key: says for key, says in found.items() if key[0] == wanted} or found
    told = _Told(opened, said, entries)
    return [told.absence(says) for says in list(exact.values())[:_LISTED]]


class _Told:
    """The memories of a log, and the withdrawals in force."""

    def __init__(self, opened: OpenStore, asked: str, entries: list[Event]) -> None:
        self._asked = one_line(asked)
        self._replayed = replay(opened.log, opened.settings, save=False)
        self._withdrawn: Retractions = self._replayed.library.withdrawn
        state, bases = self._replayed.knowledge, opened.settings.knowledge_bases
        self._refusals = Refusals(state.entries, state.resolved, self._withdrawn, bases, state.applied)
        self._withdrawals = [event for event in entries if isinstance(event, Withdrawal)]
        self._by_id = {event.id: event for event in entries}
        self._shown = list(self._facts())

    def absence(self, says: list[tuple[Event, str]]) -> Absence:
        """Find the cause for what several events say in the same words."""
        valid = [(event, text) for event, text in says if not event.subagent and not self._is_gone(event)]
        event, text = (valid or says)[0]
        if event.subagent:
            return Absence(event, text, "helper")
        against = [] if valid else self._decisions_against(event for event, _ in says)
        if rejections := [*self._withdrawn.rejections(text), *against]:
            return Absence(event, text, "rejected", self._by_id.get(rejections[0]))
        if not valid:
            return Absence(event, text, "withdrawn", self._withdrawal_of(event))
        shown = next((one for one in self._shown if {event.id for event, _ in valid} & _sources(one, text)), None)
        if shown:
            return self._among_facts(event, text, shown)
        if isinstance(event, Fact) and event.key:
            return Absence(event, text, "replaced", self._successor(event))
        kinds: dict[type[Event], Cause] = {StageSummary: "summary", PlanEntry: "planned"}
        return Absence(event, text, kinds.get(type(event), "unknown"))

    def _is_gone(self, event: Event) -> bool:
        is_refused = isinstance(event, PlanEntry) and self._refusals.of(event)
        return bool(is_refused) or self._withdrawn.hides(event)

    def _decisions_against(self, events: Iterable[Event]) -> list[str]:
        return [one for event in events for one in self._withdrawn.rejections_of(event)]

    def _among_facts(self, event: Event, text: str, shown: _Shown) -> Absence:
        first = self._by_id.get(shown.fact.first.id)
        if not shown.has_room:
            return Absence(event, text, "no room", first, shown.place, shown.rank, shown.ranked)
        is_worded_so = self._asked in shown.fact.first.text
        return Absence(
            event, text, "there" if is_worded_so else "repetition", first, shown.place, shown.rank, shown.ranked
        )

    def _facts(self) -> Iterator[_Shown]:
        library = self._replayed.library
        for name in library.names(MEMORY.name):
            ranked = fact_scope(library, name).ranked
            for document in self._replayed.made((MEMORY.name, name)):
                there = _told_in(document)
                for rank, fact in enumerate(ranked, 1):
                    has_room = not there.isdisjoint(fact.sources)
                    yield _Shown(fact, document.path, has_room, rank, len(ranked))

    def _withdrawal_of(self, event: Event) -> Event | None:
        """Find the withdrawal in force that takes an event away."""
        for one in sorted(self._withdrawals, key=order, reverse=True):
            conversation = None if isinstance(one, Restored) else one.conversation
            if one.id not in self._withdrawn.events and (
                one.target == event.id or conversation == event.conversation_id
            ):
                return one
        return None

    def _successor(self, event: Fact) -> Event | None:
        """Find the newest fact of the same key, about the same."""
        alike = (
            other
            for other in self._by_id.values()
            if isinstance(other, Fact) and other.key == event.key and other.effective_scope == event.effective_scope
        )
        valid = [other for other in alike if not other.subagent and not self._withdrawn.hides(other)]
        return max(valid, key=order, default=None)


def _sources(shown: _Shown, text: str) -> set[str]:
    return {one.id for one in shown.fact.statements if same_text(one.text) == statement_of(text)}


def _told_in(document: Document) -> set[str]:
    """Collect the events behind the bullets of a memory."""
    return {source for line in document.lines if line.text.startswith(_BULLET) for source in line.sources}
