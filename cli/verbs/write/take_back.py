"""`eventlog forget`."""

import sys
from collections.abc import Callable, Sequence

import click
from msgspec.structs import replace

from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.rebuild import RebuildResult
from eventlog.app.write.forget import Forgettable, forget, forgettable, forgettable_session
from eventlog.app.write.restore import restorable
from eventlog.app.write.undo import Undoable, undo, undoable
from eventlog.cli import options, suggestions
from eventlog.cli.progress import spinner
from eventlog.cli.show import changes
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe, gist, kind_of, show_events
from eventlog.cli.terminal import count, emit_pretty, is_terminal, say
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
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
@click.option(
    "--session",
    metavar="ID|last",
    callback=options.session_meant,
    shell_complete=suggestions.sessions,
    help="All that this session said.",
)
@options.yes
@options.as_json
@options.store
def forget_command(what: str | None, session: str | None, yes: bool, as_json: bool, store: Store) -> None:
    """Keep something from being said, by whomever, until you take that back.

    Shows every event behind it and asks. What says the same is left out of every file and context, now and when an
    agent says it again. The log keeps it all.
    """
    if (what is None) == (session is None):
        raise click.UsageError("say what: FILE:LINE, ID or TEXT, or --session")
    opened, shown = options.open_store(store), Display(store)
    with spinner():
        found = [forgettable_session(opened, session)] if session else forgettable(opened, what or "")
    if not as_json:
        show_forgettable(found, shown)
    if confirm("Forget this?", yes=yes):
        done = forget(opened, found)
        emit_pretty(outcome_as_dict(*done)) if as_json else print_outcome(*done, "forgotten", shown.short)


@click.command(epilog=options.examples("eventlog undo", "eventlog undo 8d21c0 --yes"))
@click.argument("name", metavar="[ID]", required=False, default="", shell_complete=suggestions.events)
@options.yes
@options.as_json
@options.store
def undo_command(name: str, yes: bool, as_json: bool, store: Store) -> None:
    """Take back the last thing a person or an entry did, or the one of that id.

    An entry that was applied (the text it replaced comes back), a forgetting, a decision about an entry, an edit by
    hand, a restored file. Shows it and asks. Given again it takes back the one before; what was taken back is taken
    back by its own id.
    """
    opened, shown = options.open_store(store), Display(store)
    with spinner():
        found = undoable(opened, name)
    if not as_json:
        show_undoable(found, shown)
    if confirm("Take this back?", yes=yes):
        done = undo(opened, found)
        emit_pretty(outcome_as_dict(*done)) if as_json else print_outcome(*done, "taken back", shown.short)


@click.command(
    epilog=options.examples("eventlog restore MEMORY.md --as-of yesterday", "eventlog restore user --as-of 2026-02-20")
)
@click.argument("file")
@click.option("--as-of", type=options.TimeParam(end=True), required=True, help="When it was as you want it.")
@options.yes
@options.as_json
@options.store
def restore_command(file: str, as_of: str, yes: bool, as_json: bool, store: Store) -> None:
    """Make a MEMORY.md or a knowledge base what it was: what changed it since is taken back, each by an event.

    What you have forgotten since stays forgotten. Shows all of that and asks; `eventlog undo` takes it back whole.
    `eventlog diff --from TIME FILE` shows what would be another.
    """
    opened, shown = options.open_store(store), Display(store)
    with spinner():
        found = restorable(opened, file, as_of)
    if not as_json:
        show_undoable(found, shown)
    if confirm("Take all of this back?", yes=yes):
        done = undo(opened, found)
        emit_pretty(outcome_as_dict(*done)) if as_json else print_outcome(*done, "restored", shown.short)


_FILES = 5


def show_forgettable(found: Sequence[Forgettable], shown: Display) -> None:
    """Print what is to be forgotten, and every event behind it."""
    for one in found:
        say(one.text)
        sessions = {entry.event.conversation_id for entry in one.behind}
        say(f"said by {count(len(one.behind), 'event')} of {count(len(sessions), 'session')}:")
        show_events(one.behind, shown)


def show_undoable(found: Undoable, shown: Display) -> None:
    """Print what is to be taken back."""
    if shown.is_for_people:
        say(f"{found.what} · {shown.moment(found.told.ts)} · {shown.id(found.told.id)}")
        for event in found.targets:
            say(f"  {kind_of(event)}  {gist(shown.worded(event))}")
        for event in found.staying:
            say(f"stays forgotten: {gist(shown.worded(event))}; wanted again: eventlog undo {shown.id(event.id)}")
        return
    say(f"{found.what}, {shown.when(found.told.ts)}  [{shown.short(found.told.id)}]")
    for event in found.targets:
        say(f"  {event.type}  {describe(shown.worded(event))}")
    for event in found.staying:
        say(f"stays forgotten: {describe(shown.worded(event))}; wanted again: eventlog undo {shown.short(event.id)}")


def confirm(question: str, *, yes: bool) -> bool:
    """Ask a person; where nobody can answer, `--yes` must have."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise BadRequest("nobody is here to be asked", hint="--yes does it; nothing was changed")
    return click.confirm(question)


def print_outcome(events: Sequence[Event], rebuilt: RebuildResult, verb: str, short: Callable[[str], str]) -> None:
    """Print what was changed, and how to undo it."""
    changes.print_applied(_only_what_is_new(rebuilt.applied), short)
    order = _memories_first if is_terminal() else None
    files = [path for path, _, _ in rebuilt.applied.files]
    files += sorted([*rebuilt.published.written, *rebuilt.published.removed], key=order)
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    listed = f"{count(len(files), 'file')} changed: {', '.join(files[:_FILES])}{more}" if files else "no file changed"
    say(f"{verb}; {listed}")
    say(f"undo: eventlog undo {short(events[0].id)}")


def _memories_first(path: str) -> tuple[bool, str]:
    return not path.endswith("MEMORY.md"), path


def _only_what_is_new(applied: ApplyResult) -> ApplyResult:
    """Leave out what waited before, and how to take back what was just decided."""
    return replace(applied, staged=[], applied=[change._replace(replaced=()) for change in applied.applied])


def outcome_as_dict(events: Sequence[Event], rebuilt: RebuildResult) -> dict[str, object]:
    """Make the JSON of what was decided, and of the files it changed."""
    return {
        "status": "ok",
        "events": [to_fields(event) for event in events],
        "written": rebuilt.published.written,
        "removed": rebuilt.published.removed,
        "knowledge_bases": changes.applied_as_dict(rebuilt.applied),
    }
