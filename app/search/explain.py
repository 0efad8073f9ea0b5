"""Reasons why a prompt gets lines, or none: every candidate, before the gate a hook has (`recall.py`)."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from eventlog.app.build.cache import open_for_reading
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.app.search import recall
from eventlog.app.search.already_known import AlreadyKnown
from eventlog.app.search.open_index import read_index
from eventlog.app.search.search_index import Hit, SearchIndex
from eventlog.format.codec import to_fields
from eventlog.format.events import Event, Fact, StageSummary
from eventlog.format.retractions import Retractions
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.search.findable import FINDABLE, Findable
from eventlog.projections.search.ranking import Gate
from eventlog.projections.search.recalled_line import recalled_line
from eventlog.projections.search.words import tokens
from eventlog.settings.cached import wants_recall

Verdict = Literal[
    "told", "no line left", "said already", "too little weight", "far below the first", "told before", "withdrawn",
    "elsewhere",
]  # fmt: skip
Silence = Literal[
    "", "off", "about nothing", "nothing known", "below the gate", "nothing new", "elsewhere", "withdrawn"
]


class Candidate(NamedTuple):
    """A thing that shares words with the prompt: their weight, and what becomes of it."""

    id: str
    type: str
    conversation_id: str
    project: str | None
    ts: str
    text: str
    score: float
    verdict: Verdict


class Explanation(NamedTuple):
    """The words a prompt is about, the weight that is needed, the candidates, those shown first; why nothing is."""

    words: list[str]
    need: float
    lines: int
    candidates: list[Candidate]
    silence: Silence

    @property
    def shown(self) -> list[Candidate]:
        """List what would be shown."""
        return [candidate for candidate in self.candidates if candidate.verdict == "told"]


def explain(opened: OpenStore, prompt: str, project: str = "", session: str = "") -> Explanation:
    """Explain what a prompt in a project would get now, and why not more; in a session, less what that knows.

    Raises OSError where the log cannot be read.
    """
    store, words = opened.store, recall.subject_of(prompt)
    lines = recall.chosen_lines(store)
    if not words:
        return Explanation([], 0.0, lines, [], "about nothing")

    def weigh(index: SearchIndex) -> tuple[Gate, list[Candidate]]:
        projects = index.names.subjects_at(project)
        seen = AlreadyKnown(store, session, index.log_files(), shared=False) if session else None
        gate, here = recall.candidates(index, prompt, projects)
        found = list(_here(index, gate, here, seen, lines))
        found += _elsewhere(gate, index, prompt, projects)
        found += _withdrawn(opened, gate, index.names, projects, {candidate.id for candidate in found})
        return gate, found

    gate, found = read_index(store, weigh)
    shown = [candidate for candidate in found if candidate.verdict == "told"]
    ids = {candidate.id for candidate in shown}  # one may be shown for an older fact's sake
    others = [candidate for candidate in found if candidate.id not in ids and candidate.score > 0]
    found = [*shown, *sorted(others, key=lambda candidate: candidate.score, reverse=True)]
    silence = _silence([candidate.verdict for candidate in found]) if wants_recall(store, "prompt") else "off"
    return Explanation(words, round(gate.needed, 3), lines, found, silence)


def nearness(opened: OpenStore, prompt: str, event: Event) -> tuple[float, float]:
    """Weigh what a prompt and an event share, and what a hook would need to show it, by the present log."""
    words = recall.subject_of(prompt)
    if not words or event.type not in FINDABLE:
        return 0.0, 0.0
    gate = read_index(opened.store, lambda index: recall.gate_of(index, prompt))
    return round(gate.weight(tokens(Findable(to_fields(event)).words)), 3), round(gate.needed, 3)


def _here(
    index: SearchIndex, gate: Gate, hits: Sequence[Hit], seen: AlreadyKnown | None, lines: int
) -> Iterator[Candidate]:
    """Weigh what is of the project and the user, in the order in which a hook does."""
    remaining = lines
    for hit, judgement in recall.judged(index, gate, hits):
        verdict: Verdict = judgement
        if verdict == "told" and seen and not seen.lacks(hit):
            verdict = "told before"
        elif verdict == "told" and not remaining:
            verdict = "no line left"
        elif verdict == "told":
            remaining -= 1
        yield _candidate(gate, hit.found, verdict)


def _elsewhere(gate: Gate, index: SearchIndex, prompt: str, projects: tuple[str, ...]) -> Iterator[Candidate]:
    """List what would be shown in another project."""
    for hit in recall.candidates(index, prompt, None)[1]:
        if hit.subject not in projects and gate.bears_on(tokens(hit.found.telling)):
            yield _candidate(gate, hit.found, "elsewhere")


def _withdrawn(
    opened: OpenStore, gate: Gate, names: KnownProjects, projects: tuple[str, ...], seen: set[str]
) -> Iterator[Candidate]:
    """List what would be shown, were it not withdrawn: the index has it no more."""
    withdrawn = Retractions(withdrawals_until(opened.log, open_for_reading(opened.store)))
    for event in opened.log.of_types(Fact, StageSummary) if withdrawn.touched else ():
        if event.subagent or event.id in seen:
            continue
        is_users = isinstance(event, Fact) and event.effective_scope == "user"
        subject = "" if is_users else names.of(event.project or "", event.replica or "")
        if subject in projects and withdrawn.hides(event):
            found = Findable(to_fields(event))
            if gate.bears_on(tokens(found.telling)):
                yield _candidate(gate, found, "withdrawn")


def _candidate(gate: Gate, found: Findable, verdict: Verdict) -> Candidate:
    columns = found.id, found.type, found.conversation, found.project or None, found.ts
    weight = round(gate.weight(tokens(found.telling)), 3)
    return Candidate(*columns, recalled_line(found, gate.weights), weight, verdict)


def _silence(verdicts: list[Verdict]) -> Silence:
    """Name the reason that comes nearest to showing something."""
    reasons: dict[Verdict, Silence] = {
        "told": "", "told before": "nothing new", "withdrawn": "withdrawn", "elsewhere": "elsewhere",
        "too little weight": "below the gate",
    }  # fmt: skip
    return next((reason for verdict, reason in reasons.items() if verdict in verdicts), "nothing known")
