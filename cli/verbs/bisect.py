"""`eventlog bisect`."""

import click

from eventlog.app.ask.bisect import bisect
from eventlog.cli import options
from eventlog.cli.progress import phases
from eventlog.cli.show.display import Shown
from eventlog.cli.show.past import show_turn
from eventlog.store import Store


@click.command(
    epilog=options.examples('eventlog bisect MEMORY.md "port 8443"', "eventlog bisect sessions.jsonl JWT --json")
)
@click.argument("file")
@click.argument("text")
@options.as_json
@options.store
def command(file: str, text: str, as_json: bool, store: Store) -> None:
    """Find the event that brought a text into a knowledge file, or, where it is not there any more, took it out."""
    with phases():
        found = bisect(options.open_store(store), file, text)
    show_turn(found, text, Shown(store), as_json=as_json)
