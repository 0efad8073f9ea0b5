"""Describe events: for people below headings of sessions and days, for programs as lines of tabs."""

from collections.abc import Iterable, Iterator, Sequence

from eventlog.cli.show.display import Display
from eventlog.cli.terminal import cells, count, fit, hang, padded, show_lines, styled, table
from eventlog.format import events
from eventlog.format.events import HUMAN, Event, SectionKey
from eventlog.format.text import one_line, project_name, same_text
from eventlog.hosts import ROOMS
from eventlog.log.lines import LogLine


def describe(event: Event) -> str:
    """Describe an event in one line."""
    match event:
        case events.Fact():
            reason = f"– because: {event.reason}" if event.reason else None
            return _words(f"[{event.category or event.memory_type}]", event.content, reason)
        case events.StageSummary():
            return ": ".join(filter(None, [event.topic, event.summary]))
        case events.SessionStart():
            branch = f"branch {event.git_branch}" if event.git_branch else None
            return ", ".join(filter(None, [event.source, event.session_type, event.model, branch]))
        case events.SessionEnd():
            return _words(event.reason, event.status, event.error)
        case events.TurnEnd():
            return _words(event.status, event.turn_id)
        case events.PlanEntry():
            where = event.key.path or event.key.url
            return ": ".join(filter(None, [_words(event.operation, where, _heading(event.key)), event.content]))
        case events.KnowledgeEdited():
            return _words(event.operation, event.key.path or event.key.url, _heading(event.key), event.content)
        case events.EntryApplied():
            return _words(event.path, _heading(event))
        case events.EntryResolved():
            return _words(event.choice, event.target)
        case events.Retraction():
            return _words(event.target or f"conversation {event.conversation}", event.reason)
        case events.Rejected():
            words = f"the words of {event.source or 'an event'}" if event.digest else None
            return event.statement or words or event.target or f"conversation {event.conversation}"
        case events.Restored():
            return event.target
        case events.SaveRequested():
            return event.trigger
        case events.ProjectSeen():
            return _words(event.path, "is", event.remote or "no repository with an address", event.replica)
        case events.ProjectJoined():
            return " and ".join(event.projects)
        case events.ContextInjected():
            return f"{count(event.chars, 'character')} from {count(len(event.sources), 'event')}"
        case events.ConversationText():
            return event.title
        case events.Redacted():
            return f"erased: {event.was}"
        case events.HostEvent():
            return _words(event.name, str(event.payload.get("tool_name") or ""))
        case _:
            return ", ".join(f"{name}={value}" for name, value in event.extra.items())


_KINDS = {  # by type
    "stage_summary": "summary",
    "session_start": "start",
    "session_end": "end",
    "turn_end": "turn",
    "plan_entry": "plan",
    "entry_applied": "applied",
    "entry_resolved": "resolved",
    "knowledge_edited": "edited",
    "retraction": "withdrawn",
    "save_requested": "asked",
    "context_injected": "context",
    "project_seen": "project",
    "project_joined": "joined",
    "host_event": "host",
}


def kind_of(event: Event) -> str:
    """Return the kind of an event in one word: the category of a fact, else its type."""
    return (event.category or "fact") if isinstance(event, events.Fact) else _KINDS.get(event.type, event.type)


def gist(event: Event) -> str:
    """Describe an event without its kind."""
    return event.content if isinstance(event, events.Fact) else describe(event)


def _heading(at: SectionKey | events.EntryApplied) -> str:
    above = "".join(f"{heading} > " for heading in at.under or ())
    return f"{'#' * at.level} {above}{at.heading}"


def _words(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


KIND = 10  # cells
COLOURS = {"decision": "green", "lesson": "yellow", "preference": "magenta", "withdrawn": "red"}


def show_events(entries: Iterable[LogLine], display: Display, *, header: bool = False) -> None:
    """Print events: with short ids and local times on a terminal, as columns in a pipe."""
    if display.is_for_people:
        show_lines(event_lines(entries, display))
    else:
        rows = (_row(entry, display) for entry in entries)
        table(rows, header=header, when=0, type=0, agent=0, session=16, id=0, what=200)


def event_lines(entries: Iterable[LogLine], display: Display) -> Iterator[str]:
    """Yield a line per event below headings of session and day."""
    heading = ""
    for entry in entries:
        day, session = display.day(entry.event.ts), display.id(entry.event.conversation_id)
        mine = styled(heading_of(entry.event, day, session), bold=True)
        if mine != heading:
            heading = mine
            yield mine
        yield from _lines(entry.event, display)


_AGENT, _SESSION = 18, 18  # cells at most


def sayings(events: Sequence[Event], text: str, display: Display) -> Iterator[str]:
    """Yield who stated a text and when, a line per event; with its own words where it has others."""
    rooms = [max(map(cells, column)) for column in zip(*(_columns(event, display) for event in events), strict=True)]
    for event in events:
        short, *columns = map(padded, _columns(event, display), rooms)
        yield "  ".join(["", styled(short, fg="cyan"), *columns, kind_shown(event, 0)]).rstrip()
        if same_text(text) not in same_text(gist(event)):
            yield from hang("    ", one_line(gist(event)))


def _columns(event: Event, display: Display) -> tuple[str, ...]:
    session = "" if _is_persons(event) else fit(one_line(display.id(event.conversation_id)), _SESSION)
    return display.id(event.id), display.moment(event.ts), fit(who(event), _AGENT), session


def who(event: Event) -> str:
    """Name the program that recorded an event, and its helper; marks a guess."""
    named = one_line("/".join(filter(None, [ROOMS.get(event.agent or "", event.agent), event.subagent])))
    return f"{named} (guessed)" if event.speaker else named


def kind_shown(event: Event, room: int = KIND) -> str:
    """Format the kind of an event in its colour, padded to a number of cells (0: not at all)."""
    kind = one_line(kind_of(event))
    return styled(padded(kind, room) if room else kind, fg=COLOURS.get(kind))


def heading_of(event: Event, day: str, session: str) -> str:
    """Format day, session, program and project of an event; a person's own events share one heading."""
    where = [
        ROOMS.get(event.agent or "", one_line(event.agent or "")),
        project_name(event.project) if event.project else "",
    ]
    return " · ".join(filter(None, [day, "" if _is_persons(event) else one_line(session), *where]))


def _is_persons(event: Event) -> bool:
    """Check whether an event belongs to a person's own conversation."""
    return event.agent == HUMAN and event.conversation_id.partition("-")[0] == HUMAN


def _lines(event: Event, display: Display) -> list[str]:
    short = styled(display.id(event.id), fg="cyan")
    return hang(
        f"  {short}  {display.local(event.ts):%H:%M}  {kind_shown(event)}  ", one_line(gist(display.worded(event)))
    )


def _row(entry: LogLine, display: Display) -> tuple[str, ...]:
    event = entry.event
    source = "/".join(filter(None, [event.agent, event.subagent]))
    ids = display.id(event.conversation_id), display.id(event.id)
    return display.when(event.ts), event.type, source, *ids, describe(display.worded(event))
