"""`eventlog query`."""

from collections.abc import Callable, Iterable

import click

from eventlog.app.query import EventFilter, query
from eventlog.cli import options
from eventlog.cli.describe import describe
from eventlog.cli.output import emit_bytes, emit_pretty, say, table
from eventlog.codec import to_fields
from eventlog.log_line import LogLine
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog query --session $ID",
        "eventlog query --session $ID --format jsonl",
        "eventlog query --type fact --grep postgres --since 2026-02-01",
        "eventlog query --reverse --limit 20",
    )
)
@click.option("--session", metavar="ID", help="Only events of this conversation (found by index).")
@click.option("--type", "types", multiple=True, help="Only events of this type; may be repeated.")
@click.option("--project", help="Only events of this project: its path, or a directory in it.")
@click.option("--agent", help="Only events of this program.")
@options.since
@options.until
@click.option("--grep", metavar="TEXT", help="Only events whose line contains the text, in any case.")
@click.option("--id", "id_prefix", metavar="PREFIX", help="Only events whose id starts like this.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many events.")
@click.option("--reverse", is_flag=True, help="Newest first.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "jsonl", "json", "markdown"]),
    default="table",
    show_default=True,
    help="jsonl prints the lines of the log byte for byte.",
)
@options.store
def command(
    session: str | None,
    types: tuple[str, ...],
    project: str | None,
    agent: str | None,
    since: str | None,
    until: str | None,
    grep: str | None,
    id_prefix: str | None,
    limit: int | None,
    reverse: bool,
    form: str,
    store: Store,
) -> None:
    """Show events, oldest first: what happened, when, and by whom.

    A line of the log that cannot be read is passed over here; `eventlog verify` names it.
    """
    wanted = EventFilter(
        session=session,
        types=types,
        project=project,
        agent=agent,
        since=since or "",
        until=until or "~",
        text=grep,
        id_prefix=id_prefix,
    )
    _FORMATS[form](query(options.open_log(store), wanted, limit=limit, reverse=reverse))


def _print_lines(entries: Iterable[LogLine]) -> None:
    for entry in entries:
        emit_bytes(entry.line)


def _print_json(entries: Iterable[LogLine]) -> None:
    emit_pretty([to_fields(entry.event) for entry in entries])


def _print_markdown(entries: Iterable[LogLine]) -> None:
    for entry in entries:
        say(f"- {entry.event.ts} **{entry.event.type}** {describe(entry.event)}")


def _print_table(entries: Iterable[LogLine]) -> None:
    table(map(_row, entries), when=16, type=0, agent=0, session=8, what=200)


def _row(entry: LogLine) -> tuple[str, ...]:
    event = entry.event
    who = "/".join(filter(None, [event.agent, event.subagent]))
    return event.ts.replace("T", " "), event.type, who, event.conversation_id, describe(event)


_FORMATS: dict[str, Callable[[Iterable[LogLine]], None]] = {
    "table": _print_table,
    "jsonl": _print_lines,
    "json": _print_json,
    "markdown": _print_markdown,
}
