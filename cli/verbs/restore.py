"""`eventlog restore`."""

import click

from eventlog.app.write.restore import restorable
from eventlog.app.write.undo import undo
from eventlog.cli import options
from eventlog.cli.output import emit_pretty
from eventlog.cli.progress import looking
from eventlog.cli.show.display import Shown
from eventlog.cli.show.forget import as_dict, ask, show_undoable, tell
from eventlog.store import Store


@click.command(
    epilog=options.examples("eventlog restore MEMORY.md --as-of yesterday", "eventlog restore user --as-of 2026-02-20")
)
@click.argument("file")
@click.option("--as-of", type=options.TimeParam(end=True), required=True, help="When it was as you want it.")
@options.yes
@options.as_json
@options.store
def command(file: str, as_of: str, yes: bool, as_json: bool, store: Store) -> None:
    """Make a MEMORY.md or a knowledge base what it was: what changed it since is taken back, each by an event.

    What you have forgotten since stays forgotten. Shows all of that and asks; `eventlog undo` takes it back whole.
    `eventlog diff --from TIME FILE` shows what would be another.
    """
    opened, shown = options.open_store(store), Shown(store)
    with looking():
        found = restorable(opened, file, as_of)
    if not as_json:
        show_undoable(found, shown)
    if ask("Take all of this back?", yes=yes):
        done = undo(opened, found)
        emit_pretty(as_dict(*done)) if as_json else tell(*done, "restored", shown.short)
