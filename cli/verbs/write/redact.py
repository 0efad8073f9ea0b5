"""Erase a text, an event or a session from the log and from every file made of it: `eventlog redact`."""

import click

from eventlog.app.sync.sync_status import to_confirm
from eventlog.app.write.erasing.erase_everywhere import Receipt
from eventlog.app.write.erasing.redact import Redactable, redact, redactable
from eventlog.cli import options, suggestions
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import kind_of
from eventlog.cli.terminal import confirm, count, emit, say
from eventlog.format.text import one_line
from eventlog.log.lines import LogLine
from eventlog.store import Store

_SHOWN = 12  # events, and files
_BEYOND = "snapshots and backups of this disk, git histories of your files, machines that have a copy of the log"


@options.verb(
    "eventlog redact hunter2",
    "eventlog redact MEMORY.md:5 --dry-run",
    "eventlog redact --session 8d21c0 --yes",
    "eventlog redact --pattern 'corp-[0-9a-f]{16}'",
)
@click.argument("what", metavar="[ID|FILE:LINE|TEXT]", required=False, shell_complete=suggestions.events)
@options.session_to("Erase everything this session said.")
@click.option("--pattern", metavar="REGEX", help="Erase every text that matches.")
@click.option("--dry-run", is_flag=True, help="Show what holds it, and change nothing.")
def _redact_command(
    what: str | None, session: str | None, pattern: str | None, dry_run: bool, yes: bool, as_json: bool, store: Store
) -> None:
    """Erase a text everywhere: from the log, from all files of the store, and from what it wrote elsewhere.

    Takes an event, a line of a file, or a text in any case and spelling. Lists what holds it and asks; it cannot be
    undone. Events keep id, time and type. Whoever records the same again is refused. Prints what it cannot reach;
    redactions.jsonl keeps a receipt, without the text. To have something left out of files only: eventlog forget.
    """
    if [what, session, pattern].count(None) != 2:  # noqa: PLR2004 - all but one
        raise click.UsageError("give one of ID, FILE:LINE, TEXT, --session and --pattern")
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = redactable(opened, what, session=session, pattern=pattern)
    if not as_json:
        _show(opened.log.find(found.events[:_SHOWN]), found, display)
    if dry_run:
        if as_json:
            emit(
                {"status": "dry-run", "events": found.events, "files": found.files, "left": found.erasing.left},
                pretty=True,
            )
        return
    if not confirm("Erase this for good?", yes=yes):
        return
    with phase():
        done = redact(opened, found)
    if as_json:
        emit({"status": "ok", **_as_dict(done), "unconfirmed": to_confirm(opened)}, pretty=True)
    else:
        _report(done, to_confirm(opened))


def _show(events: dict[str, LogLine], found: Redactable, display: Display) -> None:
    """List the events and the files that hold it, without the text."""
    say(f"{count(len(found.events), 'event')} and {count(len(found.files), 'file')} hold it:")
    for event in (events[event_id].event for event_id in found.events if event_id in events):
        say(f"  {display.id(event.id)}  {display.moment(event.ts)}  {kind_of(event)}")
    _more(len(found.events))
    for path in found.files[:_SHOWN]:
        say(f"  {one_line(path)}")
    _more(len(found.files))


def _more(number: int) -> None:
    if number > _SHOWN:
        say(f"  and {number - _SHOWN:,} more")


def _report(receipt: Receipt, unconfirmed: list[str]) -> None:
    say(f"erased from {count(len(receipt.events), 'event')} and {count(len(receipt.files), 'file')}")
    say(f"receipt: redactions.jsonl, number {receipt.n}")
    if unconfirmed:
        say(f"not confirmed yet, erased at their next sync: {', '.join(map(one_line, unconfirmed))}")
    say("out of reach, and yours to clean:")
    for place in receipt.left:
        say(f"  {one_line(place)}")
    say(f"  {_BEYOND}")
    say("if it was a secret, change it now: whoever has seen it still has it")


def _as_dict(receipt: Receipt) -> dict[str, object]:
    return {
        "number": receipt.n,
        "events": [erased.id for erased in receipt.events],
        "files": receipt.files,
        "bytes": receipt.bytes,
        "left": receipt.left,
    }
