"""Verify every line of the log: `eventlog verify`."""

from pathlib import Path

import click

from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.progress import phases
from eventlog.cli.terminal import count, emit_pretty, say
from eventlog.log.verify import VerifyResult, sync_program, verify
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog verify", "eventlog verify --json"))
@options.as_json
@options.store
def _verify_command(as_json: bool, store: Store) -> int:
    """Read every line of the log and report damage with file, line, byte offset and kind.

    Other verbs skip damaged lines and unreadable files, and read everything else. Reports the second of two lines with
    the same id, on one day or on two. Exits with 4 if anything is damaged.
    """
    with phases() as phase:
        found = verify(options.open_log(store), phase("reading days"))
    if as_json:
        emit_pretty(found)
    else:
        _print_damage(found)
    return EXIT_DAMAGED if found.damage else 0


def _print_damage(found: VerifyResult) -> None:
    for damage in found.damage:
        say(f"{damage.place} {damage.kind}: {damage.reason}")
    for path in found.strangers:
        program = sync_program(Path(path).name)
        say(f"{path}: {f'a copy made by {program}' if program else 'not a day file'}, never read")
    totals = f"{count(found.events, 'event')} in {count(found.files, 'file')}"
    unread = sum(damage.kind == "unreadable" for damage in found.damage)
    rest = f", {count(unread, 'unreadable file')}" if unread else ""
    say(f"{totals}, {count(len(found.damage) - unread, 'damaged line')}{rest}")
