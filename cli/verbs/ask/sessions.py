"""List sessions: `eventlog sessions`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import click

from eventlog.app.ask.query import why_empty
from eventlog.app.ask.sessions import NEWEST, SessionRow, sessions
from eventlog.cli import options
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import (
    Answer,
    cells,
    count,
    fit,
    is_terminal,
    padded,
    print_error,
    show_lines,
    styled,
    table,
    width,
)
from eventlog.format import timestamps
from eventlog.format.text import one_line, project_name
from eventlog.hosts import ROOMS
from eventlog.store import Store


@options.verb(
    "eventlog sessions",
    "eventlog sessions --project shop --limit 5",
    "eventlog sessions --agent claude,cursor --since yesterday",
    "eventlog sessions --since 2026-02-01 --json",
)
@options.scope
@click.option(
    "--limit",
    type=options.Number(),
    default=NEWEST,
    show_default=True,
    help="Print at most this many, the newest.",
)
@click.option("--all", "wants_all", is_flag=True, help="Print all sessions.")
def _sessions_command(
    project: str | None,
    agents: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    wants_all: bool,
    header: bool,
    store: Store,
) -> Answer:
    """List the sessions of this project with time, agent and topic; the newest first on a terminal, last in a pipe."""
    opened = options.open_store(store)
    named = {"project": project, "agents": agents, "since": since, "until": until}
    conditions: dict[str, Any] = {name: value for name, value in named.items() if value}
    found = sessions(opened, **conditions, limit=None if wants_all else limit)
    if not found:
        print_error(
            *why_empty(opened.log, "session", conditions, lambda other: bool(sessions(opened, **other, limit=1)))
        )

    def show() -> None:
        if found and is_terminal():
            newest_first = sorted(found, key=lambda row: (row.started_at, row.session_id), reverse=True)
            show_lines(_lines(newest_first, Display(store), wants_all or len(found) < limit))
        elif found:
            table(map(_row, found), header=header, started=0, agent=0, session=0, turns=0, facts=0, topic=0)

    return Answer(found, show)


def _row(row: SessionRow) -> tuple[str, ...]:
    numbers = (str(row.turns), str(row.facts))
    return row.started_at.replace("T", " "), row.agent or "", row.session_id, *numbers, row.topic


_TOOK, _AGENT, _PROJECT, _ID = 9, 8, 12, 10  # cells at most
_SHORTEST_TOPIC = 12
_MINUTE, _HOUR = 60_000, 3_600_000  # milliseconds


def _lines(newest_first: Sequence[SessionRow], display: Display, are_all: bool) -> Iterator[str]:
    ids = _ids(newest_first, display)
    widths = _widths(newest_first, ids)
    for heading, of_day in groupby(newest_first, key=lambda row: display.day(row.started_at)):
        yield styled(heading, bold=True)
        yield from (_line(row, ids[row.session_id], display, widths) for row in of_day)
    total = count(len(newest_first), "session") if are_all else f"the newest {len(newest_first)}; all: --all"
    first = one_line(display.id(newest_first[0].session_id))
    yield styled(f"{total} · to see one: eventlog show {first}", dim=True)


def _ids(rows: Sequence[SessionRow], display: Display) -> dict[str, str]:
    """Format the ids of sessions; of long ids that begin alike, the end is shown: every verb takes it, too."""
    ids = {row.session_id: one_line(display.id(row.session_id)) for row in rows}
    beginnings = Counter(fit(name, _ID) for name in ids.values())
    ends = Counter(name[1 - _ID :] for name in ids.values())
    return {
        session: f"…{end}" if beginnings[fit(name, _ID)] > 1 == ends[end := name[1 - _ID :]] else name
        for session, name in ids.items()
    }


def _widths(rows: Sequence[SessionRow], ids: Mapping[str, str]) -> tuple[int, int, int, int]:
    def widest(texts: Iterator[str], limit: int) -> int:
        return min(limit, max(map(cells, texts), default=0))

    return (
        widest(iter(ids.values()), _ID),
        widest(map(_duration, rows), _TOOK),
        widest(map(_agent, rows), _AGENT),
        widest(map(_project, rows), _PROJECT),
    )


def _line(row: SessionRow, short: str, display: Display, widths: tuple[int, int, int, int]) -> str:
    of_id, took, of_agent, of_project = widths
    marked_id = styled(padded(short, of_id), fg="cyan")
    columns = (f"{_duration(row):>{took}}", padded(_agent(row), of_agent), padded(_project(row), of_project))
    head = "  ".join([f"{display.local(row.started_at):%H:%M}", *filter(None, columns)])
    saved = _saved(row)
    room = width() - of_id - cells(head) - 6
    if room - cells(saved) - 2 < _SHORTEST_TOPIC:
        saved = ""
    topic = one_line(row.topic)
    topic = padded(topic, room - cells(saved) - 2) + "  " + saved if saved else fit(topic, room)
    return f"  {marked_id}  {head}  {topic}".rstrip()


def _agent(row: SessionRow) -> str:
    return one_line(ROOMS.get(row.agent or "", row.agent or ""))


def _project(row: SessionRow) -> str:
    return project_name(row.project) if row.project else ""


def _duration(row: SessionRow) -> str:
    took = timestamps.to_ms(row.ended_at or row.timestamp) - timestamps.to_ms(row.started_at)
    if took < _MINUTE:
        return ""
    return f"{took // _MINUTE} min" if took < 2 * _HOUR else f"{took // _HOUR} h {took % _HOUR // _MINUTE:02d}"


def _saved(row: SessionRow) -> str:
    facts = count(row.facts, "fact") if row.facts else ""
    todos = count(len(row.todos), "to-do") if row.todos else ""
    return "  ".join(filter(None, (facts, todos)))
