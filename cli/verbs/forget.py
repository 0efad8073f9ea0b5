"""`eventlog forget`."""

import click

from eventlog.app.write.forget import forget, forgettable, forgettable_session
from eventlog.cli import options, suggestions
from eventlog.cli.output import emit_pretty
from eventlog.cli.progress import looking
from eventlog.cli.show.display import Shown
from eventlog.cli.show.forget import as_dict, ask, show_forgettable, tell
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog forget MEMORY.md:5",
        'eventlog forget "The API listens on port 8443"',
        "eventlog forget --session 8d21c0 --yes",
    )
)
@click.argument("what", metavar="[FILE:LINE|ID|TEXT]", required=False, shell_complete=suggestions.events)
@click.option(
    "--session",
    metavar="ID|last",
    callback=options.session_meant,
    shell_complete=suggestions.sessions,
    help="All that this session said.",
)
@options.yes
@options.as_json
@options.store
def command(what: str | None, session: str | None, yes: bool, as_json: bool, store: Store) -> None:
    """Keep something from being said, by whomever, until you take that back.

    Shows every event behind it and asks. What says the same is left out of every file and context, now and when an
    agent says it again. The log keeps it all.
    """
    if (what is None) == (session is None):
        raise click.UsageError("say what: FILE:LINE, ID or TEXT, or --session")
    opened, shown = options.open_store(store), Shown(store)
    with looking():
        found = [forgettable_session(opened, session)] if session else forgettable(opened, what or "")
    if not as_json:
        show_forgettable(found, shown)
    if ask("Forget this?", yes=yes):
        done = forget(opened, found)
        emit_pretty(as_dict(*done)) if as_json else tell(*done, "forgotten", shown.short)
