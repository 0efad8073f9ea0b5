"""`eventlog sessions`."""

from typing import Any

import click
import orjson

from eventlog.app.replay import replay
from eventlog.cli import options
from eventlog.cli.output import emit_pretty, table
from eventlog.projections.views.sessions import SESSIONS
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
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="The newest so many.")
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
    documents = replay(opened.log, opened.settings, projections=[SESSIONS]).documents
    found: list[dict[str, Any]] = [orjson.loads(line.text) for one in documents for line in one.lines]
    roots = options.spellings(project) if project else ()
    wanted = [
        one
        for one in found
        if (since or "") <= one["started_at"] <= (until or "~")
        and (not roots or one["project"] in roots)
        and (not agent or one["agent"] == agent)
    ][-limit:]
    if as_json:
        emit_pretty(wanted)
        return
    table(map(_row, wanted), started=16, agent=0, session=0, turns=0, facts=0, topic=100)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    numbers = (str(one["turns"]), str(one["facts"]))
    return one["started_at"].replace("T", " "), one["agent"] or "", one["session_id"], *numbers, one["topic"]
