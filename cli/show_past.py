"""Reports of how files were and would be, and of sessions, for people and for programs."""

from collections.abc import Iterable, Sequence

from eventlog.app.bisect import TurningPoint
from eventlog.app.story import Story, StoryLine
from eventlog.app.what_if import TextChange
from eventlog.cli.describe import describe
from eventlog.cli.output import clean, count, emit, emit_pretty, say
from eventlog.cli.show_apply import show_diff
from eventlog.cli.shown import Shown
from eventlog.codec import to_fields


def show_changes(changes: Sequence[TextChange], nothing: str, *, as_json: bool) -> None:
    """Print a unified diff of every file that differs."""
    if as_json:
        emit([change._asdict() for change in changes])
        return
    for change in changes:
        show_diff(change.path, _bytes(change.before), _bytes(change.after))
    say(f"{count(len(changes), 'file differs', 'files differ')}" if changes else nothing)


def show_turn(found: TurningPoint, text: str, shown: Shown, *, as_json: bool) -> None:
    """Print the event that brought a text in, or took it out."""
    event = found.entry.event
    if as_json:
        emit({"path": found.path, "came": found.came, "replays": found.replays, "event": to_fields(event)})
        return
    what = "brought in" if found.came else "taken out"
    say(f"{found.path}: {text!r} was {what} by {shown.short(event.id)}")
    say(f"  {shown.when(event.ts)}  {event.agent or ''}  {event.type}  {describe(event)}")
    say(f"  found with {count(found.replays, 'replay')}")


def show_story(told: Story, shown: Shown, *, as_json: bool) -> None:
    """Print a session: a head, then each thing it said once."""
    if as_json:
        emit_pretty(told)
        return
    where = (told.agent, told.project, told.model, f"branch {told.branch}" if told.branch else None)
    say("  ".join([shown.short(told.id), *(clean(part) for part in where if part)]))
    end = "" if told.end is None else f", ended{f': {told.end}' if told.end else ''}"
    say(f"{shown.when(told.started_at)} – {shown.when(told.last_at)}{end}, {count(told.turns, 'turn')}")
    for line in told.lines:
        _say_line(line, shown)
    if told.others:
        say(f"and {count(told.others, 'event')} more: eventlog query --session {shown.short(told.id)}")


def _say_line(line: StoryLine, shown: Shown) -> None:
    gone = "  (withdrawn)" if line.gone else ""
    say(f"{shown.when(line.ts)}  {line.kind:<10} {line.text}  [{shown.short(line.id)}]{gone}")
    for detail in line.details:
        say(f"{'':<12} {detail}")
    if line.again:
        say(f"{'':<12} said again: {_listed(map(shown.short, line.again))}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _bytes(lines: list[str] | None) -> bytes:
    return "\n".join(lines or ()).encode()
