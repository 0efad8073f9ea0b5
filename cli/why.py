"""`eventlog why`."""

import re
from pathlib import Path

import click

from eventlog.cli import options
from eventlog.cli.describe import describe
from eventlog.cli.output import emit, say, table
from eventlog.codec import to_fields
from eventlog.days import Entry
from eventlog.projections.provenance import Explained, explain
from eventlog.store import Store
from eventlog.text import cut

_SHOWN = 5  # events per line where the whole file is asked for
_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?")


@click.command(
    epilog=options.examples(
        "eventlog why MEMORY.md",
        "eventlog why ~/.eventlog/knowledge/projects/toolkit-843ba2/MEMORY.md:7",
        "eventlog why sessions.jsonl:1 --json",
    )
)
@click.argument("place", metavar="FILE[:LINE]")
@options.as_json
@options.store
def command(place: str, as_json: bool, store: Store) -> None:
    """Show the events behind each line of a knowledge file, or behind one line.

    FILE may lie anywhere replay has written it; a bare name is looked for in the store's knowledge directory.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError(f"{place!r} is not FILE or FILE:LINE")
    number = int(match["line"]) if match["line"] else None
    opened = options.open_store(store)
    explained = explain(opened.log, opened.settings, _find(match["file"], store), number)
    for line in explained:
        if as_json:
            emit({"line": line.number, "text": line.text, "events": _as_dicts(line)})
        elif number is None and not line.text.strip():
            continue
        else:
            _tell(line, limit=_SHOWN if number is None else None)


def _find(name: str, store: Store) -> Path:
    given = Path(name).expanduser()
    known = Path(store.knowledge) / name
    return known if known.is_file() and not given.is_file() else given


def _as_dicts(line: Explained) -> list[dict[str, object]]:
    return [to_fields(entry.event) for entry in line.entries or ()]


def _tell(line: Explained, limit: int | None) -> None:
    say(f"{line.number}: {cut(line.text, 100)}")
    if line.entries is None:
        say("    not from the log: written by hand, or by another version")
        return
    table(map(_row, line.entries[:limit]), when=16, type=0, agent=0, session=8, id=13, what=200)
    if limit and len(line.entries) > limit:
        say(f"    and {len(line.entries) - limit} more: eventlog why …:{line.number}")


def _row(entry: Entry) -> tuple[str, ...]:
    event = entry.event
    return (
        event.ts.replace("T", " "),
        event.type,
        event.agent or "",
        event.conversation_id,
        event.id,
        describe(event),
    )
