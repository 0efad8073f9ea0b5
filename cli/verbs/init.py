"""`eventlog init`."""

import sys

import click

from eventlog.app.machine import Machine
from eventlog.app.setup.init import create_file, missing
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.output import say
from eventlog.settings.load import load
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog init", "eventlog init --yes"))
@click.option("--yes", is_flag=True, help="Create them without asking.")
@options.store
def command(yes: bool, store: Store) -> int:
    """Create the files your sessions are told, from templates: AGENTS.md, SOUL.md, USER.md and user/profile.md.

    They are made in your own directory (`context.workspace`), never in a repository, and never over anything. Asks on
    a terminal; elsewhere, without --yes, it only tells what is missing and exits with 1.
    """
    wanted = missing(load(store).settings, Machine.here().home)
    for file in wanted:
        say(f"missing    {file.path}")
    if not wanted:
        say("nothing is missing")
        return 0
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    if not (yes or (asks and click.confirm("Create them?", default=True))):
        return EXIT_FOUND
    for file in wanted:
        create_file(file)
        say(f"created    {file.path}")
    return 0
