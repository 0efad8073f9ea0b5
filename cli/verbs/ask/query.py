"""List events of the log: `eventlog query`."""

import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import click
from msgspec.structs import replace

from eventlog.app.ask.query import EventFilter, Follower, query, why_empty
from eventlog.app.naming import references
from eventlog.app.naming.names import is_file_line
from eventlog.app.progress import Progress
from eventlog.cli import options, suggestions
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import gist, kind_of
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.terminal import emit, emit_line, is_terminal, print_error, print_lines, show_lines, styled
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.format.text import one_line
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.store import Store


def _events_meant(log: EventLog, reference: str) -> tuple[str, ...]:
    """Find events by id, part of an id, `last`, or `FILE:LINE`."""
    found = references.events_named(log, reference, options.project_of_last(click.get_current_context()))
    if not found and is_file_line(reference):
        from eventlog.app.ask.why import reasons_behind

        reasons = reasons_behind(options.open_store(log.store), reference)
        found = [event.id for reason in reasons for event in reason.events]
    if not found:
        raise BadRequest(f"no event {reference!r}", hint=references.WHERE)
    return tuple(found)


_NEWEST = 50
_LOOK_SECONDS = 0.5


@options.verb(
    "eventlog query --session last",
    "eventlog query --session 8d21c0 --format jsonl",
    "eventlog query --type fact,stage_summary --project shop --since 2d",
    "eventlog query --agent claude --since monday --grep postgres",
    "eventlog query --reverse --limit 20",
    "eventlog query --regex 'port \\d+' --all",
    "eventlog query --follow --type fact",
)
@options.session
@options.shared("types")
@options.scope
@options.shared("agents")
@options.shared("since")
@options.shared("until")
@click.option("--grep", metavar="WORDS", help="Only events with all these words, in any case and order.")
@click.option("--regex", metavar="PATTERN", help="Only events whose text matches the expression, in any case.")
@click.option(
    "--id",
    "ids",
    metavar="ID|FILE:LINE",
    shell_complete=suggestions.events,
    help="Only the events with this id, part of an id, or behind this line, or the last of the project.",
)
@click.option("--limit", type=options.Number(), help="Print at most this many events.")
@click.option("--all", "wants_all", is_flag=True, help=f"On a terminal: print all events, not the newest {_NEWEST}.")
@click.option("--reverse", is_flag=True, help="Newest first.")
@click.option("--follow", is_flag=True, help="Keep printing new events until Ctrl-C.")
@click.option(
    "--format",
    "form",
    type=NearChoice(["table", "jsonl", "json", "markdown"]),
    default="table",
    show_default=True,
    help="jsonl prints the lines of the log byte for byte.",
)
def _query_command(
    limit: int | None,
    wants_all: bool,
    reverse: bool,
    follow: bool,
    form: str,
    header: bool,
    store: Store,
    **filters: Any,
) -> None:
    """List the events of this project, oldest first, with time, agent and session.

    Your own decisions, which are of no project, are among them. A session or an event that is named is found in any
    project.
    Skips unreadable lines of the log; `eventlog verify` lists them.
    """
    if follow and (reverse or limit or form == "json" or filters["ids"]):
        raise click.UsageError("--follow never ends: it takes no --reverse, --limit, --id or --format json")
    chosen = options.is_given("project")
    log, named = options.open_log(store), filters["ids"]
    if named:
        filters["ids"] = _events_meant(log, named)
    if named == references.LAST or ((named or filters["session"]) and not chosen):
        filters["project"] = None
    wanted = replace(_filter(**filters), with_decisions=not chosen)
    follower = Follower(log, wanted) if follow else None
    with phase() as progress:
        found, closing = _chosen(log, wanted, limit, progress, reverse=reverse, every=wants_all)
        first = next(found, None)
    entries: Iterator[LogLine] = chain([first] if first else [], found)
    if follower:
        entries, closing = follower.after(entries, _wait), ""
    try:
        _show_as(form, entries, Display(store), header=header, closing=closing, goes_on=follow)
    except KeyboardInterrupt:
        if not follow:  # Ctrl-C ends --follow
            raise
    if not (first or follow):
        ids = filters.pop("ids")
        print_error(*why_empty(log, "event", filters, lambda other: _any(log, _filter(**other, ids=ids))))


def _filter(since: str | None = None, until: str | None = None, grep: str | None = None, **filters: Any) -> EventFilter:
    return EventFilter(since=since or "", until=until or "~", text=grep, **filters)


def _any(log: EventLog, wanted: EventFilter) -> bool:
    return any(True for _ in query(log, wanted, limit=1))


def _chosen(
    log: EventLog, wanted: EventFilter, limit: int | None, progress: Progress, *, reverse: bool, every: bool
) -> tuple[Iterator[LogLine], str]:
    """Find the events and the closing line: by default the newest on a terminal."""
    if every or limit or reverse or not is_terminal():
        return iter(query(log, wanted, limit=limit, reverse=reverse, progress=progress)), ""
    found = list(query(log, wanted, limit=_NEWEST + 1, reverse=True, progress=progress))
    return reversed(found[:_NEWEST]), f"the newest {_NEWEST} of more; all: --all" if len(found) > _NEWEST else ""


def _wait() -> bool:
    """Flush stdout, and wait for new events."""
    sys.stdout.flush()
    time.sleep(_LOOK_SECONDS)
    return True


def _show_as(
    form: str, entries: Iterable[LogLine], display: Display, *, header: bool, closing: str, goes_on: bool
) -> None:
    """Print events in a format; `goes_on` prints each at once, without a pager."""
    show, events = print_lines if goes_on else show_lines, (entry.event for entry in entries)
    match form:
        case "jsonl":
            for entry in entries:
                emit_line(entry.line)
        case "json":
            emit(list(map(to_fields, events)), pretty=True)
        case "markdown":
            show(_markdown(events))
        case _ if display.is_for_people:
            show(chain(display.event_lines(events), [styled(closing, dim=True)] if closing else []))
        case _:
            display.show_events(events, header=header)


def _markdown(events: Iterable[Event]) -> Iterator[str]:
    """Yield Markdown: a heading per session and day, and an item per event."""
    from eventlog.projections.views.markdown import as_text

    heading = ""
    for event in events:
        mine = Display.heading(event, event.ts[:10], event.conversation_id)
        if mine != heading:
            yield from ([""] if heading else [])
            yield f"## {as_text(mine)}"
            yield ""
            heading = mine
        yield f"- {event.ts[11:16]} **{as_text(kind_of(event))}** {as_text(one_line(gist(event)))} (`{event.id}`)"
