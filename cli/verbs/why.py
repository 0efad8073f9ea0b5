"""`eventlog why`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from eventlog.app.ask.why import LineReason, explain, known_file
from eventlog.app.naming.file_lines import file_line
from eventlog.cli import options, suggestions
from eventlog.cli.output import complain, count, emit, say, show_lines
from eventlog.cli.progress import looking
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import show_events
from eventlog.cli.show.why import UNKNOWN, heading_above, one_line, whole_file
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import KnownFile
from eventlog.format.text import cut
from eventlog.log.log_line import LogLine
from eventlog.store import Store

if TYPE_CHECKING:
    from eventlog.app.ask.receipt import ReceiptSources

_SHOWN = 5  # events per line where the whole file is asked for


@click.command(
    epilog=options.examples(
        "eventlog why MEMORY.md",
        "eventlog why ~/.eventlog/knowledge/projects/toolkit-843ba2/MEMORY.md:7",
        "eventlog why sessions.jsonl:1 --json",
        "eventlog why --session $ID",
        'eventlog why --not "port 8443"',
        'eventlog why --not "port 8443" --session last',
    )
)
@click.argument("place", metavar="[FILE[:LINE]]", required=False)
@click.option(
    "--session",
    metavar="ID|last",
    callback=options.session_meant,
    shell_complete=suggestions.sessions,
    help="Instead of a file: what this session was given, and when; with --not, why it was not told something.",
)
@click.option("--not", "text", metavar="TEXT", help="Instead of a file: why this is not in a memory.")
@options.as_json
@options.store
def command(place: str | None, session: str | None, text: str | None, as_json: bool, store: Store) -> None:
    """Show the events behind each line of a knowledge file, behind one line, or behind what a session knew.

    With --not, why something is not there: withdrawn or rejected by whom, replaced, a repetition, no room, a helper's;
    with --not and --session, why that session was not told: others listened, it was said later, of another project.

    FILE may lie anywhere replay has written it, or be a knowledge base; a bare name is looked for in the store's
    knowledge directory.
    """
    if (place is None) == (session is None and text is None):
        raise click.UsageError("give a file, --session or --not")
    if text is not None:
        _of_absence(text, session, store, as_json=as_json)
    elif session is not None:
        _of_session(session, store, as_json=as_json)
    else:
        _of_file(place or "", store, as_json=as_json)


def _of_absence(text: str, session: str | None, store: Store, *, as_json: bool) -> None:
    from eventlog.app.ask.why_not import why_not  # what is asked of a file needs none of it
    from eventlog.app.ask.why_not_told import why_not_told
    from eventlog.cli.show.why_not import show_absence

    opened = options.open_store(store)
    with looking():
        absences = why_not(opened, text) if session is None else why_not_told(opened, text, session)
    for found in absences:
        show_absence(found, Shown(store), as_json=as_json)


def _of_session(session: str, store: Store, *, as_json: bool) -> None:
    from eventlog.app.ask.receipt import receipts_of  # brings all of a session's start along

    opened = options.open_store(store)
    with looking():
        receipts = receipts_of(opened.log, opened.settings, session)
    if not receipts:
        raise BadRequest(
            f"{session!r} was given nothing",
            hint="only starts answered by a hook, or told by `eventlog context --session`, are known",
        )
    shown = Shown(store)
    for given in receipts:
        if as_json:
            emit({"receipt": to_fields(given.receipt), "events": _fields(given.entries), "files": _files(given)})
        else:
            _tell_of_start(given, shown)


def _tell_of_start(given: "ReceiptSources", shown: Shown) -> None:
    from eventlog.cli.show.start import how_told, start_lines

    if shown.is_for_people:
        show_lines(start_lines(given, shown))
        return
    receipt = given.receipt
    cut = "".join(f", cut: {name}" for name in receipt.cut)
    say(f"{receipt.ts}: {how_told(receipt)}, {count(receipt.chars, 'character')}{cut}")
    show_events(given.entries, shown)
    for file in receipt.files:
        _tell_of(file, given.files[file.path], shown)


def _tell_of(file: KnownFile, entries: list[LogLine] | None, shown: Shown) -> None:
    say(f"{file.path}: {f'as of {file.as_of}' if file.as_of else f'sha256 {file.digest[:12]}, not from the log'}")
    show_events((entries or [])[:_SHOWN], shown)
    if entries and len(entries) > _SHOWN:
        say(f"    and {len(entries) - _SHOWN} more: --json shows all")


def _files(given: "ReceiptSources") -> list[dict[str, object]]:
    return [
        {"path": file.path, "digest": file.digest, "as_of": file.as_of, "events": _fields(given.files[file.path] or [])}
        for file in given.receipt.files
    ]


def _of_file(place: str, store: Store, *, as_json: bool) -> None:
    name, number = file_line(place)
    opened, shown = options.open_store(store), Shown(store)
    file = known_file(opened, name)
    explained = explain(opened, file, number)
    if not explained:
        complain(f"{place} is empty: nothing is behind it", "eventlog diff tells what it said before")
    elif as_json:
        for line in explained:
            rejected = {"rejected": _fields(line.rejected)} if line.rejected else {}
            emit({"line": line.number, "text": line.text, "events": _fields(line.entries or []), **rejected})
    elif not shown.is_for_people:
        for line in explained:
            if number is not None or line.text.strip():
                _print(line, _SHOWN if number is None else None, shown)
    elif number is None:
        show_lines(whole_file(place, explained, shown))
    else:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        heading = heading_above(lines, number)
        show_lines(one_line(place, explained[0], heading, shown))


def _fields(entries: Sequence[LogLine]) -> list[dict[str, object]]:
    return [to_fields(entry.event) for entry in entries]


def _print(line: LineReason, limit: int | None, shown: Shown) -> None:
    """Print a line to a program, and its events, of which there may be many, up to a limit."""
    say(f"{line.number}: {cut(line.text, 100)}")
    for decision in line.rejected:
        say(f"    a person does not want it said: eventlog undo {shown.short(decision.event.id)}")
    if line.entries is None:
        say(f"    {UNKNOWN}")
        return
    show_events(line.entries[:limit], shown)
    if limit and len(line.entries) > limit:
        say(f"    and {len(line.entries) - limit} more: eventlog why …:{line.number}")
