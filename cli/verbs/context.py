"""`eventlog context`."""

import os
import sys
import time
from pathlib import Path

import click

from eventlog import timestamps
from eventlog.app.context import begin, build
from eventlog.app.receipt import append_receipt
from eventlog.cli import options
from eventlog.cli.output import emit_pretty
from eventlog.hooks import prompts
from eventlog.hosts.call import HookCall
from eventlog.project import project_root
from eventlog.projections.context import SessionType
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.text import harmless

_SOURCES = ("startup", "resume", "clear", "compact")


@click.command(
    epilog=options.examples(
        "eventlog context",
        "eventlog context --session $ID --agent my-agent",
        "eventlog context --session-type shared --json",
        "eventlog context --session $ID --source compact --budget 4000",
    )
)
@click.option("--project", default=".", help="Directory of the project [default: the current one].")
@click.option("--session", default="", metavar="ID", help="Conversation that starts now; without it, only a look.")
@click.option(
    "--session-type",
    type=click.Choice(["main", "shared"]),
    help="Who listens: the user alone, or others too [default: as the session's start says, else main].",
)
@click.option("--source", type=click.Choice(_SOURCES), help="How the session starts.")
@click.option("--agent", default="", help="Program that asks: the files it loads by itself are left out.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="CHARS", help="At most so many characters [default: 9000]."
)
@options.as_json
@options.store
def command(
    project: str,
    session: str,
    session_type: str | None,
    source: str | None,
    agent: str,
    budget: int | None,
    as_json: bool,
    store: Store,
) -> None:
    """Print what a session starts with: people's files, notes, recent facts, memories, the last summaries.

    With --session it also says how to save, BOOTSTRAP.md is used up, and a receipt goes into the log:
    `eventlog why --session ID` shows what the session knew.
    """
    opened = options.open_store(store)
    request = ContextRequest(
        now=timestamps.from_ns(time.time_ns()),
        home=str(Path.home()),
        project=project_root(project),
        session_id=session,
        session_type=SessionType(session_type) if session_type else None,
        source=source or "",
        agent=agent,
        instructions=_head(store, opened.settings, session, agent, source or "") if session else "",
        budget=budget,
        program=prompts.program(),
        store_option=prompts.store_option(store),
    )
    built = begin(opened.log, opened.settings, request) if session else build(opened.log, opened.settings, request)
    if as_json:
        emit_pretty(built.context)
    else:
        click.echo(_shown(built.context.text), nl=False)
    if session:
        append_receipt(opened.log, request, built)


def _shown(text: str) -> str:
    """For an agent as it is; on a terminal without what would act on it, for a repository may hold any AGENTS.md."""
    if not sys.stdout.isatty():
        return text
    return "".join(f"{harmless(line)}\n" for line in text.splitlines())


def _head(store: Store, settings: Settings, session: str, agent: str, source: str) -> str:
    call = HookCall(agent or "cli", "SessionStart", {"cwd": os.getcwd()}, session=session)  # noqa: PTH109
    flush = prompts.flush(store, call, settings.locale) + "\n" if source == "compact" else ""
    return flush + prompts.start(store, call, settings.locale)
