"""Show one session, one event, or a knowledge file at a past time: `eventlog show`."""

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from eventlog.app.ask.history import document_meant, replay_at
from eventlog.app.ask.sessions import Story, StoryLine, story
from eventlog.app.ask.why import FILES
from eventlog.app.naming.names import is_file_line
from eventlog.app.naming.references import resolve
from eventlog.app.open_store import OpenStore
from eventlog.cli import options, suggestions
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import COLOURS, KIND, kind_of
from eventlog.cli.terminal import (
    cells,
    count,
    emit,
    hang,
    is_terminal,
    padded,
    print_error,
    show_lines,
    styled,
    table,
    wrap_markdown,
)
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.format.text import one_line, project_name
from eventlog.hosts import ROOMS
from eventlog.projections.views.markdown import unstamped
from eventlog.store import Store


@options.verb("eventlog show last", "eventlog show 8d21c0", "eventlog show MEMORY.md --as-of 2026-02-20")
@click.argument("name", metavar="SESSION|EVENT|FILE", shell_complete=suggestions.sessions)
@click.option("--as-of", type=options.TimeParam(end=True), help="Show the file at this time, that day included.")
@options.scope
def _show_command(name: str, as_of: str | None, project: str | None, as_json: bool, store: Store) -> None:
    """Show one session, one event, or a knowledge file at a past time.

    `last` is the last session of the project you are in. Prints a session as one story without repetitions, and a file
    as the log renders it, whatever is on disk.
    """
    opened = options.open_store(store, project)
    if as_of or name in opened.settings.knowledge_bases or (name.endswith(FILES) and not is_file_line(name)):
        _show_file(opened, name, as_of, as_json=as_json)
        return
    meant = resolve(opened, name, options.project_of_last(click.get_current_context()))
    if meant.kind == "session":
        _show_story(story(opened, meant.id), Display(store), as_json=as_json)
    else:
        event, display = opened.log.find([meant.id])[meant.id].event, Display(store)
        if as_json or not display.is_for_people:
            emit(to_fields(event), pretty=True)
        else:
            show_lines(_card(display.worded(event), display))


def _show_file(opened: OpenStore, name: str, as_of: str | None, *, as_json: bool) -> None:
    now = replay_at(opened)
    then = replay_at(opened, as_of) if as_of else now
    path = document_meant(opened, name, now, then)
    document = then.document(path)
    if document is None:
        raise BadRequest(
            f"{path} did not exist then", hint=f"eventlog diff --from 1970-01-01 {path} shows when it appeared"
        )
    if as_json:
        emit({"path": path, "as_of": as_of, "lines": [line.text for line in document.lines]}, pretty=True)
    elif is_terminal():
        show_lines(wrap_markdown(unstamped(document)))
    else:
        sys.stdout.buffer.write(document.data.removesuffix(b"\n") + b"\n")


def _show_story(found: Story, display: Display, *, as_json: bool) -> None:
    """Print a session: a head, then its lines without repetitions."""
    if as_json:
        emit(found, pretty=True)
    elif display.is_for_people:
        show_lines(_story_lines(found, display))
    else:
        kinds = (f"{line.kind} (withdrawn)" if line.gone else line.kind for line in found.lines)
        rows = zip(found.lines, kinds, strict=True)
        table(
            ((display.when(line.ts), kind, line.id, "; ".join([line.text, *line.details])) for line, kind in rows),
            when=0, kind=0, id=0, what=0,
        )  # fmt: skip
        if not found.lines:
            print_error(f"session {found.id!r} saved nothing", f"eventlog query --session {found.id} has its events")


def _story_lines(found: Story, display: Display) -> Iterator[str]:
    yield from _head(found, display)
    one_day = display.day(found.started_at)
    for day, lines in groupby(found.lines, key=lambda line: display.day(line.ts)):
        yield "" if day == one_day else styled(day, bold=True)
        for line in lines:
            yield from _line(line, display)
    if not found.lines:
        yield from hang("", "it saved nothing")
    if found.others:
        more = f"and {count(found.others, 'event')} more: eventlog query --session"
        yield from (styled(line, dim=True) for line in hang("", f"{more} {one_line(display.id(found.id))}"))


def _head(found: Story, display: Display) -> Iterator[str]:
    agent = ROOMS.get(found.agent or "", found.agent or "")
    branch = f"branch {found.branch}" if found.branch else ""
    where = [agent, project_name(found.project) if found.project else "", found.model or "", branch]
    name = styled(one_line(display.id(found.id)), bold=True)
    yield from hang(f"{name}  ", " · ".join(one_line(part) for part in where if part))
    first, last = display.local(found.started_at), display.local(found.last_at)
    ended = f"{last:%H:%M}" if first.date() == last.date() else display.moment(found.last_at)
    until = "" if ended in (f"{first:%H:%M}", display.moment(found.started_at)) else f" – {ended}"
    turns = count(found.turns, "turn") if found.turns else ""
    end = "" if found.end is None else one_line(f"ended: {found.end}" if found.end else "ended")
    yield from hang("", " · ".join(filter(None, [f"{display.day(found.started_at)} {first:%H:%M}{until}", turns, end])))


def _line(line: StoryLine, display: Display) -> list[str]:
    kind = styled(padded(one_line(line.kind), KIND), fg=COLOURS.get(line.kind))
    head = f"  {styled(display.id(line.id), fg='cyan')}  {display.local(line.ts):%H:%M}  {kind}  "
    gone = "  (withdrawn)" if line.gone else ""
    indent = " " * (cells(display.id(line.id)) + KIND + 13)
    lines = hang(head, display.id(one_line(line.text)) + gone)  # of what is withdrawn it is the id
    for detail in line.details:
        lines += hang(indent, one_line(detail))
    if line.again:
        lines += hang(indent, f"the same again: {', '.join(map(display.id, line.again))}")
    return lines


def _card(event: Event, display: Display) -> Iterator[str]:
    where = project_name(event.project) if event.project else ""
    yield from hang(
        f"{styled(display.id(event.id), bold=True)}  ",
        " · ".join(filter(None, [kind_of(event), display.moment(event.ts), display.who(event), where])),
    )
    fields = {name: value for name, value in to_fields(event).items() if name not in _IN_THE_HEAD}
    room = max(map(cells, fields), default=0)
    for name, value in fields.items():
        yield from hang(f"  {styled(padded(one_line(name), room), dim=True)}  ", one_line(_spell(value)))


_IN_THE_HEAD = {"v", "ts"}


def _spell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_spell(item)}" for name, item in value.items())
    return "; ".join(map(_spell, value)) if isinstance(value, list) else str(value)
