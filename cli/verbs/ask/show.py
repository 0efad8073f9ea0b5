"""`eventlog show`."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import click

from eventlog.app.ask.history import document_meant, replay_at
from eventlog.app.ask.sessions import Story, StoryLine, story
from eventlog.app.naming.names import is_file_line
from eventlog.app.naming.references import resolve
from eventlog.app.open_store import OpenStore
from eventlog.cli import options, suggestions
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import COLOURS, KIND, kind_of, who
from eventlog.cli.terminal import (
    cells,
    clean,
    count,
    emit,
    emit_bytes,
    emit_pretty,
    hang,
    is_terminal,
    padded,
    show_lines,
    styled,
    table,
    wrap_markdown,
)
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.format.text import project_name
from eventlog.hosts import ROOMS
from eventlog.projections.views.markdown import unstamped
from eventlog.store import Store

_FILES = (".md", ".jsonl")


@click.command(
    epilog=options.examples("eventlog show last", "eventlog show 8d21c0", "eventlog show MEMORY.md --as-of 2026-02-20")
)
@click.argument("name", metavar="SESSION|EVENT|FILE", shell_complete=suggestions.sessions)
@click.option("--as-of", type=options.TimeParam(end=True), help="The file as the log had it then, that day included.")
@options.as_json
@options.store
def show_command(name: str, as_of: str | None, as_json: bool, store: Store) -> None:
    """Show one session, one event, or a knowledge file as it was.

    A session is one story: what it was, and each thing it said once. A file is told from the log, whatever lies there.
    """
    opened = options.open_store(store)
    if as_of or (name.endswith(_FILES) and not is_file_line(name)):
        _show_file(opened, name, as_of or "~", as_json=as_json)
        return
    meant = resolve(opened, name)
    if meant.kind == "session":
        show_story(story(opened, meant.id), Display(store), as_json=as_json)
    else:
        show_event(opened.log.find([meant.id])[meant.id].event, Display(store), as_json=as_json)


def _show_file(opened: OpenStore, name: str, as_of: str, *, as_json: bool) -> None:
    then, now = replay_at(opened, as_of), replay_at(opened)
    path = document_meant(opened, name, now, then)
    document = then.document(path)
    if document is None:
        raise BadRequest(f"there was no {path} yet", hint=f"eventlog diff --from 1970-01-01 {path} shows when it came")
    if as_json:
        emit({"path": path, "as_of": as_of, "lines": [line.text for line in document.lines]})
    elif is_terminal():
        show_lines(wrap_markdown(unstamped(document)))
    else:
        emit_bytes(document.data.removesuffix(b"\n"))


def show_story(told: Story, shown: Display, *, as_json: bool) -> None:
    """Print a session: a head, then each thing it said once."""
    if as_json:
        emit_pretty(told)
    elif shown.is_for_people:
        show_lines(_story_lines(told, shown))
    else:
        table(_rows(told, shown), when=0, kind=0, id=0, what=0)


def show_event(event: Event, shown: Display, *, as_json: bool) -> None:
    """Print an event: field by field to a person, as JSON to a program."""
    if as_json or not shown.is_for_people:
        emit_pretty(to_fields(event))
    else:
        show_lines(_card(shown.worded(event), shown))


def _story_lines(told: Story, shown: Display) -> Iterator[str]:
    yield from _head(told, shown)
    one_day = shown.day(told.started_at)
    for day, lines in groupby(told.lines, key=lambda line: shown.day(line.ts)):
        yield "" if day == one_day else styled(day, bold=True)
        for line in lines:
            yield from _line(line, shown)
    if not told.lines:
        yield from hang("", "it said nothing that is worth knowing")
    if told.others:
        more = f"and {count(told.others, 'event')} more: eventlog query --session"
        yield from (styled(one, dim=True) for one in hang("", f"{more} {clean(shown.id(told.id))}"))


def _head(told: Story, shown: Display) -> Iterator[str]:
    agent = ROOMS.get(told.agent or "", told.agent or "")
    branch = f"branch {told.branch}" if told.branch else ""
    where = [agent, project_name(told.project) if told.project else "", told.model or "", branch]
    name = styled(clean(shown.id(told.id)), bold=True)
    yield from hang(f"{name}  ", " · ".join(clean(part) for part in where if part))
    first, last = shown.local(told.started_at), shown.local(told.last_at)
    ended = f"{last:%H:%M}" if first.date() == last.date() else shown.moment(told.last_at)
    until = "" if ended in (f"{first:%H:%M}", shown.moment(told.started_at)) else f" – {ended}"
    turns = count(told.turns, "turn") if told.turns else ""
    end = "" if told.end is None else clean(f"ended: {told.end}" if told.end else "ended")
    yield from hang("", " · ".join(filter(None, [f"{shown.day(told.started_at)} {first:%H:%M}{until}", turns, end])))


def _line(line: StoryLine, shown: Display) -> list[str]:
    kind = styled(padded(clean(line.kind), KIND), fg=COLOURS.get(line.kind))
    head = f"  {styled(shown.id(line.id), fg='cyan')}  {shown.local(line.ts):%H:%M}  {kind}  "
    gone = "  (withdrawn)" if line.gone else ""
    indent = " " * (cells(shown.id(line.id)) + KIND + 13)
    lines = hang(head, clean(line.text) + gone)
    for detail in line.details:
        lines += hang(indent, clean(detail))
    if line.again:
        lines += hang(indent, f"the same again: {', '.join(map(shown.id, line.again))}")
    return lines


def _rows(told: Story, shown: Display) -> Iterator[tuple[str, ...]]:
    for line in told.lines:
        kind = f"{line.kind} (withdrawn)" if line.gone else line.kind
        yield shown.when(line.ts), kind, line.id, "; ".join([line.text, *line.details])


def _card(event: Event, shown: Display) -> Iterator[str]:
    where = project_name(event.project) if event.project else ""
    yield from hang(
        f"{styled(shown.id(event.id), bold=True)}  ",
        " · ".join(filter(None, [clean(kind_of(event)), shown.moment(event.ts), who(event), where])),
    )
    known = {name: value for name, value in to_fields(event).items() if name not in _IN_THE_HEAD}
    room = max(map(cells, known), default=0)
    for name, value in known.items():
        yield from hang(f"  {styled(padded(clean(name), room), dim=True)}  ", clean(_said(value)))


_IN_THE_HEAD = {"v", "ts"}


def _said(value: Any) -> str:
    """Spell a value of a field: lists and objects as one writes them."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_said(one)}" for name, one in value.items())
    return _listed(value) if isinstance(value, list) else str(value)


def _listed(values: Iterable[Any]) -> str:
    return "; ".join(map(_said, values))
