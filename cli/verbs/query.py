"""`eventlog query`."""

from collections.abc import Callable, Iterable
from itertools import chain

import click

from eventlog.app.query import EventFilter, query
from eventlog.app.why_empty import why_empty
from eventlog.cli import options, suggestions
from eventlog.cli.choices import NearChoice
from eventlog.cli.describe import describe
from eventlog.cli.output import complain, emit_bytes, emit_pretty, say, table
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
    "id_part",
    metavar="ID",
    shell_complete=suggestions.events,
    help="Only events of this id, or of one that begins or ends like this.",
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
    id_part: str | None,
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
        id_part=id_part,
    )
    found = iter(query(log, wanted, limit=limit, reverse=reverse))
    if first := next(found, None):
        _FORMATS[form](chain([first], found))
        return
    if form == "json":
        emit_pretty([])
    asked = click.get_current_context().params
    complain(*why_empty(log, "event", {option: asked[name] for option, name in _CONDITIONS.items()}))


_CONDITIONS = {name: name for name in ("session", "project", "since", "until", "grep")} | {
    "type": "types",
    "agent": "agents",
    "id": "id_part",
}


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
