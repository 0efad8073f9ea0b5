"""`eventlog diff`."""

import click

from eventlog.app.ask.diff import diff
from eventlog.cli import options
from eventlog.cli.progress import phases
from eventlog.cli.show.past import show_changes
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog diff",
        "eventlog diff --from monday MEMORY.md",
        "eventlog diff --from 2026-02-20 --to 2026-02-21",
    )
)
@click.argument("file", required=False)
@click.option("--from", "since", type=options.TimeParam(end=True), default="1d", show_default=True, help="Since when.")
@click.option("--to", "until", type=options.TimeParam(end=True), default="now", show_default=True, help="Until when.")
@options.as_json
@options.store
def command(file: str | None, since: str, until: str, as_json: bool, store: Store) -> None:
    """Show how the knowledge files changed between two times; a day means its end.

    FILE is a knowledge file or a knowledge base. What is compared is what the log says, not what lies on disk.
    """
    with phases():
        found = diff(options.open_store(store), since, until, file)
    show_changes(found, "nothing changed in that time; eventlog diff --from 30d looks further back", as_json=as_json)
