"""`eventlog mcp`."""

import click

from eventlog.cli import options
from eventlog.cli.choices import NearChoice
from eventlog.cli.mcp.launch import serve
from eventlog.store import Store


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
def command(agent: str, session_type: str, store: Store) -> None:
    """Serve memory as tools, by the Model Context Protocol on stdin and stdout: recall, remember, why, forget.

    Agents start it; `eventlog install --mcp` registers it with them. It ends with its client.
    """
    serve(store, agent, shared=session_type == "shared")
