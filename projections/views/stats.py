"""Count which safety net saved each session, week by week.

The count is that of `sessions.jsonl`: every conversation is a session, and its `source` names the net that saved it.
A session belongs to the week it began in. Sessions of a turn or two that saved nothing are trivial: nothing was
missed, and coverage does not count them.

With a session are counted its recalls: the prompts that got lines, and the lines that the conversation later used. A
line counts as later used where the conversation, after it was told, saved a fact or a summary that names one of the
things the line names: an entity, a key, a file. That is a sign and no proof.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import chain

from msgspec import Struct, field

from eventlog.format.events import ContextInjected, Fact, StageSummary
from eventlog.format.marks import line_marks_in
from eventlog.format.timestamps import order
from eventlog.projections.base import Projection, RowKind, Total, View
from eventlog.projections.current.conclusions import COMPOSED, NONE
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.current.standing import agents_own
from eventlog.projections.search.findable import things_named

SOURCES = {"layer1_rules": "1", "layer2_precompact": "2", COMPOSED: "3", "layer4_stop": "4"}  # source -> layer
_WORTH_SAVING = 3  # turns
_SUMS = ("sessions", "automatic", "drawn", "unsaved", "trivial", "flushed", "asked", "duplicates_avoided", "planned")


class RecallCount(Struct, array_like=True, gc=False):
    """The counts of prompts with lines and without, of files with lines, of the lines, and of those later used."""

    fired: int = 0
    silent: int = 0
    files: int = 0
    lines: int = 0
    used: int = 0

    def add(self, other: "RecallCount") -> None:
        """Add another count."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class _SessionCount(Struct, array_like=True, gc=False):
    """The figures of a session."""

    started_at: str
    turns: int
    flushed: bool
    asked: bool
    source: str
    automatic: bool
    recall: RecallCount | None
    drawn: bool = False  # its summary is from the transcript
    project: str | None = None  # its path
    replica: str | None = None  # its machine


def _rows(source: RowSource) -> dict[str, _SessionCount]:
    session, conclusion = source.conversation, source.conclusion
    if not session.began:
        return {}
    counted = (session.started_at, session.turns, session.flushed, session.asked)
    drawn = conclusion.source == COMPOSED and bool(source.summaries) and not agents_own(source.summaries)
    found = conclusion.source, conclusion.automatic, _recalls_of(source)
    where = session.place or session.project, session.replica
    return {"": _SessionCount(*counted, *found, drawn, *where)}


def _recalls_of(source: RowSource) -> RecallCount | None:
    """Count the recalls of a conversation, None where no prompt asked.

    A withdrawn receipt neither fired, nor was its prompt told nothing.
    """
    conversation = source.conversation
    if not (conversation.prompts or conversation.recalled):
        return None
    valid = [receipt for receipt in conversation.recalled if not source.withdrawn.hides(receipt)]
    return RecallCount(
        fired=sum(map(_is_with_prompt, valid)),
        silent=max(0, conversation.prompts - sum(map(_is_with_prompt, conversation.recalled))),
        files=sum(receipt.trigger == "file" for receipt in valid),
        lines=sum(len(receipt.sources) for receipt in valid),
        used=sum(_used(valid, source)),
    )


def _is_with_prompt(receipt: ContextInjected) -> bool:
    return receipt.trigger == "prompt" and not receipt.failure


def _used(receipts: Sequence[ContextInjected], source: RowSource) -> Iterator[int]:
    """Yield how many lines of each receipt were used."""
    if not receipts:
        return
    facts = [fact for fact in source.conversation.facts if fact.id in source.stated]
    saves: list[Fact | StageSummary] = [*facts, *map(source.withdrawn.cleared, source.summaries)]
    saved = [(order(save), things_saved(save)) for save in saves]
    for receipt in receipts:
        later = set(chain.from_iterable(things for when, things in saved if when > order(receipt)))
        named = (marks for _, marks in zip(receipt.sources, receipt.about, strict=False))  # receipts of old have none
        yield sum(not later.isdisjoint(line_marks_in(marks)) for marks in named)


def things_saved(saved: Fact | StageSummary) -> set[str]:
    """Return the marks of the things that a fact or a summary names."""
    if isinstance(saved, Fact):
        return line_marks_in(things_named(saved.entities, saved.key, saved.content))
    words = (saved.topic, saved.summary, *saved.decisions, *saved.todos, *saved.done)
    return line_marks_in(things_named((), None, "\n".join(words)))


