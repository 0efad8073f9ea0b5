"""Verify every line of the log, and seal it: `eventlog verify`, `eventlog seal`."""

import re
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from eventlog.app.setup.seal import seal_log, verify_sealed
from eventlog.app.write.erasing.erase_everywhere import erase_arrived
from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, count, say
from eventlog.log.days import DAMAGED
from eventlog.log.lines import Damage
from eventlog.log.seals import SealResult
from eventlog.log.verify import VerifyResult, repair, sync_program
from eventlog.store import Store


@options.verb("eventlog verify", "eventlog verify --json", "eventlog verify --repair")
@click.option("--repair", "repairs", is_flag=True, help="Move damage into log/DAY.damaged, byte for byte.")
@click.option("--head", default="", metavar="DIGEST", help="Compare with the seal that had this head, too.")
def _verify_command(repairs: bool, head: str, store: Store) -> Answer:
    """Read every line of the log and report damage with file, line, byte offset and kind.

    Other verbs skip damaged lines and unreadable files, and read everything else. Reports the second of two lines with
    the same id, on one day or on two, and of each file the first line that is no longer as it was sealed. Exits with 4
    if anything is damaged.

    --repair drops nothing and changes no line that is read: it moves what no reader takes, with the reason, into a file
    beside the day. It waits 5 seconds for a writer, and exits with 4 if anything stays damaged.

    --head takes the digest that `eventlog seal` printed. It shows that all that was sealed then is still there, also
    where somebody has written both the log and its seals anew.
    """
    if head and (repairs or not re.fullmatch("[0-9a-fA-F]{64}", head)):
        wrong = "give --head or --repair, not both" if repairs else f"--head: {head!r} is not a digest of 64 digits"
        raise click.UsageError(wrong)
    if repairs:
        return _repair(store)
    log = options.open_log(store)
    found, seals = verify_sealed(log, head)
    value = {**msgspec.structs.asdict(found), "seal": seals.seal.n if seals.seal else 0, "head": seals.head}
    return Answer(value, lambda: _print_checked(found, seals, Display(store)), EXIT_DAMAGED if found.damage else 0)


@options.verb("eventlog seal", "eventlog seal --json", "eventlog verify --head DIGEST")
@click.option("--anew", is_flag=True, help="Accept what differs from the seals, and begin anew.")
def _seal_command(anew: bool, store: Store) -> Answer:
    """Add the state of the log to the chain of seals, and print its head.

    From then on `eventlog verify` names a line that was altered, taken out, put in or moved. Sessions do the same when
    they end. Note the head somewhere else, on paper or in a commit: `eventlog verify --head DIGEST` compares with it.

    Exits with 4 if a file is not as it was sealed; it is left out then. --anew accepts the log as it is.
    """
    done = seal_log(options.open_log(store), thorough=True, anew=anew)
    sealed = {"seal": done.seal.n if done.seal else 0, "head": done.head, "new": done.is_new}
    value = {"status": "ok", **sealed, "damage": list(done.damage)}
    return Answer(value, lambda: _print_sealed(done, Display(store)), EXIT_DAMAGED if done.damage else 0)


def _print_sealed(done: SealResult, display: Display) -> None:
    _print_places(done.damage)
    if done.seal is None:
        say("there is nothing to seal")
    elif done.is_new:
        lines = sum(file.lines for file in done.seal.days)
        say(f"seal {done.seal.n}: {count(len(done.seal.days), 'file')} with {count(lines, 'line')}")
    else:
        say(f"nothing has changed since seal {done.seal.n} of {display.when(done.seal.ts)}")
    if done.head:
        say(f"head {done.head}")


def _repair(store: Store) -> Answer:
    log = options.open_log(store)
    erase_arrived(store)  # else what moves would be a line that was redacted
    with phase():
        done = repair(log)

    def show() -> None:
        for damage in done.moved:
            say(f"{damage.place} {damage.kind}: moved to {store.log}/{Path(damage.file).name[:10]}{DAMAGED}")
        _print_places(done.left)
        say(f"{count(len(done.moved), 'piece')} moved, {len(done.left):,} left")

    return Answer(done, show, EXIT_DAMAGED if done.left else 0)


def _print_checked(found: VerifyResult, seals: SealResult, display: Display) -> None:
    _print_places(found.damage)
    for path in found.strangers:
        program = sync_program(Path(path).name)
        say(f"{path}: {f'a copy made by {program}' if program else 'not a day file'}, never read")
    totals = f"{count(found.events, 'event')} in {count(found.files, 'file')}"
    lines = sum(damage.line > 0 for damage in found.damage)
    unread = sum(damage.kind == "unreadable" for damage in found.damage)
    rest = f", {count(unread, 'unreadable file')}" if unread else ""
    changed = len(found.damage) - lines - unread
    rest += f", {count(changed, 'file')} not as sealed" if changed else ""
    say(f"{totals}, {count(lines, 'damaged line')}{rest}")
    if seals.noted:
        say(f"that head is of seal {seals.noted.n} of {display.when(seals.noted.ts)}")
    if seals.seal:
        say(f"sealed until {display.when(seals.seal.ts)} (seal {seals.seal.n}), head {seals.head}")


def _print_places(damages: Sequence[Damage]) -> None:
    for damage in damages:
        say(f"{damage.place} {damage.kind}: {damage.reason}")
