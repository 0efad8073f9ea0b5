"""Reports of how files were and would be, for people and for programs."""

from collections.abc import Iterator, Sequence
from itertools import chain

from eventlog.app.ask.bisect import TurningPoint
from eventlog.app.ask.what_if import TextChange
from eventlog.cli.output import beside, clean, count, emit, print_line, say, show_lines, styled
from eventlog.cli.show.describe import describe, gist
from eventlog.cli.show.diff import diff_lines
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import kind_shown, who
from eventlog.format.codec import to_fields


def show_changes(changes: Sequence[TextChange], nothing: str, *, as_json: bool) -> None:
    """Print a unified diff of every file that differs."""
    if as_json:
        emit([change._asdict() for change in changes])
        return
    told = count(len(changes), "file differs", "files differ") if changes else nothing
    each = (diff_lines(one.path, one.before or (), one.after or ()) for one in changes)
    show_lines(chain(chain.from_iterable(each), beside("", told)))


def show_turn(found: TurningPoint, text: str, shown: Shown, *, as_json: bool) -> None:
    """Print the event that brought a text in, or took it out."""
    event = found.entry.event
    if as_json:
        emit({"path": found.path, "came": found.came, "replays": found.replays, "event": to_fields(event)})
    elif shown.is_for_people:
        for line in _turn_lines(found, text, shown):
            print_line(line)
    else:
        what = "brought in" if found.came else "taken out"
        say(f"{found.path}: {text!r} was {what} by {event.id}")
        say(f"  {shown.when(event.ts)}  {event.agent or ''}  {event.type}  {describe(shown.worded(event))}")


def _turn_lines(found: TurningPoint, text: str, shown: Shown) -> Iterator[str]:
    event = found.entry.event
    yield styled(clean(found.path), bold=True)
    yield from beside("  ", clean(text))
    yield ""
    yield f"{'brought in' if found.came else 'taken out'} by one event, found with {count(found.replays, 'replay')}"
    told = f"{shown.moment(event.ts)}  {who(event) or 'somebody'}  {kind_shown(event, 0)}"
    yield from beside(f"  {styled(shown.id(event.id), fg='cyan')}  {told}  ", clean(gist(shown.worded(event))))
