"""`eventlog sessions`."""

from collections.abc import Mapping
from typing import Any

import click

from eventlog.app.ask.empty_reason import why_empty
from eventlog.app.ask.sessions import NEWEST, SessionRow, sessions
from eventlog.app.open_store import OpenStore
from eventlog.cli import options
from eventlog.cli.output import complain, emit_pretty, is_terminal, table
from eventlog.cli.progress import phases
from eventlog.cli.show.display import Shown
from eventlog.cli.show.session_list import show_sessions
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog sessions",
        "eventlog sessions --project shop --limit 5",
        "eventlog sessions --agent claude,cursor --since yesterday",
        "eventlog sessions --since 2026-02-01 --json",
    )
)
@options.projects
@options.agents
@options.since
@options.until
@click.option("--limit", type=click.IntRange(min=1), default=NEWEST, show_default=True, help="The newest so many.")
@click.option("--all", "wants_all", is_flag=True, help="However many there are.")
@options.header
@options.as_json
@options.store
def command(
    project: str | None,
    agents: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    wants_all: bool,
    header: bool,
    as_json: bool,
    store: Store,
) -> None:
    """Show who worked when, on what, and what each session came to; on a terminal the newest first, else last."""
    opened = options.open_store(store)
    with phases() as phase:
        found = sessions(
            opened,
            project=project,
            agents=agents,
            since=since or "",
            until=until or "~",
            limit=None if wants_all else limit,
            progress=phase("reading days"),
        )
    if not found:
        asked = {"project": project, "agent": agents, "since": since, "until": until}
        complain(*why_empty(opened.log, "session", asked, lambda other: _any(opened, other)))
    if as_json:
        emit_pretty(found)
    elif found and is_terminal():
        show_sessions(found, Shown(store), are_all=wants_all or len(found) < limit)
    elif found:
        table(map(_row, found), header=header, started=0, agent=0, session=0, turns=0, facts=0, topic=0)


def _any(opened: OpenStore, other: Mapping[str, Any]) -> bool:
    """Tell whether there is a session for these conditions; one without a value is none."""
    since, until, agents = other.get("since") or "", other.get("until") or "~", other.get("agent") or ()
    return bool(sessions(opened, project=other.get("project"), agents=agents, since=since, until=until, limit=1))


def _row(row: SessionRow) -> tuple[str, ...]:
    numbers = (str(row.turns), str(row.facts))
    return row.started_at.replace("T", " "), row.agent or "", row.session_id, *numbers, row.topic
