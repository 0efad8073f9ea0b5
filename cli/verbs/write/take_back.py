"""Forget, undo and restore: verbs that change what holds, and can be undone themselves."""

from collections.abc import Callable, Sequence

import click
from msgspec.structs import replace

from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.rebuild import RebuildResult
from eventlog.app.write.forget import Forgettable, forget, forgettable, forgettable_session
from eventlog.app.write.undo import Undoable, restorable, undo, undoable
from eventlog.cli import options, suggestions
from eventlog.cli.progress import spinner
from eventlog.cli.show import changes
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe, gist, kind_of, show_events
from eventlog.cli.terminal import confirm, count, emit_pretty, is_terminal, say
from eventlog.format.codec import to_fields
from eventlog.format.events import Event
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog forget MEMORY.md:5",
        'eventlog forget "The API listens on port 8443"',
        "eventlog forget --session 8d21c0 --yes",
    )
)
@click.argument("what", metavar="[FILE:LINE|ID|TEXT]", required=False, shell_complete=suggestions.events)
@options.session_to("Forget everything this session recorded.")
@options.yes
@options.as_json
@options.store
def _forget_command(what: str | None, session: str | None, yes: bool, as_json: bool, store: Store) -> None:
    """Forget a statement everywhere, until you undo it.

    Shows every event with this statement and asks. Leaves it out of every file and context, in any wording, also when
    an agent records it again. The log keeps all events.
    """
    if (what is None) == (session is None):
        raise click.UsageError("give FILE:LINE, ID, TEXT or --session")
    opened, display = options.open_store(store), Display(store)
    with spinner():
        found = [forgettable_session(opened, session)] if session else forgettable(opened, what or "")
    if not as_json:
        _show_forgettable(found, display)
        if any(one.looks_secret for one in found):
            say("it looks like a secret: forgetting leaves it in the log; eventlog redact erases it there, too")
    if confirm("Forget this?", yes=yes):
        done = forget(opened, found)
        emit_pretty(_outcome_as_dict(*done)) if as_json else _print_outcome(*done, "forgotten", display.short)


@click.command(epilog=options.examples("eventlog undo", "eventlog undo 8d21c0 --yes"))
@click.argument("name", metavar="[ID]", required=False, default="", shell_complete=suggestions.events)
@options.yes
@options.as_json
@options.store
def _undo_command(name: str, yes: bool, as_json: bool, store: Store) -> None:
    """Undo the last change by a person or a plan entry, or the change with this id.

    Undoes an applied entry (its replaced text returns), a `forget`, a decision about an entry, an edit by hand, or a
    restored file. Shows the change and asks. Run again, it undoes the change before; to redo, pass the id of the undo.
    """
    opened, display = options.open_store(store), Display(store)
    with spinner():
        found = undoable(opened, name)
    if not as_json:
        _show_undoable(found, display)
    if confirm("Undo this?", yes=yes):
        done = undo(opened, found)
        emit_pretty(_outcome_as_dict(*done)) if as_json else _print_outcome(*done, "undone", display.short)


@click.command(
    epilog=options.examples("eventlog restore MEMORY.md --as-of yesterday", "eventlog restore user --as-of 2026-02-20")
)
@click.argument("file")
@click.option("--as-of", type=options.TimeParam(end=True), required=True, help="Time of the wanted state.")
@options.yes
@options.as_json
@options.store
def _restore_command(file: str, as_of: str, yes: bool, as_json: bool, store: Store) -> None:
    """Restore a MEMORY.md or a knowledge base as of a past time, by an event for each later change.

    Forgotten statements stay forgotten. Shows all changes and asks; `eventlog undo` undoes them together.
    `eventlog diff --from TIME FILE` shows the difference.
    """
    opened, display = options.open_store(store), Display(store)
    with spinner():
        found = restorable(opened, file, as_of)
    if not as_json:
        _show_undoable(found, display)
    if confirm("Undo all of this?", yes=yes):
        done = undo(opened, found)
        emit_pretty(_outcome_as_dict(*done)) if as_json else _print_outcome(*done, "restored", display.short)


_FILES = 5


def _show_forgettable(found: Sequence[Forgettable], display: Display) -> None:
    """Print the statements to forget, and every event behind them."""
    for statement in found:
        say(statement.text)
        sessions = {entry.event.conversation_id for entry in statement.behind}
        say(f"said by {count(len(statement.behind), 'event')} of {count(len(sessions), 'session')}:")
        show_events(statement.behind, display)


def _show_undoable(found: Undoable, display: Display) -> None:
    """Print the changes to undo."""
    if display.is_for_people:
        say(f"{found.what} · {display.moment(found.told.ts)} · {display.id(found.told.id)}")
        for event in found.targets:
            say(f"  {kind_of(event)}  {gist(display.worded(event))}")
        for event in found.staying:
            say(f"stays forgotten: {gist(display.worded(event))}; to allow it: eventlog undo {display.id(event.id)}")
        return
    say(f"{found.what}, {display.when(found.told.ts)}  [{display.short(found.told.id)}]")
    for event in found.targets:
        say(f"  {event.type}  {describe(display.worded(event))}")
    for event in found.staying:
        say(f"stays forgotten: {describe(display.worded(event))}; to allow it: eventlog undo {display.short(event.id)}")


def _print_outcome(events: Sequence[Event], rebuilt: RebuildResult, verb: str, short: Callable[[str], str]) -> None:
    """Print the changed files, and the command to undo the change."""
    changes.print_applied(_without_staged(rebuilt.applied), short)
    order = (lambda path: (not path.endswith("MEMORY.md"), path)) if is_terminal() else None
    files = [path for path, _, _ in rebuilt.applied.files]
    files += sorted([*rebuilt.published.written, *rebuilt.published.removed], key=order)
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    listed = f"{count(len(files), 'file')} changed: {', '.join(files[:_FILES])}{more}" if files else "no file changed"
    say(f"{verb}; {listed}")
    say(f"undo: eventlog undo {short(events[0].id)}")


def _without_staged(applied: ApplyResult) -> ApplyResult:
    """Drop staged entries, and the undo commands of this change."""
    return replace(applied, staged=[], applied=[change._replace(replaced=()) for change in applied.applied])


def _outcome_as_dict(events: Sequence[Event], rebuilt: RebuildResult) -> dict[str, object]:
    """Build the JSON of the new events, and of the files they changed."""
    return {
        "status": "ok",
        "events": [to_fields(event) for event in events],
        "written": rebuilt.published.written,
        "removed": rebuilt.published.removed,
        "knowledge_bases": changes.applied_as_dict(rebuilt.applied),
    }
