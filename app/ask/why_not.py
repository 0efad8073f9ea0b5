"""Statements with the cause why a memory lacks them, or a session was not given them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from eventlog.app.ask.why import ReceiptSources, receipts_of
from eventlog.app.build.replay import replay
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.app.search.explain import nearness
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, Fact, HostEvent, PlanEntry, SessionStart, StageSummary
from eventlog.format.marks import has_line_mark, line_marks_in
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import one_line, statement_of
from eventlog.format.timestamps import order
from eventlog.hosts import protocol
from eventlog.hosts.call import typed
from eventlog.projections.bases.ledger import Refusals
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.standing import likeness, replaced
from eventlog.projections.views.memory import MEMORY

if TYPE_CHECKING:
    from eventlog.projections.current.fact_scopes import FactScope

Cause = Literal[
    "there", "repetition", "no room", "replaced", "withdrawn", "rejected", "helper", "summary", "planned", "unknown",
    "told", "no start", "shared", "later", "elsewhere", "cut", "unasked", "below", "left out",
]  # fmt: skip  # the last nine are of one session
# in no cache once withdrawn
_STATING = (b'"fact"', b'"stage_summary"', b'"plan_entry"', b'"rejected"', b'"retraction"')
_LISTED = 8  # statements that have the text in them
_BULLET = "- ["


class Absence(NamedTuple):
    """A statement, and why it is not in a memory, or where it is.

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
    """A fact as a memory shows it, whether there is room for it, and its rank."""

    fact: DistinctFact
    place: str
    has_room: bool
    rank: int
    ranked: int

    def states(self, same: bytes) -> set[str]:
        """Find the events that state it in equal words."""
        return {statement.id for statement in self.fact.statements if statement.same == same}


def why_not(opened: OpenStore, words: str, conversation_id: str | None = None) -> list[Absence]:
    """Explain for every statement with the text in it why no memory has it; raises BadRequest where none matches.

    A statement that says just this comes alone. With a conversation, explain why that did not get it; what is in no
    memory it lacks for the same reason.
    """
    wanted = statement_of(words)
    entries = sorted(opened.log.mentioning(_STATING), key=order)
    found: dict[tuple[str, bool], list[tuple[Event, str]]] = {}
    for event in entries:
        for text in map(one_line, statements_of(event)):
            if wanted in statement_of(text):
                found.setdefault((statement_of(text), bool(event.subagent)), []).append((event, text))
    if not found:
        raise BadRequest(
            f"no fact or summary matches {words!r}", hint="eventlog query --grep searches the text of all events"
        )
    exact = {key: says for key, says in found.items() if key[0] == wanted} or found
    search = _Memories(opened, words, entries)
    absences = [search.absence(says) for says in list(exact.values())[:_LISTED]]
    session = _Session(opened, conversation_id) if conversation_id is not None else None
    return [session.judged(absence) for absence in absences] if session else absences


class _Memories:
    """The memories of a log, and the withdrawals in force."""

    def __init__(self, opened: OpenStore, query: str, entries: list[Event]) -> None:
        self._asked = one_line(query)
        self._replayed = replay(opened.log, opened.settings)
        self._withdrawn: Retractions = self._replayed.index.withdrawn
        state, bases = self._replayed.knowledge, opened.settings.knowledge_bases
        self._refusals = Refusals(state.entries, state.resolved, self._withdrawn, bases, state.applied)
        self._by_id = {event.id: event for event in entries}
        self._scopes: list[FactScope] = []
        self._shown = list(self._facts())

    def absence(self, says: list[tuple[Event, str]]) -> Absence:
        """Find the cause for several events with the same words."""
        heard = [(event, text) for event, text in says if not (event.subagent or self._withdrawn.hides(event))]
        valid = [says for says in heard if not (isinstance(says[0], PlanEntry) and self._refusals.of(says[0]))]
        event, text = (valid or says)[0]
        if event.subagent:
            return Absence(event, text, "helper")
        against = (
            [] if valid else [rejection for event, _ in says for rejection in self._withdrawn.rejections_of(event)]
        )
        if rejections := [*self._withdrawn.rejections(text), *against]:
            return Absence(event, text, "rejected", self._by_id.get(rejections[0]))
        if not valid:
            return Absence(event, text, "withdrawn", self._withdrawn.withdrawal_of(event))
        ids, same = {event.id for event, _ in valid}, likeness(text)
        if shown := next((view for view in self._shown if view.states(same) & ids), None):
            by = self._by_id.get(shown.fact.first.id)
            cause: Cause = "there" if self._asked in shown.fact.first.text else "repetition"
            cause = cause if shown.has_room else "no room"
            return Absence(event, text, cause, by, shown.place, shown.rank, shown.ranked)
        if successor := self._successor(event, same):
            return Absence(event, text, "replaced", successor)
        kinds: dict[type[Event], Cause] = {StageSummary: "summary", PlanEntry: "planned"}
        return Absence(event, text, kinds.get(type(event), "unknown"))

    def _facts(self) -> Iterator[_Shown]:
        for name in self._replayed.index.names(MEMORY.name):
            scope = self._replayed.fact_scope(name)
            self._scopes.append(scope)
            ranked = scope.ranked
            for document in self._replayed.rendered((MEMORY.name, name)):
                bullets = (line for line in document.lines if line.text.startswith(_BULLET))
                shown = {source for line in bullets for source in line.sources}
                for rank, fact in enumerate(ranked, 1):
                    has_room = not shown.isdisjoint(fact.sources)
                    yield _Shown(fact, document.path, has_room, rank, len(ranked))

    def _successor(self, event: Event, same: bytes) -> Event | None:
        """Find the newest valid fact under the key that replaced a statement of an event, about the same subject."""
        for scope in self._scopes:
            if any((statement.id, statement.same) == (event.id, same) for statement in scope.stated):
                newer = replaced(scope.stated).get(same)
                return self._by_id.get(newer.id) if newer else None
        return None


