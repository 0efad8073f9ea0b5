"""A program as somebody else would write it: checked by mypy --strict with everything else, and run by a test."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self, assert_type

import msgspec

import eventlog
from eventlog import (
    BadRequest,
    Document,
    Event,
    EventLog,
    EventLogError,
    Fact,
    Line,
    Memory,
    NotStored,
    PlanEntry,
    Projection,
    Settings,
    StageSummary,
    fold,
    plan,
)


class Words(msgspec.Struct):
    """A state of one's own: what was said, by the event that said it."""

    version: ClassVar[int] = 1
    said: dict[str, str] = msgspec.field(default_factory=dict)

    def fold(self, event: Event) -> None:
        if isinstance(event, Fact):
            self.said[event.id] = event.content

    def merge(self, other: Self) -> None:
        self.said |= other.said


def render(state: Words, settings: Settings) -> Iterator[Document]:
    lines = (Line(f"[{settings.locale}] {text}", (event,)) for event, text in sorted(state.said.items()))
    yield Document("words.txt", tuple(lines))


WORDS = Projection(name="words", state=Words, render=render, owns=("words.txt",))


def main(store: str, project: str) -> None:
    """Write, rebuild, and ask everything there is to ask."""
    log = EventLog(store)
    fact = log.append(Fact(conversation_id="s1", project=project, content="Prices are in cents"))
    assert_type(fact, Event)
    assert_type(log.append_many([StageSummary(conversation_id="s1", topic="Cart", summary="Done")]), list[Event])

    memory = Memory(store)
    assert_type(memory.log, EventLog)
    planned = plan(log, {"path": "user", "heading": "Tea", "content": "Green"}, session="s1", project=project)
    assert_type(planned, list[PlanEntry])
    assert [change.heading for change in memory.status().pending] == ["Tea"]
    assert memory.apply(dry_run=True).stored == 0
    assert [change.event for change in memory.apply().applied] == [planned[0].id]

    assert "words.txt" in memory.replay(projections=[WORDS]).published.written
    assert "sessions.jsonl" in memory.replay().published.written
    assert memory.replay(check=True).published.changes == 0
    found = memory.query(types=["fact"], text="CENTS", project=project)
    assert_type(found, list[Event])
    assert [event.id for event in found] == [fact.id]
    what_is_known(memory, project, fact.id)
    notes = next(path for path in memory.replay().replayed.documents if path.path.startswith("memory/"))
    reasons = memory.why(notes.path)
    assert fact.id in {entry.event.id for reason in reasons for entry in reason.entries or ()}

    context = memory.context(project=project, session="s2", agent="mine", session_type="main")
    assert_type(context.text, str)
    assert "Prices are in cents" in context.text
    assert_type([row.turns for row in memory.sessions(project=project)], list[int])
    assert_type(memory.stats()[-1].coverage, float | None)
    assert memory.verify().damage == []
    notes = next(one for one in memory.replay().replayed.documents if one.path == notes.path)  # forgotten and undone
    read = [
        fold.DayBytes("me", one.date, tuple((name, Path(name).read_bytes()) for name in one.files))
        for one in log.days()
    ]
    parts = [fold.fold_day(day) for day in read]
    assert_type(fold.copies(parts, lambda _date, _ids: ()), dict[str, frozenset[str]])
    assert_type(fold.merge(parts), fold.Part)
    assert notes in fold.render(fold.merge(parts), Settings())

    forgotten = memory.forget("Prices are in cents")
    assert_type(forgotten.events, list[Event])
    assert "Prices are in cents" not in memory.context(project=project).text
    assert_type(memory.undo().events[0].id, str)
    assert_type(eventlog.__version__, str)
    try:
        memory.why("nothing.md")
    except BadRequest as error:
        assert_type(error.hint, str)
    except NotStored as error:
        raise SystemExit(error.where) from error
    assert issubclass(BadRequest, EventLogError)


def what_is_known(memory: Memory, project: str, fact_id: str) -> None:
    """Ask for all that is known, and for what bears on something."""
    hits = memory.search("price cent", project=project)
    assert_type(hits[0].score, float)
    assert [hit.id for hit in hits] == [fact_id]
    assert_type(memory.recall("Should a price be in cents, as prices are?", project=project), str)
    assert_type(memory.known(project)[0].lines, list[str])
    assert "Prices are in cents" in "".join(memory.known(project)[0].lines)


def misspelled() -> None:
    """A name that is not there is a mistake a type checker finds."""
    eventlog.Memry  # type: ignore[attr-defined]  # noqa: B018


if __name__ == "__main__":
    main(*sys.argv[1:])
