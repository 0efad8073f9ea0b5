"""The view model of the page: files day by day, the events behind their lines, sessions, and what each was given.

It depends on the log and the settings alone, so equal logs make equal pages. Events, sessions, receipts and days are
lists; everything else names them by position.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from eventlog.app.ask.period import open_todos
from eventlog.app.ask.sessions import SessionRow, StoryLine
from eventlog.app.build.replay import replay
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.moments import moment
from eventlog.app.open_store import OpenStore
from eventlog.app.page.receipts import PageReceipt, page_receipts
from eventlog.app.page.timeline import FileTimeline, Timelines
from eventlog.format.events import (
    HUMAN,
    ContextInjected,
    Event,
    Fact,
    HostEvent,
    PlanEntry,
    Rejected,
    Retraction,
    SessionStart,
    StageSummary,
)
from eventlog.format.local_time import local_time
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import differing_in_a_number, harmless, one_line, project_name, statement_of
from eventlog.format.timestamps import order
from eventlog.log.days import what_is_missing
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line, Projection
from eventlog.projections.bases.ledger import ledgers
from eventlog.projections.catalog import installed
from eventlog.projections.engine.replay import no_garbage
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.markdown import undated, unescaped
from eventlog.projections.views.sessions import SESSIONS
from eventlog.projections.views.stats import COUNTS, weeks
from eventlog.projections.views.summaries import summary_path

_VERSION = 1
_MAX_DAYS = 4_000  # beyond, the slider has only days with events
_SHORTEST = 8  # characters of a withdrawn statement that is looked for in other texts
_BULLET = "- "
_READ = tuple(
    f'"{name}"'.encode()
    for name in (
        "fact", "stage_summary", "plan_entry", "retraction", "rejected", "restored", "entry_resolved",
        "knowledge_edited", "context_injected", "session_start", "prompt",
    )
)  # fmt: skip
_NOT_SHOWN = (ContextInjected, HostEvent, SessionStart)
_OF_WORDS = (KEYWORD_INDEX.name, SESSIONS.name)  # their lines do not tell which words are of something withdrawn
_OF_ONE = ("projects/", "sessions/")  # where the files of a single project are
_DESCRIBING = ("content", "choice", "reason", "path")  # of an event that states nothing


class _PageEvent(Struct, omit_defaults=True):
    """An event behind a line, or of a session: `at` is its local time, `gone`: it is withdrawn by now."""

    id: str
    ts: str
    at: str
    type: str
    kind: str
    text: str
    details: list[str] = []
    session: int = -1
    key: str = ""
    about: str = ""  # the event that a decision withdraws or brings back
    hand: bool = False  # a person said it
    gone: bool = False


class PageSession(Struct, omit_defaults=True):
    """A session: its line of `sessions.jsonl` with local times, and where and with what it worked."""

    id: str
    agent: str
    project: int
    started: str
    ended: str
    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]
    source: str
    turns: int
    events: int
    model: str = ""
    branch: str = ""


class _PageProject(Struct):
    """A project: its path as the log has it, its name for people, and the directory of its files."""

    path: str
    name: str
    slug: str


class _WaitingEntry(Struct):
    """A plan entry that waits for a person, and why."""

    event: str
    file: str
    heading: str
    content: str
    reason: str


class _PageWeek(Struct):
    """The figures of a week: sessions, those of which anything was saved, and what recall came to."""

    week: str
    sessions: int
    saved: int
    prompts_with_lines: int
    prompts_without: int
    lines: int
    used: int


class PageModel(Struct):
    """The content of the page.

    `files` are timelines over `days`; `doubts` pairs a file with its lines that differ in a number only; `withdrawn`
    counts the events in it that are withdrawn by now; `missing` says which files of the log cannot be read.
    """

    version: int
    zone: str
    logged: int
    newest: str
    days: list[str]
    projects: list[_PageProject]
    files: list[FileTimeline]
    events: list[_PageEvent]
    sessions: list[PageSession]
    receipts: list[PageReceipt]
    todos: list[str]
    waiting: list[_WaitingEntry]
    doubts: list[tuple[str, list[str]]]
    weeks: list[_PageWeek]
    withdrawn: int
    missing: str


def page_of(
    opened: OpenStore,
    *,
    projects: Sequence[str] = (),
    since: str = "",
    with_withdrawn: bool = True,
    timelines: Timelines | None = None,
) -> PageModel:
    """Build the page of a log: of projects by their paths (none: all), since when, with what is withdrawn or not.

    `timelines` are those of an earlier page of the same.
    """
    with no_garbage():
        builder = _Builder(opened, projects, since, with_withdrawn=with_withdrawn)
        days, ends = _days(opened.log, opened.settings.timezone, since)
        number_of = builder.number, builder.session
        files = (timelines or Timelines()).of(opened, ends, builder.views(), number_of, builder.is_asked, builder.shows)
        events = builder.events()
        return PageModel(
            version=_VERSION,
            zone=opened.settings.timezone,
            logged=builder.replayed.events,
            newest=max((event.ts for event in builder.read), default=""),
            days=days,
            projects=builder.projects,
            files=files,
            events=events,
            sessions=builder.sessions(),
            receipts=page_receipts(opened, builder.read, builder.rows, builder.numbers, files),
            todos=builder.todos(),
            waiting=list(builder.waiting()),
            doubts=_doubts(files, len(days)),
            weeks=builder.weeks(),
            withdrawn=sum(event.gone for event in events),
            missing=what_is_missing(opened.store.log),
        )


class _Builder:
    """The events and sessions that a page shows, and their numbers."""

    def __init__(self, opened: OpenStore, projects: Sequence[str], since: str, *, with_withdrawn: bool) -> None:
        self._since, self._with_withdrawn = since, with_withdrawn
        self._opened = opened
        self._local = local_time(opened.settings.timezone)
        self.replayed = replay(opened.log, opened.settings, projections=[])
        self._identities = self.replayed.identities
        self._withdrawn: Retractions = self.replayed.index.withdrawn
        self._chosen = set(map(KnownProjects(opened.store, self._identities).meant, projects))
        self._chosen |= {self._identities.named(name) for name in projects if not name.startswith("/")}
        newest_first = reversed(SessionRow.all_of(self.replayed))
        self.rows = [
            row for row in newest_first if row.started_at >= since and self._is_about(row.project, row.replica)
        ]
        self._places = {row.session_id: number for number, row in enumerate(self.rows)}
        self.read = sorted((event for event in opened.log.mentioning(_READ) if not event.subagent), key=order)
        shown = (event for event in self.read if not isinstance(event, _NOT_SHOWN) and self._is_shown(event))
        self._by_id = {event.id: event for event in shown}
        self.numbers = {event_id: number for number, event_id in enumerate(self._by_id)}
        self._hidden = {event.id for event in self.read if self._withdrawn.hides(event)}
        self._gone_texts = set() if with_withdrawn else _gone_texts(self.read, self._withdrawn)
        self.projects = self._projects()
        folders = (f"projects/{project.slug}/" for project in self.projects)
        self._inside = (*folders, *(summary_path(row.session_id) for row in self.rows))  # files of the chosen projects

    def number(self, event_id: str) -> int:
        """Number an event; -1 where the page is not to show it."""
        if event_id in self._hidden and not self._with_withdrawn:
            return -1
        return self.numbers.setdefault(event_id, len(self.numbers))

    def session(self, conversation_id: str) -> int:
        """Return the position of a session; -1 where the page does not show it."""
        return self._places.get(conversation_id, -1)

    def views(self) -> list[Projection]:
        """List the projections that may have a file for the page."""
        left_out = () if self._with_withdrawn else _OF_WORDS
        found = (view for view in installed().projections if view.name not in left_out)
        return [view for view in found if not self._chosen or any(file.startswith(_OF_ONE) for file in view.owns)]

    def is_asked(self, path: str) -> bool:
        """Decide whether the page shows a file, or any in a directory: it is of a chosen project."""
        return not self._chosen or path.startswith(self._inside)

    def shows(self, line: Line) -> bool:
        """Decide whether the page shows a line: it is not withdrawn where that is left out."""
        if self._with_withdrawn:
            return True
        if any(text in statement_of(unescaped(line.text)) for text in self._gone_texts):
            return False
        sources = line.known[0] if line.known else ()
        return not sources or not self._hidden.issuperset(sources)

    def events(self) -> list[_PageEvent]:
        """Describe the numbered events, in the order of their numbers."""
        others = [event_id for event_id in self.numbers if event_id not in self._by_id]
        found = {event_id: line.event for event_id, line in self._opened.log.find(others).items()} | self._by_id
        lost = ("", "", "", "not in the log", "")
        return [
            self._event(found[event_id]) if event_id in found else _PageEvent(event_id, *lost)
            for event_id in self.numbers
        ]

    def sessions(self) -> list[PageSession]:
        """Describe the sessions, newest first."""
        starts: dict[str, SessionStart] = {}
        for event in self.read:
            if isinstance(event, SessionStart):
                starts.setdefault(event.conversation_id, event)
        places = {project.slug: number for number, project in enumerate(self.projects)}
        return [self._page_session(row, starts.get(row.session_id), places) for row in self.rows]

    def todos(self) -> list[str]:
        """List what is open, below the name of its project."""
        remaining = open_todos(self.replayed, self.rows)
        return [f"{project_name(self._identities.of(todo.project)) or 'you'}: {todo.text}" for todo in remaining]

    def waiting(self) -> Iterator[_WaitingEntry]:
        """Yield the plan entries that wait for a decision, by the log alone."""
        for file, ledger in ledgers(self.replayed.knowledge, self._opened.settings.knowledge_bases).items():
            for held in ledger.held:
                entry = held.entry
                if self._is_about(entry.project, entry.replica):
                    heading = f"{'#' * entry.key.level} {entry.key.heading}"
                    yield _WaitingEntry(entry.id, file.document, heading, harmless(entry.content or ""), held.reason)

    def weeks(self) -> list[_PageWeek]:
        """Count sessions and recalls by week, of all projects."""
        found = weeks(self.replayed.rows(COUNTS), since=self._since)[:-1]
        return [
            _PageWeek(
                week.week, week.sessions, week.saved,
                week.recall.fired, week.recall.silent, week.recall.lines, week.recall.used,
            )
            for week in found
        ]  # fmt: skip

    def _is_about(self, project: str | None, replica: str | None = None) -> bool:
        return not self._chosen or self._identities.of(project, replica) in self._chosen

    def _is_shown(self, event: Event) -> bool:
        if not self._with_withdrawn and self._withdrawn.hides(event):
            return False
        return self._is_about(event.project, event.replica) or event.conversation_id in self._places

    def _projects(self) -> list[_PageProject]:
        """List the projects of sessions and facts, each identity once, by name."""
        name = self._identities.of
        places = {(row.project, name(row.project, row.replica)) for row in self.rows}
        events = (event for event in self._by_id.values() if self._is_about(event.project, event.replica))
        places |= {(event.project, name(event.project, event.replica)) for event in events}
        found: dict[str, _PageProject] = {}
        for path, identity in sorted((path, identity) for path, identity in places if path):
            found.setdefault(identity, _PageProject(path, project_name(identity), self._identities.slug(identity)))
        return sorted(found.values(), key=lambda project: (project.name.casefold(), project.path))

    def _event(self, event: Event) -> _PageEvent:
        is_gone = self._withdrawn.hides(event)
        if isinstance(event, StageSummary) and not self._with_withdrawn:
            event = self._withdrawn.cleared(event)
        if isinstance(event, Fact | StageSummary | PlanEntry | Retraction):
            line = StoryLine.of(event)
            kind, text, details = line.kind, line.text, line.details
        else:
            kind, details = event.type.replace("_", " "), []
            text = next((one_line(str(value)) for name in _DESCRIBING if (value := getattr(event, name, None))), "")
        return _PageEvent(
            event.id,
            event.ts,
            self._local(event.ts),
            event.type,
            kind,
            text,
            details,
            session=self.session(event.conversation_id),
            key=(event.key or "") if isinstance(event, Fact) else "",
            about=getattr(event, "target", None) or getattr(event, "source", None) or "",
            hand=event.agent == HUMAN or isinstance(event, Rejected),
            gone=is_gone,
        )

    def _page_session(self, row: SessionRow, start: SessionStart | None, places: dict[str, int]) -> PageSession:
        slug = self._identities.slug(self._identities.of(row.project, row.replica)) if row.project else ""
        return PageSession(
            id=row.session_id,
            agent=harmless(row.agent or ""),
            project=places.get(slug, -1),
            started=self._local(row.started_at),
            ended=self._local(row.ended_at or row.timestamp),
            topic=row.topic,
            summary=row.summary,
            decisions=row.decisions,
            todos=row.todos,
            source=row.source,
            turns=row.turns,
            events=row.events,
            model=harmless((start and start.model) or ""),
            branch=harmless((start and start.git_branch) or ""),
        )


def _gone_texts(events: Iterable[Event], withdrawn: Retractions) -> set[str]:
    """Collect what withdrawn events state, and what people rejected of others; short texts stand in too many lines."""
    texts = (
        text for event in events for text in statements_of(event) if withdrawn.hides(event) or withdrawn.rejects(text)
    )
    return {statement for text in texts if len(statement := statement_of(text)) >= _SHORTEST}


def _days(log: EventLog, timezone: str, since: str) -> tuple[list[str], list[str]]:
    """List the calendar days from the first event (or since then) to the last, and the last moment of each."""
    zone, local = UTC if timezone == "UTC" else ZoneInfo(timezone), local_time(timezone)
    dates = [day.date for day in log.days()]
    first = next(log.read(), None)
    if first is None:
        return [], []
    last = next(event for name in reversed(dates) for event in reversed(list(log.read(since=name, until=f"{name}~"))))
    start, stop = local(max(first.ts, min(since, last.ts)))[:10], local(last.ts)[:10]
    begin = date.fromisoformat(start)
    span = (date.fromisoformat(stop) - begin).days
    if span < _MAX_DAYS:
        days = [(begin + timedelta(days=number)).isoformat() for number in range(span + 1)]
    else:
        ends = ("00:00:00.000000", "23:59:59.999999")
        with_events = {local(f"{name}T{time}Z")[:10] for name in dates for time in ends}
        days = sorted(day for day in with_events | {start, stop} if start <= day <= stop)
    return days, [moment(day, f"{day}T00:00:00.000000Z", zone, end=True) for day in days]


def _doubts(files: Sequence[FileTimeline], day: int) -> list[tuple[str, list[str]]]:
    """Find the lines of each memory file that differ in a single number, as the file is now."""
    found = []
    for file in (file for file in files if file.path.endswith("MEMORY.md")):
        texts = [line.text_at(day) for line in file.at(day)]
        statements = {unescaped(undated(text[len(_BULLET) :])[1]): text for text in texts if text.startswith(_BULLET)}
        in_doubt = differing_in_a_number(statements)
        if in_doubt:
            found.append((file.path, [line for text, line in statements.items() if text in in_doubt]))
    return found
