"""How well memory is kept: which net saved each session, week by week.

A session belongs to the week it began in, and to the cheapest net that saved anything of it. Sessions of a turn or
two that saved nothing are trivial: nothing was missed, and coverage does not count them.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import ClassVar

from msgspec import Struct, field

from eventlog.events import Event, Fact, SaveRequested, SessionEnd, SessionStart, StageSummary, TurnEnd
from eventlog.projections.base import Document, Projection
from eventlog.settings import Settings

LAYERS = (1, 2, 3, 4)
_AUTOMATIC = 3
_WORTH_SAVING = 3  # turns


class Saving(Struct):
    """One conversation: when it began, how long it was, and which nets held."""

    started_at: str = "~"
    turns: int = 0
    layers: set[int] = field(default_factory=set)
    flushed: bool = False
    asked: bool = False
    by_host: bool = False  # a hook told of it

    def fold(self, event: Event) -> None:
        """Take in one event of this conversation."""
        self.started_at = min(self.started_at, event.ts)
        match event:
            case Fact() | StageSummary():
                self.layers.add(event.layer or 1)
            case TurnEnd():
                self.turns += 1
                self.by_host = True
            case SaveRequested():
                self.asked = self.asked or event.trigger == "stop"
                self.flushed = self.flushed or event.trigger == "pre_compact"
            case SessionStart() | SessionEnd():
                self.by_host = True
            case _:
                pass

    def merge(self, other: "Saving") -> None:
        """Take in what other events of this conversation led to."""
        self.started_at = min(self.started_at, other.started_at)
        self.turns += other.turns
        self.layers |= other.layers
        self.flushed = self.flushed or other.flushed
        self.asked = self.asked or other.asked
        self.by_host = self.by_host or other.by_host

    @property
    def is_trivial(self) -> bool:
        """Whether there was nothing to save."""
        return not self.layers and self.turns < _WORTH_SAVING


class Savings(Struct):
    """Every conversation that hooks told of."""

    version: ClassVar[int] = 1

    by_id: dict[str, Saving] = field(default_factory=dict)

    def fold(self, event: Event) -> None:
        """Take in one event."""
        if event.subagent:
            return
        one = self.by_id.get(event.conversation_id)
        if one is None:
            one = self.by_id[event.conversation_id] = Saving()
        one.fold(event)

    def merge(self, other: "Savings") -> None:
        """Take in the state of other events."""
        for conversation_id, theirs in other.by_id.items():
            ours = self.by_id.setdefault(conversation_id, theirs)
            if ours is not theirs:
                ours.merge(theirs)


class Week(Struct):
    """The figures of one week, from its Monday on; of all weeks, where `week` is `all`.

    Shares are of 1, None where there is nothing to share. `fallback_rate`: sessions that cost an extra request.
    `automatic_share`: of those saved, summarised by a program alone. `coverage`: saved, of those not trivial.
    """

    week: str
    sessions: int = 0
    layers: dict[str, int] = field(default_factory=lambda: {str(layer): 0 for layer in LAYERS})
    unsaved: int = 0
    trivial: int = 0
    flushed: int = 0
    asked: int = 0
    duplicates_avoided: int = 0

    @property
    def saved(self) -> int:
        """Sessions of which anything was saved."""
        return sum(self.layers.values())

    @property
    def shares(self) -> dict[str, float | None]:
        """Layer -> share of the week's sessions."""
        return {layer: _share(count, self.sessions) for layer, count in self.layers.items()}

    @property
    def fallback_rate(self) -> float | None:
        """Share of sessions that were asked to save at a turn's end."""
        return _share(self.asked, self.sessions)

    @property
    def automatic_share(self) -> float | None:
        """Share of the saved sessions that only a program summarised."""
        return _share(self.layers[str(_AUTOMATIC)], self.saved)

    @property
    def coverage(self) -> float | None:
        """Share of the sessions worth saving that were saved."""
        return _share(self.saved, self.saved + self.unsaved)

    def count(self, one: Saving) -> None:
        """One more session."""
        self.sessions += 1
        self.flushed += one.flushed
        self.asked += one.asked
        if one.layers:
            self.layers[str(_cheapest(one.layers))] += 1
        elif one.is_trivial:
            self.trivial += 1
        else:
            self.unsaved += 1


def weeks(state: Savings, avoided: Iterable[str] = ()) -> list[Week]:
    """The figures by week, oldest first, and of all together at the end; `avoided` are days (`2026-02-21`)."""
    total = Week("all")
    by_week: dict[str, Week] = {}
    for one in state.by_id.values():
        if one.by_host:
            monday = _monday(one.started_at[:10])
            by_week.setdefault(monday, Week(monday)).count(one)
            total.count(one)
    for day in avoided:
        monday = _monday(day)
        by_week.setdefault(monday, Week(monday)).duplicates_avoided += 1
        total.duplicates_avoided += 1
    return [by_week[monday] for monday in sorted(by_week)] + [total]


def _cheapest(layers: set[int]) -> int:
    """An agent's own word counts before what a program composed; among the agent's, the one that cost least."""
    return min(layers, key=lambda layer: (layer == _AUTOMATIC, layer))


def _monday(day: str) -> str:
    when = date.fromisoformat(day)
    return (when - timedelta(days=when.weekday())).isoformat()


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _render(state: Savings, settings: Settings) -> Iterable[Document]:
    """Nothing: the figures are for `eventlog stats`, not for a file."""
    del state, settings
    return ()


STATS = Projection(name="stats", state=Savings, render=_render, owns=())
