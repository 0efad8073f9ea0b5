"""Forget, edit, move, undo and restore: verbs that change what holds, and can be undone themselves."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click
from msgspec.structs import replace

from eventlog.app.build.rebuild import RebuildResult
from eventlog.app.open_store import OpenStore
from eventlog.app.write.correct import correctable, edit, movable, move
from eventlog.app.write.forget import Forgettable, forget, forgettable
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.app.write.undo import Undoable, restorable, undo, undoable
from eventlog.cli import options, suggestions
from eventlog.cli.progress import phase
from eventlog.cli.show import changes
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe, gist, kind_of
from eventlog.cli.terminal import confirm, count, edited, emit, is_terminal, say, show_lines, table
from eventlog.format.codec import to_fields
from eventlog.format.events import HUMAN, EntryResolved, Event, Rejected, Restored, Retraction
from eventlog.format.text import one_line, project_name
from eventlog.format.timestamps import order
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.store import Store


def _project_or_user(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Find the project that is meant; "" for the user."""
    return "" if value == "user" else options.project_meant(ctx, param, value) or ""


@options.verb(
    "eventlog forget MEMORY.md:5",
    'eventlog forget "The API listens on port 8443"',
    "eventlog forget --matching TICKET- --all",
    "eventlog forget --session 8d21c0 --yes",
)
@click.argument("what", metavar="[FILE:LINE|ID|TEXT]", required=False, shell_complete=suggestions.events)
@options.session_to("Forget everything this session recorded.")
@click.option("--matching", metavar="TEXT", help="List every statement with this text in it; with --all, forget them.")
@click.option("--all", "every", is_flag=True, help="With --matching: forget all of them, with one question.")
def _forget_command(
    what: str | None, session: str | None, matching: str | None, every: bool, yes: bool, as_json: bool, store: Store
) -> None:
    """Forget a statement everywhere, until you undo it.

    Shows who said it and asks. Leaves it out of every file and context, in any wording, also when an agent records it
    again. The log keeps all events. One undo brings back all that was forgotten together.
    """
    if [what, session, matching].count(None) != 2:  # noqa: PLR2004 - one of three is given
        raise click.UsageError("give FILE:LINE, ID, TEXT, --matching or --session")
    if every and not matching:
        raise click.UsageError("--all goes with --matching")
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = forgettable(opened, what or "", session=session, matching=matching or None)
    if matching and not every:
        _list_matching(matching, found, as_json=as_json)
        return
    if not as_json:
        _show_forgettable(found, display)
        if any(item.looks_secret for item in found):
            say("it looks like a secret: forgetting leaves it in the log; eventlog redact erases it there, too")
    if confirm(f"Forget all {len(found)}?" if len(found) > 1 else "Forget this?", yes=yes):
        _report(forget(opened, found), "forgotten", display, as_json=as_json)


@options.verb("eventlog edit MEMORY.md:5", 'eventlog edit MEMORY.md:5 --content "The API listens on port 9443"')
@click.argument("what", metavar="FILE:LINE|ID|TEXT", shell_complete=suggestions.events)
@click.option("--content", metavar="TEXT", help="The new wording [default: opens $EDITOR with the old one].")
def _edit_command(what: str, content: str | None, yes: bool, as_json: bool, store: Store) -> None:
    """Replace the wording of a fact or decision: it keeps its heading, and is yours from now on.

    What an agent's command replaces is that agent's. The old wording leaves every file and context; `eventlog why`
    shows it behind the new line. A section of a knowledge base is edited in its file.
    """
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = correctable(opened, what)
    wording = edited(f"{found.text}\n") if content is None else content
    if not as_json:
        _show_statement(found.text, found.behind, display)
        if wording:
            say(f"new wording: {one_line(wording)}")
    if content is None or _agreed("Replace it?", yes=yes):
        _report(edit(opened, found, wording, _speaker(opened)), "replaced", display, as_json=as_json)


@options.verb("eventlog move MEMORY.md:5 shop", "eventlog move projects/shop/MEMORY.md:7 user")
@click.argument("what", metavar="FILE:LINE|ID|TEXT", shell_complete=suggestions.events)
@click.argument("project", metavar="PROJECT|user", shell_complete=suggestions.projects, callback=_project_or_user)
def _move_command(what: str, project: str, yes: bool, as_json: bool, store: Store) -> None:
    """Move a fact or decision into the memory of another project, or into yours.

    It is said there by you, or by the agent that runs this; `eventlog why` shows who had said it before, and where.
    """
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = movable(opened, what, project or None)
    if not as_json:
        _show_statement(found.text, found.behind, display)
    if _agreed(f"Move it to {project_name(project) or 'your memory'}?", yes=yes):
        _report(move(opened, found, project or None, _speaker(opened)), "moved", display, as_json=as_json)


def _speaker(opened: OpenStore) -> dict[str, Any]:
    """Name the person, unless an agent runs this."""
    return speaker_of(opened.log, SpeakerOptions(None, None, HUMAN, None), opened.machine)


@options.verb("eventlog undo", "eventlog undo 8d21c0 --yes")
@click.argument("name", metavar="[ID]", default="", shell_complete=suggestions.events)
def _undo_command(name: str, yes: bool, as_json: bool, store: Store) -> None:
    """Undo the last change by a person or a plan entry, or the change with this id.

    Undoes an applied entry (its replaced text returns), a `forget`, a decision about an entry, what you saved or edited
    by hand, or a restored file. Shows the change and asks. Run again, it undoes the change before; to redo, pass the id
    of the undo.
    """
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = undoable(opened, name)
    if not as_json:
        _show_undoable(found, display, opened.log)
    if confirm("Undo this?", yes=yes):
        _report(undo(opened, found), "undone", display, as_json=as_json)


