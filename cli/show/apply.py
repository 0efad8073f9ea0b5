"""Reports of an apply, for people and for programs."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from eventlog.app.build.managed_file import ApplyResult, SectionChange
from eventlog.cli.output import count, say
from eventlog.format.text import cut

if TYPE_CHECKING:
    from eventlog.app.build.staging import StagedEntry

_SHOWN, _CHARS = 3, 60


def tell(done: ApplyResult, short: Callable[[str], str], *, dry_run: bool = False) -> None:
    """Print a line for every section, with its short id; diffs on a terminal, and for a dry run."""
    words = {"edited": done.edited, "would apply" if dry_run else "applied": done.applied}
    for word, changes in (words | {"nothing to delete": done.nothing}).items():
        for change in changes:
            say(f"{word:<10} {change.section}  [{short(change.event)}]")
            _tell_replaced(change, short, dry_run=dry_run)
    for staged in done.staged:
        say(f"{'staged':<10} {staged.section}  [{short(staged.entry.id)}] {staged.reason}")
    for file, reason in done.pending:
        say(f"{'pending':<10} {file}: {reason}")
    if dry_run or sys.stdout.isatty():
        for path, before, after in done.files:
            from eventlog.cli.show.diff import show_diff  # most replays change no file of a person's

            show_diff(path, before, after)


def _tell_replaced(change: SectionChange, short: Callable[[str], str], *, dry_run: bool) -> None:
    """Tell what text made way, and how to take that back."""
    if change.replaced:
        lines = "; ".join(cut(line.strip(), _CHARS) for line in change.replaced[:_SHOWN])
        more = f"; and {len(change.replaced) - _SHOWN} more" if len(change.replaced) > _SHOWN else ""
        told = count(len(change.replaced), "line")
        say(f"{'':<10} {'would replace' if dry_run else 'replaced'} {told}: {lines}{more}")
    if change.replaced and not dry_run:
        say(f"{'':<10} take it back: eventlog undo {short(change.event)}")


def as_dict(done: ApplyResult) -> dict[str, object]:
    """Make the JSON of what became of knowledge bases."""
    return {
        "applied": [change._asdict() for change in done.applied],
        "nothing": [change._asdict() for change in done.nothing],
        "edited": [change._asdict() for change in done.edited],
        "staged": list(map(staged_as_dict, done.staged)),
        "pending": list(map(blocked_as_dict, done.pending)),
        "files": [path for path, _, _ in done.files],
    }


def blocked_as_dict(blocked: tuple[str, str]) -> dict[str, object]:
    """Make the JSON of a file that could not be written, and why."""
    file, reason = blocked
    return {"file": file, "reason": reason}


def staged_as_dict(staged: "StagedEntry") -> dict[str, object]:
    """Make the JSON of a staged entry: what it wants, why it waits."""
    key = staged.entry.key
    return {
        "id": staged.entry.id,
        "file": staged.file,
        "heading": key.heading,
        "level": key.level,
        "under": key.under,
        "reason": staged.reason,
        "staged_as": staged.name,
    }
