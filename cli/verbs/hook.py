"""`eventlog hook`, for people who ask what it is; calls of hosts never come this far (see `main`)."""

import sys

import click

from eventlog.cli import options
from eventlog.cli.choices import NearChoice
from eventlog.hooks import begin


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
def command(**_: object) -> None:
    """Record what a coding agent's hook sends on stdin, and answer in the agent's own terms.

    Always exits with 0 and prints nothing but the answer; what went wrong is told by `eventlog doctor`. `eventlog
    install` registers it with agents.
    """
    begin.main(sys.argv[1:])  # with a --store that came before the verb
