"""The reasons of a line for people: the line once, then who said it when, then the remedy."""

import re
from collections.abc import Iterator, Sequence

from eventlog.app.ask.why import LineReason
from eventlog.cli.output import beside, clean, count, marked, styled
from eventlog.cli.show.cells import cells, fit, padded
from eventlog.cli.show.describe import gist
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import is_persons, kind_shown, who
from eventlog.format.events import Event, Fact
from eventlog.format.text import same_text
from eventlog.log.log_line import LogLine
from eventlog.projections.views.markdown import is_stamp

_AGENT, _SESSION = 18, 18  # cells at most
_BULLET = re.compile(r"^\[[0-9-]{10}\] ")
UNKNOWN = "not from the log: written by hand, or by another version"


def one_line(place: str, reason: LineReason, heading: str, shown: Shown) -> Iterator[str]:
    """Tell of one line: itself, then who said it when, in which words, then what to do if it is wrong."""
    yield styled(clean(place), bold=True) + (f"   {clean(heading)}" if heading else "")
    yield from beside("  ", clean(_words(reason.text)))
    yield ""
    yield from _reasons(reason, shown)
    for decision in reason.rejected:
        yield from _rejection(decision.event, shown)
    if reason.entries and not reason.rejected:
        yield ""
        yield from beside("wrong?  ", f"eventlog forget {clean(place)}")


def _reasons(reason: LineReason, shown: Shown) -> Iterator[str]:
    if reason.entries is None:
        yield UNKNOWN
        return
    events = [entry.event for entry in reason.entries]
    yield _summary(events)
    yield from _sayings(events, reason.text, shown)


def _rejection(decision: Event, shown: Shown) -> Iterator[str]:
    yield f"{marked('✗')} you do not want it said, since {shown.moment(decision.ts)}"
    yield from beside("wanted after all?  ", f"eventlog undo {shown.id(decision.id)}")


def whole_file(place: str, reasons: Sequence[LineReason], shown: Shown) -> Iterator[str]:
    """Tell of every line in which something is said, each with who said it first and last."""
    number_room = len(str(len(reasons)))
    for reason in reasons:
        if not reason.text.strip() or is_stamp(reason.text):
            continue
        if reason.text.startswith("#"):
            yield styled(clean(_words(reason.text)), bold=True)
            continue
        yield from beside(styled(f"{reason.number:>{number_room}}  ", fg="cyan"), clean(_words(reason.text)))
        indent = " " * (number_room + 2)
        yield from beside(indent, styled(_in_short(reason.entries, shown), dim=True))
    yield styled(f"all that is behind one line: eventlog why {clean(place)}:LINE", dim=True)


def heading_above(lines: Sequence[str], number: int) -> str:
    """Find the heading a line stands under; "" for one that is a heading, or stands under none."""
    if lines[number - 1].startswith("#"):
        return ""
    return _words(next((line for line in reversed(lines[: number - 1]) if line.startswith("#")), ""))


def _words(line: str) -> str:
    """Take a line without the marks of Markdown, and without its day, which the events have, too."""
    return _BULLET.sub("", line.lstrip("#").strip().removeprefix("- "))


def _in_short(entries: Sequence[LogLine] | None, shown: Shown) -> str:
    if not entries:
        return UNKNOWN if entries is None else "nothing"
    ends = [entries[0].event, entries[-1].event] if len(entries) > 1 else [entries[0].event]
    told = ", ".join(f"{who(event) or 'somebody'} {shown.moment(event.ts)}" for event in ends)
    return f"{told} · {count(len(entries), 'event')}" if len(entries) > 1 else told


def _summary(events: Sequence[Event]) -> str:
    sessions = {event.conversation_id for event in events}
    agents = {event.agent for event in events if event.agent}
    times = "said once" if len(events) == 1 else f"said {len(events):,} times"
    if not all(isinstance(event, Fact) for event in events):
        times = count(len(events), "event")
    return " · ".join([times, count(len(sessions), "session"), count(len(agents), "agent")])


def _sayings(events: Sequence[Event], line: str, shown: Shown) -> Iterator[str]:
    line = _words(line)
    rooms = [max(map(cells, column)) for column in zip(*(_columns(event, shown) for event in events), strict=True)]
    for event in events:
        short, *columns = map(padded, _columns(event, shown), rooms)
        yield "  ".join(["", styled(short, fg="cyan"), *columns, kind_shown(event, 0)]).rstrip()
        if same_text(line) not in same_text(gist(event)):
            yield from beside("    ", clean(gist(event)))


def _columns(event: Event, shown: Shown) -> tuple[str, ...]:
    session = "" if is_persons(event) else fit(clean(shown.id(event.conversation_id)), _SESSION)
    return shown.id(event.id), shown.moment(event.ts), fit(who(event), _AGENT), session
