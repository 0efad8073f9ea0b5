"""`eventlog undo`."""

import click

from eventlog.app.write.undo import undo, undoable
from eventlog.cli import options, suggestions
from eventlog.cli.output import emit_pretty
from eventlog.cli.progress import looking
from eventlog.cli.show.display import Shown
from eventlog.cli.show.forget import as_dict, ask, show_undoable, tell
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog undo", "eventlog undo 8d21c0 --yes"))
@click.argument("name", metavar="[ID]", required=False, default="", shell_complete=suggestions.events)
@options.yes
@options.as_json
@options.store
def command(name: str, yes: bool, as_json: bool, store: Store) -> None:
    """Take back the last thing a person or an entry did, or the one of that id.

    An entry that was applied (the text it replaced comes back), a forgetting, a decision about an entry, an edit by
    hand, a restored file. Shows it and asks. Given again it takes back the one before; what was taken back is taken
    back by its own id.
    """
    opened, shown = options.open_store(store), Shown(store)
    with looking():
        found = undoable(opened, name)
    if not as_json:
        show_undoable(found, shown)
    if ask("Take this back?", yes=yes):
        done = undo(opened, found)
        emit_pretty(as_dict(*done)) if as_json else tell(*done, "taken back", shown.short)