@options.verb("eventlog restore MEMORY.md --as-of yesterday", "eventlog restore user --as-of 2026-02-20")
@click.argument("file")
@click.option("--as-of", type=options.TimeParam(end=True), required=True, help="Time of the wanted state.")
def _restore_command(file: str, as_of: str, yes: bool, as_json: bool, store: Store) -> None:
    """Restore a MEMORY.md or a knowledge base as of a past time, by an event for each later change.

    Forgotten statements stay forgotten. Shows all changes and asks; `eventlog undo` undoes them together.
    `eventlog diff --from TIME FILE` shows the difference.
    """
    opened, display = options.open_store(store), Display(store)
    with phase():
        found = restorable(opened, file, as_of)
    if not as_json:
        _show_undoable(found, display, opened.log)
    if confirm("Undo all of this?", yes=yes):
        _report(undo(opened, found), "restored", display, as_json=as_json)


_FILES = 5
_IN_FULL, _SAYINGS = 3, 5  # statements with those who said them, and how many of these


def _show_forgettable(found: Sequence[Forgettable], display: Display) -> None:
    """Print the statements to forget, each once, with its speakers."""
    if len(found) > _IN_FULL:
        table(map(_counted, found), times=0, statement=0)
        return
    for statement in found:
        _show_statement(statement.text, statement.behind, display)


def _counted(statement: Forgettable) -> tuple[str, str]:
    return f"×{len(statement.behind)}", statement.text


def _list_matching(text: str, found: Sequence[Forgettable], *, as_json: bool) -> None:
    """Print the statements with a text in them, and the command that forgets them."""
    if as_json:
        emit([{"text": item.text, "events": [entry.event.id for entry in item.behind]} for item in found], pretty=True)
        return
    table(map(_counted, found), times=0, statement=0)
    if is_terminal():
        say(f"{count(len(found), 'statement')}; forget all: eventlog forget --matching {shlex.quote(text)} --all")


def _show_statement(text: str, behind: Sequence[LogLine], display: Display) -> None:
    """Print a statement once, with its first and last speakers."""
    say(text)
    sessions = {entry.event.conversation_id for entry in behind}
    say(f"said by {count(len(behind), 'event')} of {count(len(sessions), 'session')}:")
    some = behind if len(behind) <= _SAYINGS else [*behind[: _SAYINGS - 1], behind[-1]]
    shown = [entry.event for entry in some]
    if display.is_for_people:
        show_lines(display.sayings(shown, one_line(text)))
    else:
        display.show_events(shown)
    if len(shown) < len(behind):
        say(f"  and {len(behind) - len(shown)} more between them")


def _agreed(question: str, *, yes: bool) -> bool:
    """Ask on a terminal; a script needs no question, as it can undo."""
    return not sys.stdin.isatty() or confirm(question, yes=yes)


def _show_undoable(found: Undoable, display: Display, log: EventLog) -> None:
    """Print what would be taken back, each event in the words that it is about."""
    is_person, short = display.is_for_people, display.short
    head, words = ("{} · {} · {}", gist) if is_person else ("{}, {}  [{}]", describe)
    say(head.format(found.what, display.moment(found.event.ts), short(found.event.id)))
    for event, behind in zip(found.targets, display.all_worded(_behind(found.targets, log)), strict=True):
        choice = f"{event.choice} " if isinstance(event, EntryResolved) else ""
        say(f"  {kind_of(event) if is_person else event.type}  {choice}{words(behind)}")
    for event in found.staying:
        say(f"stays forgotten: {words(display.worded(event))}; to allow it: eventlog undo {short(event.id)}")


_About = EntryResolved | Rejected | Restored | Retraction  # what these did is said by the events they are about


def _behind(events: Sequence[Event], log: EventLog) -> list[Event]:
    """Find what describes each event: of a decision, a withdrawal or a return, what it is about in the end."""
    targets = {event.id: event.target for event in events if isinstance(event, _About) and event.target}
    found = log.find(targets.values())
    ends = [found[targets[event.id]].event if targets.get(event.id) in found else event for event in events]
    ends = [min(pair, key=order) for pair in zip(events, ends, strict=True)]  # no foreign log has it go in circles
    return _behind(ends, log) if ends != events else ends


def _report(done: tuple[Sequence[Event], RebuildResult], verb: str, display: Display, *, as_json: bool) -> None:
    """Print the new events and the changed files, and the command to undo the change."""
    events, rebuilt = done
    published, applied = rebuilt.published, rebuilt.applied
    if as_json:
        emit(
            {
                "status": "ok",
                "events": [to_fields(event) for event in events],
                "written": published.written,
                "removed": published.removed,
                "knowledge_bases": applied.as_fields(),
            },
            pretty=True,
        )
        return
    without_undo = [change._replace(replaced=()) for change in applied.applied]
    changes.print_applied(replace(applied, staged=[], applied=without_undo), display.short)
    order = (lambda path: (not path.endswith("MEMORY.md"), path)) if is_terminal() else None
    files = [path for path, _, _ in applied.files]
    files += sorted([*published.written, *published.removed], key=order)
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    listed = f"{count(len(files), 'file')} changed: {', '.join(files[:_FILES])}{more}" if files else "no file changed"
    say(f"{verb}; {listed}")
    say(f"undo: eventlog undo {display.short(events[0].id)}")
