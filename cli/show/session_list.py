"""Sessions for people: by day, the newest first, each with its hour, agent, project and topic on one line."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from eventlog.app.ask.sessions import SessionRow
from eventlog.cli.output import clean, count, show_lines, styled, width
from eventlog.cli.show.cells import cells, fit, padded
from eventlog.cli.show.display import Shown
from eventlog.format import timestamps
from eventlog.format.text import project_name
from eventlog.hosts import ROOMS

_AGENT, _PROJECT, _ID = 8, 12, 10  # cells at most
_SHORTEST_TOPIC = 12
_MINUTE, _HOUR = 60_000, 3_600_000  # milliseconds


def show_sessions(rows: Sequence[SessionRow], shown: Shown, *, are_all: bool) -> None:
    """Print the sessions under headings of their days, and how to see more."""
    show_lines(_lines(sorted(rows, key=lambda row: (row.started_at, row.session_id), reverse=True), shown, are_all))


def _lines(newest_first: Sequence[SessionRow], shown: Shown, are_all: bool) -> Iterator[str]:
    widths = _widths(newest_first, shown)
    for heading, of_day in groupby(newest_first, key=lambda row: shown.day(row.started_at)):
        yield styled(heading, bold=True)
        yield from (_line(row, shown, widths) for row in of_day)
    told = count(len(newest_first), "session") if are_all else f"the newest {len(newest_first)}; all: --all"
    one = clean(shown.id(newest_first[0].session_id))
    yield styled(f"{told} · one of them: eventlog show {one}", dim=True)


def _widths(rows: Sequence[SessionRow], shown: Shown) -> tuple[int, int, int]:
    def widest(texts: Iterator[str], most: int) -> int:
        return min(most, max(map(cells, texts), default=0))

    return (
        widest((clean(shown.id(row.session_id)) for row in rows), _ID),
        widest(map(_agent, rows), _AGENT),
        widest(map(_project, rows), _PROJECT),
    )


def _line(row: SessionRow, shown: Shown, widths: tuple[int, int, int]) -> str:
    of_id, of_agent, of_project = widths
    marked_id = styled(padded(clean(shown.id(row.session_id)), of_id), fg="cyan")
    when = f"{shown.local(row.started_at):%H:%M}  {_duration(row):>8}"
    head = f"{when}  {padded(_agent(row), of_agent)}  {padded(_project(row), of_project)}"
    kept = _kept(row)
    room = width() - of_id - cells(head) - 6
    if room - cells(kept) - 2 < _SHORTEST_TOPIC:
        kept = ""
    topic = padded(clean(row.topic), room - cells(kept) - 2) + "  " + kept if kept else fit(clean(row.topic), room)
    return f"  {marked_id}  {head}  {topic}".rstrip()


def _agent(row: SessionRow) -> str:
    return clean(ROOMS.get(row.agent or "", row.agent or ""))


def _project(row: SessionRow) -> str:
    return project_name(row.project) if row.project else ""


def _duration(row: SessionRow) -> str:
    took = timestamps.to_ms(row.ended_at or row.timestamp) - timestamps.to_ms(row.started_at)
    if took < _MINUTE:
        return ""
    return f"{took // _MINUTE} min" if took < 2 * _HOUR else f"{took // _HOUR} h {took % _HOUR // _MINUTE:02d}"


def _kept(row: SessionRow) -> str:
    facts = count(row.facts, "fact") if row.facts else ""
    todos = count(len(row.todos), "to-do") if row.todos else ""
    return "  ".join(filter(None, (facts, todos)))
