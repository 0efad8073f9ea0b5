"""Sessions and events as they were: to people one story, nothing said twice; to programs whole values."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from eventlog.app.ask.story import Story, StoryLine
from eventlog.cli.output import beside, clean, count, emit_pretty, show_lines, styled, table
from eventlog.cli.show.cells import cells, padded
from eventlog.cli.show.describe import kind_of
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import COLOURS, KIND, who
from eventlog.format.codec import to_fields
from eventlog.format.events import Event
from eventlog.format.text import project_name
from eventlog.hosts import ROOMS


def show_story(told: Story, shown: Shown, *, as_json: bool) -> None:
    """Print a session: a head, then each thing it said once."""
    if as_json:
        emit_pretty(told)
    elif shown.is_for_people:
        show_lines(_story_lines(told, shown))
    else:
        table(_rows(told, shown), when=0, kind=0, id=0, what=0)


def show_event(event: Event, shown: Shown, *, as_json: bool) -> None:
    """Print an event: field by field to a person, as JSON to a program."""
    if as_json or not shown.is_for_people:
        emit_pretty(to_fields(event))
    else:
        show_lines(_card(shown.worded(event), shown))


def _story_lines(told: Story, shown: Shown) -> Iterator[str]:
    yield from _head(told, shown)
    one_day = shown.day(told.started_at)
    for day, lines in groupby(told.lines, key=lambda line: shown.day(line.ts)):
        yield "" if day == one_day else styled(day, bold=True)
        for line in lines:
            yield from _line(line, shown)
    if not told.lines:
        yield from beside("", "it said nothing that is worth knowing")
    if told.others:
        more = f"and {count(told.others, 'event')} more: eventlog query --session"
        yield from (styled(one, dim=True) for one in beside("", f"{more} {clean(shown.id(told.id))}"))


def _head(told: Story, shown: Shown) -> Iterator[str]:
    agent = ROOMS.get(told.agent or "", told.agent or "")
    branch = f"branch {told.branch}" if told.branch else ""
    where = [agent, project_name(told.project) if told.project else "", told.model or "", branch]
    name = styled(clean(shown.id(told.id)), bold=True)
    yield from beside(f"{name}  ", " · ".join(clean(part) for part in where if part))
    first, last = shown.local(told.started_at), shown.local(told.last_at)
    ended = f"{last:%H:%M}" if first.date() == last.date() else shown.moment(told.last_at)
    until = "" if ended in (f"{first:%H:%M}", shown.moment(told.started_at)) else f" – {ended}"
    turns = count(told.turns, "turn") if told.turns else ""
    end = "" if told.end is None else clean(f"ended: {told.end}" if told.end else "ended")
    yield from beside("", " · ".join(filter(None, [f"{shown.day(told.started_at)} {first:%H:%M}{until}", turns, end])))


def _line(line: StoryLine, shown: Shown) -> list[str]:
    kind = styled(padded(clean(line.kind), KIND), fg=COLOURS.get(line.kind))
    head = f"  {styled(shown.id(line.id), fg='cyan')}  {shown.local(line.ts):%H:%M}  {kind}  "
    gone = "  (withdrawn)" if line.gone else ""
    indent = " " * (cells(shown.id(line.id)) + KIND + 13)
    lines = beside(head, clean(line.text) + gone)
    for detail in line.details:
        lines += beside(indent, clean(detail))
    if line.again:
        lines += beside(indent, f"the same again: {', '.join(map(shown.id, line.again))}")
    return lines


def _rows(told: Story, shown: Shown) -> Iterator[tuple[str, ...]]:
    for line in told.lines:
        kind = f"{line.kind} (withdrawn)" if line.gone else line.kind
        yield shown.when(line.ts), kind, line.id, "; ".join([line.text, *line.details])


def _card(event: Event, shown: Shown) -> Iterator[str]:
    where = project_name(event.project) if event.project else ""
    yield from beside(
        f"{styled(shown.id(event.id), bold=True)}  ",
        " · ".join(filter(None, [clean(kind_of(event)), shown.moment(event.ts), who(event), where])),
    )
    known = {name: value for name, value in to_fields(event).items() if name not in _IN_THE_HEAD}
    room = max(map(cells, known), default=0)
    for name, value in known.items():
        yield from beside(f"  {styled(padded(clean(name), room), dim=True)}  ", clean(_said(value)))


_IN_THE_HEAD = {"v", "ts"}


def _said(value: Any) -> str:
    """Spell a value of a field: lists and objects as one writes them."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_said(one)}" for name, one in value.items())
    return _listed(value) if isinstance(value, list) else str(value)


def _listed(values: Iterable[Any]) -> str:
    return "; ".join(map(_said, values))
