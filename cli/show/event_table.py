"""Events: to people under headings of their sessions and days, to programs as lines of tabs."""

from collections.abc import Iterable, Iterator

from eventlog.cli.output import beside, clean, show_lines, styled, table
from eventlog.cli.show.cells import padded
from eventlog.cli.show.describe import describe, gist, kind_of
from eventlog.cli.show.display import Shown
from eventlog.format.events import HUMAN, Event
from eventlog.format.text import project_name
from eventlog.hosts import ROOMS
from eventlog.log.log_line import LogLine

KIND = 10  # cells
COLOURS = {"decision": "green", "lesson": "yellow", "preference": "magenta", "withdrawn": "red"}


def show_events(entries: Iterable[LogLine], shown: Shown, *, header: bool = False) -> None:
    """Print events; to people with short ids and their own times."""
    if shown.is_for_people:
        show_lines(event_lines(entries, shown))
    else:
        rows = (_row(entry, shown) for entry in entries)
        table(rows, header=header, when=0, type=0, agent=0, session=16, id=0, what=200)


def event_lines(entries: Iterable[LogLine], shown: Shown) -> Iterator[str]:
    """Tell people events line by line, each session and day of it once above its own."""
    heading = ""
    for entry in entries:
        day, session = shown.day(entry.event.ts), shown.id(entry.event.conversation_id)
        mine = styled(heading_of(entry.event, day, session), bold=True)
        if mine != heading:
            heading = mine
            yield mine
        yield from _lines(entry.event, shown)


def who(event: Event) -> str:
    """Name the program that told of an event as the command line does, and its helper; a guess is told as one."""
    named = clean("/".join(filter(None, [ROOMS.get(event.agent or "", event.agent), event.subagent])))
    return f"{named} (guessed)" if event.speaker else named


def kind_shown(event: Event, room: int = KIND) -> str:
    """Show what kind an event is in the colour of its kind, in so many cells; 0 for as many as it takes."""
    kind = clean(kind_of(event))
    return styled(padded(kind, room) if room else kind, fg=COLOURS.get(kind))


def heading_of(event: Event, day: str, session: str) -> str:
    """Name the day, session, program and project of an event; what a person says and decides is under one heading."""
    where = [
        ROOMS.get(event.agent or "", clean(event.agent or "")),
        project_name(event.project) if event.project else "",
    ]
    return " · ".join(filter(None, [day, "" if is_persons(event) else clean(session), *where]))


def is_persons(event: Event) -> bool:
    """Tell whether an event is of a conversation that is nobody's but the person's."""
    return event.agent == HUMAN and event.conversation_id.partition("-")[0] == HUMAN


def _lines(event: Event, shown: Shown) -> list[str]:
    short = styled(shown.id(event.id), fg="cyan")
    return beside(f"  {short}  {shown.local(event.ts):%H:%M}  {kind_shown(event)}  ", clean(gist(shown.worded(event))))


def _row(entry: LogLine, shown: Shown) -> tuple[str, ...]:
    event = entry.event
    told_by = "/".join(filter(None, [event.agent, event.subagent]))
    ids = shown.id(event.conversation_id), shown.id(event.id)
    return shown.when(event.ts), event.type, told_by, *ids, describe(shown.worded(event))
