"""Sessions: who worked when and to which end, the story of each, and how many each safety net saved."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.build.replay import replay
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, Fact, PlanEntry, Retraction, SessionEnd, SessionStart, StageSummary, TurnEnd
from eventlog.format.retractions import Retractions
from eventlog.format.text import one_line, same_text
from eventlog.hooks import duplicate_log
from eventlog.projections.current.standing import counting_saves, only_names
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.search.ranking import is_small_talk
from eventlog.projections.search.words import tokens
from eventlog.projections.views.sessions import LINES
from eventlog.projections.views.stats import COUNTS, Week, summed, weeks

NEWEST = 50


class SessionRow(Struct, frozen=True, kw_only=True):
    """A conversation, as its line of `sessions.jsonl` has it, and its machine."""

    id: str
    session_id: str
    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]
    timestamp: str
    auto_generated: bool
    source: str
    project: str | None
    agent: str | None
    started_at: str
    ended_at: str | None
    end_reason: str | None
    turns: int
    facts: int
    stages: int
    revisions: int
    events: int
    replica: str | None = None

    @property
    def is_work(self) -> bool:
        """Return whether it was about anything: not for small talk alone."""
        return bool(self.topic and self.summary) or not is_small_talk(tokens(self.topic))

    @classmethod
    def all_of(cls, replayed: ReplayResult) -> "list[SessionRow]":
        """Read the conversations of a replay, by start."""
        return [*_rows_of(replayed.newest_rows(LINES))][::-1]


_decoder = msgspec.json.Decoder(SessionRow)


def _rows_of(lines: Iterable[Any]) -> Iterator[SessionRow]:
    for line in lines:
        yield replace(_decoder.decode(line.line), replica=line.replica)


def sessions(
    opened: OpenStore,
    *,
    project: str | None = None,
    agents: Collection[str] = (),
    since: str = "",
    until: str = "~",
    limit: int | None = NEWEST,
) -> list[SessionRow]:
    """List the newest sessions that began between the two timestamps, oldest first; all without a limit.

    `project` and `agents` are as the log has them.
    """
    replayed = replay(opened.log, opened.settings)
    is_about = KnownProjects(opened.store, replayed.identities).about(project)
    is_narrow = project or (since, until) != ("", "~")

    def has_any(day: str) -> bool:
        """Ask the counts of a day, a tenth of its lines, which have the time and the project of each session, too."""
        counts = replayed.rows_of_day(COUNTS, day)
        return any(since <= count.started_at <= until and is_about(count.project, count.replica) for count in counts)

    lines = replayed.newest_rows(LINES, has_any if is_narrow else lambda _day: True)
    rows = _rows_of(line for line in lines if since <= line.started_at <= until)
    wanted = (row for row in rows if is_about(row.project, row.replica) and (not agents or row.agent in agents))
    return list(islice(wanted, limit))[::-1]


class StoryLine(Struct):
    """A statement, and the later events of the session that repeat it; `gone`: it is withdrawn."""

    ts: str
    id: str
    kind: str
    text: str
    details: list[str] = []
    again: list[str] = []
    gone: bool = False

    @classmethod
    def of(cls, event: Event) -> "StoryLine":
        """Describe a fact, a summary, a plan entry or a retraction."""
        match event:
            case Fact():
                return cls(event.ts, event.id, one_line(event.category or "fact"), one_line(event.content))
            case StageSummary():
                lists = (("decided", event.decisions), ("to do", event.todos), ("done", event.done))
                details = [f"{word}: {one_line(text)}" for word, texts in lists for text in texts]
                head = [one_line(event.summary)] if event.topic and not only_names(event) else []
                kind = "summary" if event.scope == "session" else "stage"
                return cls(event.ts, event.id, kind, one_line(event.topic or event.summary), head + details)
            case PlanEntry():
                where = one_line(f"{event.key.path or event.key.url} {'#' * event.key.level} {event.key.heading}")
                return cls(event.ts, event.id, "plan", where, [one_line(event.content or event.operation or "")])
            case _:
                assert isinstance(event, Retraction)
                return cls(event.ts, event.id, "withdrawn", one_line(event.target or event.conversation or ""))


class Story(Struct):
    """The story of a session; `others` counts the other events of hosts."""

    id: str
    agent: str | None
    project: str | None
    model: str | None
    branch: str | None
    started_at: str
    last_at: str
    end: str | None
    turns: int
    lines: list[StoryLine]
    others: int


def story(opened: OpenStore, conversation_id: str) -> Story:
    """Build the story of a session from its events, oldest first; raises BadRequest where it has no events."""
    events = opened.log.session(conversation_id)
    if not events:
        raise BadRequest(f"no session {conversation_id!r}")
    withdrawn = replay(opened.log, opened.settings, projections=[]).index.withdrawn
    mine = [event for event in events if not event.subagent]
    starts = [event for event in mine if isinstance(event, SessionStart)]
    ends = [event for event in mine if isinstance(event, SessionEnd)]
    summaries = counting_saves(event for event in mine if isinstance(event, StageSummary))
    shown_events = [event for event in mine if isinstance(event, Fact | PlanEntry | Retraction) or event in summaries]
    turn_ends = sum(isinstance(event, TurnEnd) for event in mine)
    return Story(
        id=conversation_id,
        agent=_first(event.agent for event in mine),
        project=_first(event.project for event in mine),
        model=_first(start.model for start in starts),
        branch=_first(start.git_branch for start in starts),
        started_at=events[0].ts,
        last_at=events[-1].ts,
        end=_first((end.reason for end in reversed(ends)), "" if ends else None),
        turns=max([turn_ends, *(end.turns or 0 for end in ends)]),
        lines=list(_each_once(shown_events, withdrawn)),
        others=len(events) - len(shown_events) - turn_ends - len(starts) - len(ends),
    )


def _first(values: Iterable[str | None], otherwise: str | None = None) -> str | None:
    return next(filter(None, values), otherwise)


def _each_once(events: Iterable[Event], withdrawn: Retractions) -> Iterator[StoryLine]:
    lines: dict[object, StoryLine] = {}
    for event in events:
        line = StoryLine.of(event)
        line.gone = withdrawn.hides(event)
        key = line.kind, same_text(line.text), *line.details
        if key in lines:
            lines[key].again.append(event.id)
        else:
            lines[key] = line
    yield from lines.values()


def stats(
    opened: OpenStore,
    since: str = "",
    until: str = "~",
    project: str | None = None,
) -> list[Week]:
    """Count the sessions each net saved, by week between two timestamps; the last row is of all weeks.

    `project` is as the log has it; of a project, repetitions that were not written are not counted.
    """
    replayed = replay(opened.log, opened.settings)
    if project:
        is_about = KnownProjects(opened.store, replayed.identities).about(project)
        plans = (entry for entry in replayed.knowledge.entries if is_about(entry.project, entry.replica))
        rows = [row for row in replayed.rows(COUNTS) if is_about(row.project, row.replica)]
        return weeks(rows, (), [entry.ts[:10] for entry in plans], since=since, until=until)
    avoided = duplicate_log.duplicates_by_day(opened.store)
    planned = [entry.ts[:10] for entry in replayed.knowledge.entries]
    if (since, until) == ("", "~"):
        return summed(chain.from_iterable(replayed.totals(COUNTS)), avoided, planned)
    return weeks(replayed.rows(COUNTS), avoided, planned, since=since, until=until)
