"""`eventlog verify`."""

import click

from eventlog import days
from eventlog.cli import options
from eventlog.cli.main import EXIT_DAMAGED
from eventlog.cli.output import count, emit_pretty, say
from eventlog.store import Store
from eventlog.verify import verify


@click.command(epilog=options.examples("eventlog verify", "eventlog verify --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> int:
    """Read every line of the log and name each damage: file, line, byte offset and kind.

    A damaged line costs only itself, an unreadable file only its own: everything else is still read. Of two lines
    with one id, on one day or on two, the other one is named. Exits with 4 where anything is damaged.
    """
    found = verify(options.open_log(store))
    strangers = days.foreign_files(store.log)
    if as_json:
        emit_pretty({"events": found.events, "files": found.files, "damage": found.damage, "strangers": strangers})
    else:
        for one in found.damage:
            say(f"{one.place} {one.kind}: {one.reason}")
        for path in strangers:
            say(f"{path}: not a day file, never read")
        held = f"{count(found.events, 'event')} in {count(found.files, 'file')}"
        unread = sum(one.kind == "unreadable" for one in found.damage)
        rest = f", {count(unread, 'unreadable file')}" if unread else ""
        say(f"{held}, {count(len(found.damage) - unread, 'damaged line')}{rest}")
    return EXIT_DAMAGED if found.damage else 0
