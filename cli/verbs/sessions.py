"""`eventlog sessions`."""

import click

from eventlog.app.sessions import NEWEST, SessionRow, sessions
from eventlog.cli import options
from eventlog.cli.output import emit_pretty, table
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog sessions", "eventlog sessions --project . --limit 5", "eventlog sessions --since 2026-02-01 --json"
    )
)
@click.option("--project", help="Only sessions of this project: its path, or a directory in it.")
@click.option("--agent", help="Only sessions of this program.")
@options.since
@options.until
@click.option("--limit", type=click.IntRange(min=1), default=NEWEST, show_default=True, help="The newest so many.")
@options.as_json
@options.store
def command(
    project: str | None,
    agent: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    as_json: bool,
    store: Store,
) -> None:
    """Show who worked when, and what each session came to; the newest last."""
    opened = options.open_store(store)
    found = sessions(opened, project=project, agent=agent, since=since or "", until=until or "~", limit=limit)
    if as_json:
        emit_pretty(found)
    else:
        table(map(_row, found), started=16, agent=0, session=0, turns=0, facts=0, topic=100)


def _row(row: SessionRow) -> tuple[str, ...]:
    numbers = (str(row.turns), str(row.facts))
    return row.started_at.replace("T", " "), row.agent or "", row.session_id, *numbers, row.topic
