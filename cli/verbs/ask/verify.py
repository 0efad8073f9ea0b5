"""Verify every line of the log: `eventlog verify`."""

from pathlib import Path

import click

from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.progress import phases
from eventlog.cli.terminal import count, emit_pretty, say
from eventlog.log.repair import damaged_file, repair
from eventlog.log.verify import VerifyResult, sync_program, verify
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog verify", "eventlog verify --json", "eventlog verify --repair"))
@click.option("--repair", "repairs", is_flag=True, help="Move damage into log/DAY.damaged, byte for byte.")
@options.as_json
@options.store
def _verify_command(repairs: bool, as_json: bool, store: Store) -> int:
    """Read every line of the log and report damage with file, line, byte offset and kind.

    Other verbs skip damaged lines and unreadable files, and read everything else. Reports the second of two lines with
    the same id, on one day or on two. Exits with 4 if anything is damaged.

    --repair drops nothing and changes no line that is read: it moves what no reader takes, with the reason, into a file
    beside the day. It waits 5 seconds for a writer, and exits with 4 if anything stays damaged.
    """
    if repairs:
        return _repair(store, as_json=as_json)
    with phases() as phase:
        found = verify(options.open_log(store), phase("reading days"))
    if as_json:
        emit_pretty(found)
    else:
        _print_damage(found)
    return EXIT_DAMAGED if found.damage else 0


def _repair(store: Store, *, as_json: bool) -> int:
    with phases():
        done = repair(options.open_log(store))
    if as_json:
        emit_pretty(done)
    else:
        for damage in done.moved:
            say(f"{damage.place} {damage.kind}: moved to {damaged_file(store.log, Path(damage.file).name[:10])}")
        for damage in done.left:
            say(f"{damage.place} {damage.kind}: {damage.reason}")
        say(f"{count(len(done.moved), 'piece')} moved, {len(done.left):,} left")
    return EXIT_DAMAGED if done.left else 0


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