class Week(Struct):
    """The figures of a week, by its Monday; of all weeks, where `week` is `all`.

    Shares are fractions of 1, None of an empty week. `fallback_rate`: sessions that cost an extra request.
    `automatic_share`: of those saved, summarised by a program; `drawn`: those of a transcript, not of agents' saves.
    `coverage`: saved, of those not trivial. `planned`: changes of knowledge bases that were planned in it.
    """

    week: str
    sessions: int = 0
    layers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SOURCES.values(), 0))
    automatic: int = 0
    unsaved: int = 0
    trivial: int = 0
    flushed: int = 0
    asked: int = 0
    duplicates_avoided: int = 0
    recall: RecallCount = field(default_factory=RecallCount)
    drawn: int = 0
    planned: int = 0

    @property
    def saved(self) -> int:
        """Count the sessions of which anything was saved."""
        return sum(self.layers.values())

    @property
    def shares(self) -> dict[str, float | None]:
        """Return layer -> share of the week's sessions."""
        return {layer: _share(count, self.sessions) for layer, count in self.layers.items()}

    @property
    def fallback_rate(self) -> float | None:
        """Return the share of sessions that were asked to save at a turn's end."""
        return _share(self.asked, self.sessions)

    @property
    def automatic_share(self) -> float | None:
        """Return the share of the saved sessions whose summary a program composed."""
        return _share(self.automatic, self.saved)

    @property
    def coverage(self) -> float | None:
        """Return the share of the sessions worth saving that were saved."""
        return _share(self.saved, self.saved + self.unsaved)

    def count(self, session: _SessionCount) -> None:
        """Add a session."""
        self.sessions += 1
        self.flushed += session.flushed
        self.asked += session.asked
        if session.recall:
            self.recall.add(session.recall)
        if session.source != NONE:
            self.layers[SOURCES[session.source]] += 1
            self.automatic += session.automatic
            self.drawn += session.drawn
        elif session.turns < _WORTH_SAVING:
            self.trivial += 1
        else:
            self.unsaved += 1

    def absorb(self, other: "Week") -> None:
        """Add the figures of another week."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.layers = {layer: count + other.layers[layer] for layer, count in self.layers.items()}
        self.recall.add(other.recall)


def _by_week(sessions: Iterable[_SessionCount]) -> list[Week]:
    """Count sessions by the week they began in."""
    found: dict[str, Week] = {}
    for session in sessions:
        monday = monday_of(session.started_at[:10])
        if monday not in found:
            found[monday] = Week(monday)
        found[monday].count(session)
    return list(found.values())


COUNTS = RowKind("count", _SessionCount, _rows, total=Total(list[Week], _by_week))


def weeks(
    sessions: Iterable[_SessionCount],
    avoided: Iterable[str] = (),
    planned: Iterable[str] = (),
    *,
    since: str = "",
    until: str = "~",
) -> list[Week]:
    """Count by week the sessions that began between the two times; like `summed`."""
    counted = _by_week(session for session in sessions if since <= session.started_at <= until)
    of_days = ([day for day in days if since[:10] <= day <= until[:10]] for days in (avoided, planned))
    return summed(counted, *of_days)


def summed(counted: Iterable[Week], avoided: Iterable[str], planned: Iterable[str] = ()) -> list[Week]:
    """Add up what was counted of each week, oldest first, and all together at the end.

    `avoided` are days (`2026-02-21`) on which nothing was written twice, `planned` those on which entries were planned.
    """
    found: dict[str, Week] = {}
    for week in counted:
        found.setdefault(week.week, Week(week.week)).absorb(week)
    for monday in map(monday_of, avoided):
        found.setdefault(monday, Week(monday)).duplicates_avoided += 1
    for monday in map(monday_of, planned):
        found.setdefault(monday, Week(monday)).planned += 1
    total = Week("all")
    for week in found.values():
        total.absorb(week)
    return [found[monday] for monday in sorted(found)] + [total]


@cache
def monday_of(day: str) -> str:
    """Return the day on which the week of a day begins."""
    when = date.fromisoformat(day)
    return (when - timedelta(days=when.weekday())).isoformat()


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


STATS = Projection("stats", Conversations, None, (), view=View((COUNTS,), lambda _name, _index: ()))
