"""Reports of what is forgotten or taken back, with the question before it."""

import sys
from collections.abc import Callable, Sequence

import click
from msgspec.structs import replace

from eventlog.app.build.managed_file import ApplyResult
from eventlog.app.build.rebuild import RebuildResult
from eventlog.app.write.forget import Forgettable
from eventlog.app.write.undo import Undoable
from eventlog.cli.output import count, is_terminal, say
from eventlog.cli.show import apply
from eventlog.cli.show.describe import describe, gist, kind_of
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import show_events
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event

_FILES = 5


def show_forgettable(found: Sequence[Forgettable], shown: Shown) -> None:
    """Print what is to be forgotten, and every event behind it."""
    for one in found:
        say(one.text)
        sessions = {entry.event.conversation_id for entry in one.behind}
        say(f"said by {count(len(one.behind), 'event')} of {count(len(sessions), 'session')}:")
        show_events(one.behind, shown)


def show_undoable(found: Undoable, shown: Shown) -> None:
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


def ask(question: str, *, yes: bool) -> bool:
    """Ask a person; where nobody can answer, `--yes` must have."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise BadRequest("nobody is here to be asked", hint="--yes does it; nothing was changed")
    return click.confirm(question)


def tell(events: Sequence[Event], rebuilt: RebuildResult, verb: str, short: Callable[[str], str]) -> None:
    """Print what was changed, and how to undo it."""
    apply.tell(_only_what_is_new(rebuilt.applied), short)
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


def as_dict(events: Sequence[Event], rebuilt: RebuildResult) -> dict[str, object]:
    """Make the JSON of what was decided, and of the files it changed."""
    return {
        "status": "ok",
        "events": [to_fields(event) for event in events],
        "written": rebuilt.published.written,
        "removed": rebuilt.published.removed,
        "knowledge_bases": apply.as_dict(rebuilt.applied),
    }
