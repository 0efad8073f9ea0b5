"""Events in every form `query` has: for people, as tabs, as lines of the log, as JSON, as Markdown."""

from collections.abc import Iterable, Iterator
from itertools import chain

from eventlog.cli.describe import gist, kind_of
from eventlog.cli.event_table import event_lines, heading_of, show_events
from eventlog.cli.output import clean, emit_bytes, emit_pretty, print_line, show_lines, styled
from eventlog.cli.shown import Shown
from eventlog.codec import to_fields
from eventlog.log_line import LogLine


def show_as(
    form: str, entries: Iterable[LogLine], shown: Shown, *, header: bool, closing: str = "", goes_on: bool = False
) -> None:
    """Print events as they come; `goes_on`: there will be more, and no pager waits for an end."""
    show = _print_each if goes_on else show_lines
    match form:
        case "jsonl":
            for entry in entries:
                emit_bytes(entry.line)
        case "json":
            emit_pretty([to_fields(entry.event) for entry in entries])
        case "markdown":
            show(_markdown(entries))
        case _ if shown.is_for_people:
            show(chain(event_lines(entries, shown), [styled(closing, dim=True)] if closing else []))
        case _:
            show_events(entries, shown, header=header)


def _print_each(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(line)


def _markdown(entries: Iterable[LogLine]) -> Iterator[str]:
    """Make a page: a heading for each session and day of it, and an item for each event."""
    from eventlog.projections.raw_html import as_text

    heading = ""
    for entry in entries:
        event = entry.event
        mine = heading_of(event, event.ts[:10], event.conversation_id)
        if mine != heading:
            yield from ([""] if heading else [])
            yield f"## {as_text(mine)}"
            yield ""
            heading = mine
        yield f"- {event.ts[11:16]} **{as_text(kind_of(event))}** {as_text(clean(gist(event)))} (`{event.id}`)"
