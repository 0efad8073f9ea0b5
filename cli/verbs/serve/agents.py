"""`eventlog context`."""

import sys
from pathlib import Path

import click

from eventlog.app.naming.references import session_named
from eventlog.app.serve.session_context import append_receipt, request_of, session_context
from eventlog.cli import options
from eventlog.cli.mcp.server import serve
from eventlog.cli.options import NearChoice
from eventlog.cli.terminal import emit_pretty, is_terminal, show_lines, wrap_markdown
from eventlog.hooks import begin
from eventlog.store import Store

_SOURCES = ("startup", "resume", "clear", "compact")


@click.command(
    epilog=options.examples(
        "eventlog context",
        "eventlog context --session $ID --agent my-agent",
        "eventlog context --session-type shared --json",
        "eventlog context --session $ID --source compact --budget 4000",
    )
)
@options.current_project
@click.option("--session", default="", metavar="ID", help="Conversation that starts now; without it, only a look.")
@click.option(
    "--session-type",
    type=NearChoice(["main", "shared"]),
    help="Who listens: the user alone, or others too [default: as the session's start says, else main].",
)
@click.option("--source", type=NearChoice(_SOURCES), help="How the session starts.")
@options.program("Program that asks: the files it loads by itself are left out.", default="")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="CHARS", help="At most so many characters [default: 9000]."
)
@options.as_json
@options.store
def context_command(
    project: str | None,
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
    request = request_of(
        opened,
        project or "",
        session=session and session_named(opened.log, session),
        session_type=session_type,
        source=source or "",
        agent=agent,
        budget=budget,
        where=str(Path.cwd()),
    )
    built = session_context(opened, request)
    if as_json:
        emit_pretty(built.context)
    elif is_terminal():  # no bytes as they are: a repository may hold any AGENTS.md
        show_lines(wrap_markdown(built.context.text.splitlines()))
    else:
        click.echo(built.context.text, nl=False)
    if session:
        append_receipt(opened.log, request, built)


@click.command(
    epilog=options.examples(
        "eventlog hook --agent claude < payload.json",
        "eventlog hook --agent copilot --event sessionStart",
    )
)
@click.option("--agent", help="Whose settings the hook stands in; who really calls is told by the payload.")
@click.option("--event", help="The event it is registered for, for payloads that do not say.")
@click.option("--session-type", type=NearChoice(["main", "shared"]), help="What is not for everyone stays out.")
@options.store
def hook_command(**_: object) -> None:
    """Record what a coding agent's hook sends on stdin, and answer in the agent's own terms.

    Always exits with 0 and prints nothing but the answer; what went wrong is told by `eventlog doctor`. `eventlog
    install` registers it with agents.
    """
    begin.main(sys.argv[1:])  # with a --store that came before the verb


@click.command(epilog=options.examples("eventlog mcp", "eventlog mcp --agent claude", "eventlog install codex --mcp"))
@click.option(
    "--agent", default="", metavar="NAME", help="Who starts it; a conversation at work is looked for among its own."
)
@click.option(
    "--session-type",
    type=NearChoice(["main", "shared"]),
    default="main",
    show_default=True,
    help="Who listens: you alone, or others too, who are told nothing about you.",
)
@options.store
def mcp_command(agent: str, session_type: str, store: Store) -> None:
    """Serve memory as tools, by the Model Context Protocol on stdin and stdout: recall, remember, why, forget.

    Agents start it; `eventlog install --mcp` registers it with them. It ends with its client.
    """
    serve(store, agent, shared=session_type == "shared")