_IN_A_MEMORY = ("there", "repetition", "no room")


class _Session:
    """A session: where it worked, who listened, what it was given, and what was asked in it."""

    def __init__(self, opened: OpenStore, conversation_id: str) -> None:
        self._opened = opened
        events = opened.log.session(conversation_id)
        self._given = receipts_of(opened.log, opened.settings, conversation_id)
        self._starts = [context.receipt for context in self._given if context.receipt.trigger == "start"]
        self._prompts = [
            event
            for event in events
            if isinstance(event, HostEvent)
            and event.name == protocol(event.agent).prompt
            and isinstance(event.payload.get("prompt"), str)
        ]
        heard = [*(context.receipt for context in self._given), *self._prompts]
        self._last = max((event.ts for event in heard), default="")
        self._project = next((event.project for event in events if event.project), None)
        starts = (event.session_type for event in events if isinstance(event, SessionStart))
        self._is_shared = "shared" in {*starts, *(context.receipt.session_type for context in self._given)}

    def judged(self, absence: Absence) -> Absence:
        """Find why the session lacks a statement, or that it has it."""
        for context in self._given:
            if _was_shown(context, absence.text):
                return absence._replace(cause="told", by=context.receipt)
        if absence.cause not in _IN_A_MEMORY:
            return absence
        cause = self._cause(absence, absence.by or absence.event)
        return self._unasked(absence) if cause == "unasked" else absence._replace(cause=cause)

    def _cause(self, absence: Absence, first: Event) -> Cause:
        if not (self._given or self._prompts):
            return "no start"
        if self._is_shared:
            return "shared"
        if first.ts > self._last:
            return "later"
        is_users = isinstance(first, Fact) and first.effective_scope == "user"
        is_here = self._project is not None and KnownProjects(self._opened.store).about(self._project)(
            first.project, first.replica
        )
        if not (is_users or is_here):
            return "elsewhere"
        after_it = [receipt for receipt in self._starts if receipt.ts >= first.ts]
        if any(receipt.cut for receipt in after_it):
            return "cut"
        untold: Cause = "no room" if absence.cause == "no room" else "left out"
        return untold if after_it else "unasked"

    def _unasked(self, absence: Absence) -> Absence:
        """Measure how near the later prompts came to asking for it, by what is known now."""
        first = absence.by or absence.event
        texts = [typed(str(prompt.payload.get("prompt", ""))) for prompt in self._prompts if prompt.ts >= first.ts]
        score, need = max(
            (nearness(self._opened, text, absence.event) for text in texts),
            key=lambda near: near[0],
            default=(0.0, 0.0),
        )
        cause: Cause = "below" if 0 < score < need else "unasked"
        return absence._replace(cause=cause, score=score, need=need, had_start=bool(self._starts))


def _was_shown(context: ReceiptSources, text: str) -> bool:
    """Return whether the words were in the answer: receipts mark its lines, old receipts name only events."""
    marks = line_marks_in(context.receipt.lines)
    if marks and has_line_mark(text, marks):
        return True
    is_start = context.receipt.trigger == "start"
    entries = [*context.entries, *(entry for file in context.files.values() for entry in file or ())]
    stated = (statements_of(entry.event) for entry in entries)
    return any(
        statement_of(text) in map(statement_of, texts)
        and (not marks or not is_start or any(has_line_mark(other, marks) for other in texts))
        for texts in stated
    )
