"""Compare knowledge files between two times: `eventlog diff`, `eventlog bisect`."""

from collections.abc import Iterator

import click

from eventlog.app.ask.history import TurningPoint, bisect, diff
from eventlog.cli import options
from eventlog.cli.progress import phase
from eventlog.cli.show.changes import show_changes
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe, gist
from eventlog.cli.terminal import count, emit, hang, print_lines, say, styled
from eventlog.format.codec import to_fields
from eventlog.format.text import one_line
from eventlog.store import Store

_INDEX = "INDEX.md"  # says nothing that no other file says


@options.verb(
    "eventlog diff", "eventlog diff --since monday MEMORY.md", "eventlog diff --from 2026-02-20 --to 2026-02-21"
)
@click.argument("file", required=False)
@click.option(
    "--from",
    "since",
    type=options.TimeParam(end=True),
    default="1d",
    show_default=True,
    help="Start of the comparison.",
)
@click.option("--since", "begun", type=options.TimeParam(end=False), help="Likewise; a day means its beginning.")
@click.option(
    "--to", "until", type=options.TimeParam(end=True), default="now", show_default=True, help="End of the comparison."
)
def _diff_command(file: str | None, since: str, begun: str | None, until: str, as_json: bool, store: Store) -> None:
    """Show how the knowledge files changed between two times; a day means its end, with --since its beginning.

    FILE is a knowledge file or a knowledge base; INDEX.md files are left out unless you name one. Compares what the log
    renders, not the files on disk. `eventlog week` shows the same in short.
    """
    if begun and options.is_given("since"):
        raise click.UsageError("give --from or --since, not both")
    with phase("comparing two times"):
        found = diff(options.open_store(store), begun or since, until, file)
    found = found if file else [change for change in found if not change.path.endswith(_INDEX)]
    show_changes(found, "nothing changed in that time; eventlog diff --from 30d looks further back", as_json=as_json)


@options.verb('eventlog bisect MEMORY.md "port 8443"', "eventlog bisect sessions.jsonl JWT --json")
@click.argument("file")
@click.argument("text")
def _bisect_command(file: str, text: str, as_json: bool, store: Store) -> None:
    """Find the event that added a text to a knowledge file, or that removed it."""
    with phase():
        found = bisect(options.open_store(store), file, text)
    _show_turn(found, text, Display(store), as_json=as_json)


def _show_turn(found: TurningPoint, text: str, display: Display, *, as_json: bool) -> None:
    """Print the event that added or removed a text."""
    event = found.entry.event
    if as_json:
        found_by = {"path": found.path, "came": found.came, "replays": found.replays}
        emit(found_by | {"event": to_fields(event)}, pretty=True)
    elif display.is_for_people:
        print_lines(_turn_lines(found, text, display))
    else:
        what = "added" if found.came else "removed"
        say(f"{found.path}: {text!r} was {what} by {event.id}")
        say(f"  {display.when(event.ts)}  {event.agent or ''}  {event.type}  {describe(display.worded(event))}")


def _turn_lines(found: TurningPoint, text: str, display: Display) -> Iterator[str]:
    event = found.entry.event
    yield styled(one_line(found.path), bold=True)
    yield from hang("  ", one_line(text))
    yield ""
    yield f"{'added' if found.came else 'removed'} by one event, found with {count(found.replays, 'replay')}"
    head = f"{display.moment(event.ts)}  {display.who(event) or 'unknown'}  {display.kind(event)}"
    yield from hang(f"  {styled(display.id(event.id), fg='cyan')}  {head}  ", one_line(gist(display.worded(event))))
