"""`eventlog query`."""

from collections.abc import Callable, Iterable
from itertools import chain

import click

from eventlog.app.query import EventFilter, query
from eventlog.app.why_empty import why_empty
from eventlog.cli import options, suggestions
from eventlog.cli.choices import NearChoice
from eventlog.cli.describe import describe
from eventlog.cli.event_table import show_events
from eventlog.cli.output import complain, emit_bytes, emit_pretty, say
from eventlog.cli.progress import phases
from eventlog.cli.shown import Shown
from eventlog.codec import to_fields
from eventlog.log_line import LogLine
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog query --session $ID",
        "eventlog query --session $ID --format jsonl",
        "eventlog query --type fact,stage_summary --project shop --since 2d",
        "eventlog query --agent claude --since monday --grep postgres",
        "eventlog query --reverse --limit 20",
    )
)
@options.session
@options.types
@options.projects
@options.agents
@options.since
@options.until
@click.option("--grep", metavar="TEXT", help="Only events whose line contains the text, in any case.")
@click.option(
    "--id",
    "ids",
    metavar="ID|FILE:LINE",
    callback=options.events_meant,
    shell_complete=suggestions.events,
    help="Only the event of this id or short id, those whose ids begin like this, or those behind a line.",
)
@click.option("--limit", type=click.IntRange(min=1), help="At most so many events.")
@click.option("--reverse", is_flag=True, help="Newest first.")
@click.option(
    "--format",
    "form",
    type=NearChoice(["table", "jsonl", "json", "markdown"]),
    default="table",
    show_default=True,
    help="jsonl prints the lines of the log byte for byte.",
)
@options.store
def command(
    session: str | None,
    types: tuple[str, ...],
    project: str | None,
    agents: tuple[str, ...],
    since: str | None,
    until: str | None,
    grep: str | None,
    ids: tuple[str, ...] | None,
    limit: int | None,
    reverse: bool,
    form: str,
    store: Store,
) -> None:
    """Show events, oldest first: what happened, when, and by whom.

    A line of the log that cannot be read is passed over here; `eventlog verify` names it.
    """
    log = options.open_log(store)
    wanted = EventFilter(
        session=session,
        types=types,
        project=project,
        agents=agents,
        since=since or "",
        until=until or "~",
        text=grep,
        ids=ids,
    )
    with phases() as phase:
        phase("looking through the log")
        found = iter(query(log, wanted, limit=limit, reverse=reverse))
        first = next(found, None)
    if first:
        _FORMATS[form](chain([first], found), store)
        return
    if form == "json":
        emit_pretty([])
    asked = {"session": session, "type": types, "project": project, "agent": agents, "grep": grep}
    complain(*why_empty(log, "event", asked | {"since": since, "until": until}))


def _print_lines(entries: Iterable[LogLine], _: Store) -> None:
    for entry in entries:
        emit_bytes(entry.line)


def _print_json(entries: Iterable[LogLine], _: Store) -> None:
    emit_pretty([to_fields(entry.event) for entry in entries])


def _print_markdown(entries: Iterable[LogLine], _: Store) -> None:
    for entry in entries:
        say(f"- {entry.event.ts} **{entry.event.type}** {describe(entry.event)}")


def _print_table(entries: Iterable[LogLine], store: Store) -> None:
    show_events(entries, Shown(store))


_FORMATS: dict[str, Callable[[Iterable[LogLine], Store], None]] = {
    "table": _print_table,
    "jsonl": _print_lines,
    "json": _print_json,
    "markdown": _print_markdown,
}
