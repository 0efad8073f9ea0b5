"""Serve coding agents: `eventlog context`, `eventlog hook`, `eventlog mcp`."""

import sys
from pathlib import Path

import click

from eventlog.app.naming.references import session_named
from eventlog.app.serve.session_context import append_receipt, request_of, session_context
from eventlog.cli import options
from eventlog.cli.mcp.server import serve
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.terminal import count, emit, is_terminal, print_error, show_lines, wrap_markdown
from eventlog.hooks import hook_main
from eventlog.store import Store

_SOURCES = ("startup", "resume", "clear", "compact")


@options.verb(
    "eventlog context",
    "eventlog context --session $ID --agent my-agent",
    "eventlog context --session-type shared --json",
    "eventlog context --session $ID --source compact --budget 4000",
)
@options.current_project
@click.option("--session", default="", metavar="ID", help="Conversation that starts now; without it, a preview.")
@options.audience("Audience: you alone, or others too [default: from the session's start, else main].")
@click.option("--source", type=NearChoice(_SOURCES), help="How the session starts.")
@options.program("Program that asks: leaves out the files it loads by itself.", default="")
@click.option(
    "--budget", type=options.Number(), metavar="CHARS", help="Print at most this many characters [default: 9000]."
)
def _context_command(
    project: str | None,
    session: str,
    session_type: str | None,
    source: str | None,
    agent: str,
    budget: int | None,
    as_json: bool,
    store: Store,
) -> None:
    """Print what a session starts with: your files, notes, recent facts, memories, the last summaries.

    With --session, also explains how to save, shows BOOTSTRAP.md once, and appends a receipt to the log:
    `eventlog why --session ID` shows what the session received.
    """
    opened = options.open_store(store)
    request = request_of(
        opened,
        project or "",
        session=session and session_named(opened.log, session, project),
        session_type=session_type,
        source=source or "",
        agent=agent,
        budget=budget,
        where=str(Path.cwd()),
    )
    built = session_context(opened, request)
    if as_json:
        emit(built.context, pretty=True)
    elif is_terminal():  # never raw bytes: a repository may hold any AGENTS.md
        show_lines(wrap_markdown(built.context.text.splitlines()))
    else:
        click.echo(built.context.text, nl=False)
    if not built.text and built.cut:
        room = budget or opened.settings.context.budget_chars
        print_error(f"{count(room, 'character')}: too few for {', '.join(built.cut)}", "a larger --budget shows more")
    elif not built.text:
        print_error("no session has anything to start with yet", "eventlog fact TEXT saves something")
    if session:
        append_receipt(store, built, request.source, sync=opened.log.fsync)


@options.verb("eventlog hook --agent claude < payload.json", "eventlog hook --agent copilot --event sessionStart")
@click.option("--agent", help="Agent whose settings contain the hook; the payload names the real caller.")
@click.option("--event", help="Event of the hook, for payloads without one.")
@options.audience("Audience: you alone, or others too.")
@options.shared("store")
def _hook_command(**_: object) -> None:
    """Record the JSON of a coding agent's hook from stdin, and answer in the agent's format.

    Always exits with 0 and prints only the answer; `eventlog doctor` reports failures. `eventlog install` registers it
    with agents.
    """
    hook_main.main(sys.argv[1:])  # with a --store that came before the verb


@options.verb("eventlog mcp", "eventlog mcp --agent claude", "eventlog install codex")
@click.option(
    "--agent", default="", metavar="NAME", help="Agent that starts the server; finds its active conversation."
)
@options.audience("Audience: you alone, or others too, without facts about you.", default="main", show_default=True)
def _mcp_command(agent: str, session_type: str, store: Store) -> None:
    """Serve memory as tools over the Model Context Protocol on stdin and stdout: recall, remember, why, forget.

    Agents start it; `eventlog install` registers it with them. It exits with its client.
    """
    serve(store, agent, shared=session_type == "shared")
