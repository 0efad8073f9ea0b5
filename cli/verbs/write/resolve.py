"""Decide about staged plan entries: `eventlog resolve`."""

from collections.abc import Sequence
from contextlib import suppress

import click

from eventlog.app.build.staging import StagedEntry
from eventlog.app.naming.references import ShortIds
from eventlog.app.open_store import OpenStore
from eventlog.app.write.resolve import Choice, decide, pick, waiting, ways_out
from eventlog.cli import EXIT_FOUND, options, suggestions
from eventlog.cli.show.changes import print_applied, show_waiting
from eventlog.cli.terminal import count, edited, emit, is_terminal, print_error, say
from eventlog.format.errors import EventLogError
from eventlog.projections.bases.sections import Ambiguous
from eventlog.store import Store


@options.verb(
    "eventlog resolve",
    "eventlog resolve 8d21c0 --apply",
    "eventlog resolve last --discard",
    'eventlog resolve 8d21c0 --apply --under "Frontend"',
    "eventlog resolve 20260221-083544-019c7f6a-….yaml --edit",
)
@click.argument("name", metavar="[ID|last|FILE]", default="", shell_complete=suggestions.staged)
@options.exclusive_flags(
    "choice",
    ("--apply", "apply", "Write the staged text."),
    ("--discard", "discard", "Discard the entry."),
    ("--edit", "edited", "Edit the text in $EDITOR, and write it."),
)
@click.option(
    "--under",
    multiple=True,
    metavar="HEADING",
    help="Choose among sections with the same heading: a heading above it; repeatable, '' for none.",
)
def _resolve_command(name: str, choice: Choice | None, under: tuple[str, ...], as_json: bool, store: Store) -> int:
    """Show staged plan entries as differences to their files, or decide about an entry.

    ID is the short id shown or the beginning of an id, `last` the newest entry, FILE a name in `staging/`; a single
    staged entry needs none. Records every decision as an event. Exits with 1 if the entry still waits.
    """
    opened = options.open_store(store)
    found, short = waiting(opened, name), ShortIds(store).of
    if choice is None and (found or not name):
        _show(found, opened, as_json=as_json)
        return 0
    staged = pick(found, name)
    if choice is None:
        raise click.UsageError("choose one of --apply, --discard or --edit")
    if under and choice == "discard":
        raise click.UsageError("--discard takes no --under: it writes nothing")
    content = edited(staged.read(store).content or "") if choice == "edited" else None
    try:
        decided = decide(opened, staged, choice, content, tuple(filter(None, under)) if under else None)
    except Ambiguous as error:
        print_error(f"{staged.section} still waits: {error.what}", error.hint)
        return EXIT_FOUND
    event = decided.event
    if as_json:
        emit({"status": "ok", "id": event.id, "choice": event.choice, "target": staged.entry.id}, pretty=True)
    else:
        if not (is_terminal() and decided.applied.applied):  # it prints the same
            say(f"{event.choice:<10} {staged.section}  [{short(event.id)}]")
            if is_terminal():
                say(f"{'':<10} to undo: eventlog undo {short(event.id)}")
        print_applied(decided.applied, short)
    still = [other.reason for other in decided.applied.staged if other.entry.id == staged.entry.id]
    if still:
        print_error(f"{staged.section} still waits: {still[0]}", f"eventlog resolve {short(staged.entry.id)} --discard")
    return EXIT_FOUND if still else 0


def _show(found: Sequence[StagedEntry], opened: OpenStore, *, as_json: bool) -> None:
    if as_json:
        emit([staged.as_fields() | {"content": staged.entry.content} for staged in found], pretty=True)
        return
    short = ShortIds(opened.store).of
    for staged in found:
        say(f"{short(staged.entry.id)}  {staged.section}")
        say(f"  {staged.reason}")
        with suppress(EventLogError):  # `show_waiting` reports it
            for under in ways_out(opened, staged):
                say(f"  eventlog resolve {short(staged.entry.id)} --apply {under}")
        show_waiting(opened, staged)
    total = count(len(found), "entry waits", "entries wait") if found else "nothing waits"
    if found and is_terminal():
        name = short(found[0].entry.id) if len(found) == 1 else "ID"
        total += f": eventlog resolve {name} with --apply, --discard or --edit"
    say(total)
