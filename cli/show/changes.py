"""Report applied plan entries, and differences of files: wrapped for people, as a patch for programs."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from eventlog.cli.terminal import abbreviate_home, count, emit, hang, is_terminal, print_lines, say, show_lines, styled
from eventlog.format.errors import EventLogError
from eventlog.format.text import cut, harmless

if TYPE_CHECKING:
    from eventlog.app.ask.history import TextChange
    from eventlog.app.build.apply_result import ApplyResult, SectionChange
    from eventlog.app.build.staging import StagedEntry
    from eventlog.app.open_store import OpenStore

_SHOWN, _CHARS = 3, 60


def print_applied(done: "ApplyResult", short: Callable[[str], str], *, dry_run: bool = False) -> None:
    """Print a line per section with its short id; and diffs on a terminal or for a dry run."""
    words = {"edited": done.edited, "would apply" if dry_run else "applied": done.applied}
    for word, changes in (words | {"unchanged": done.nothing}).items():
        for change in changes:
            say(f"{word:<10} {change.section}  [{short(change.event)}]")
            _print_replaced(change, short, dry_run=dry_run)
    for staged in done.staged:
        say(f"{'staged':<10} {staged.section}  [{short(staged.entry.id)}] {staged.reason}")
    for file, reason in done.pending:
        say(f"{'pending':<10} {file}: {reason}")
    if dry_run or sys.stdout.isatty():
        for path, before, after in done.files:
            _show_diff(path, before, after)


def _print_replaced(change: "SectionChange", short: Callable[[str], str], *, dry_run: bool) -> None:
    """Print the replaced lines, and the command that restores them."""
    if change.replaced:
        lines = "; ".join(cut(line.strip(), _CHARS) for line in change.replaced[:_SHOWN])
        more = f"; and {len(change.replaced) - _SHOWN} more" if len(change.replaced) > _SHOWN else ""
        number = count(len(change.replaced), "line")
        say(f"{'':<10} {'would replace' if dry_run else 'replaced'} {number}: {lines}{more}")
    if change.replaced and not dry_run:
        say(f"{'':<10} to undo: eventlog undo {short(change.event)}")


_COLOURS = {"+": "green", "-": "red"}
_NEAR_THE_TOP = 3  # lines
_HUNK = re.compile(r"@@ -(\d+)")
_BULLET = re.compile(r"\s*(?:[-*] |\d+\. )?")
_BY_NUMBER = ("sessions.jsonl", "INDEX.md")  # they repeat the other files


def show_changes(changes: "Sequence[TextChange]", nothing: str, *, as_json: bool) -> None:
    """Print a unified diff of every changed file."""
    if as_json:
        emit([change._asdict() for change in changes], pretty=True)
        return
    total = count(len(changes), "file differs", "files differ") if changes else nothing
    each = (_diff_lines(change.path, change.before or (), change.after or ()) for change in changes)
    show_lines(chain(chain.from_iterable(each), hang("", total)))


def show_waiting(opened: "OpenStore", staged: "StagedEntry") -> None:
    """Print what a staged entry would change in its file, or the reason why it cannot be read."""
    from eventlog.app.write.resolve import compare  # most replays stage nothing

    try:
        for existing, wanted in compare(opened, staged):
            _show_diff(staged.file, existing.encode(), wanted.encode())
    except EventLogError as error:
        say(f"  {error}")


def _show_diff(path: str, before: bytes, after: bytes) -> None:
    print_lines(_diff_lines(path, *(data.decode(errors="replace").splitlines() for data in (before, after))))


def _diff_lines(path: str, before: Sequence[str], after: Sequence[str]) -> Iterable[str]:
    from difflib import unified_diff  # most replays change no file of a person's

    patch = list(unified_diff(before, after, path, path, lineterm=""))
    return _for_people(path, patch) if is_terminal() else map(harmless, patch)


def _for_people(path: str, patch: Sequence[str]) -> Iterator[str]:
    """Yield the name of the file and its changed lines, wrapped; of a file for programs only their number."""
    changed = patch[2:]
    if not changed:
        return
    yield styled(abbreviate_home(harmless(path)), bold=True)
    if path.endswith(_BY_NUMBER):
        added, removed = (sum(line.startswith(sign) for line in changed) for sign in "+-")
        yield f"  {count(removed, 'line')} out, {added:,} in"
        return
    for line in changed:
        yield from _diff_line(line)


def _diff_line(line: str) -> list[str]:
    if hunk := _HUNK.match(line):
        return [] if int(hunk[1]) <= _NEAR_THE_TOP else [styled(f"  line {hunk[1]}", fg="cyan")]
    sign, text = line[:1], harmless(line[1:])
    bullet = _BULLET.match(text)
    assert bullet
    lines = hang(f"{sign} {bullet.group()}", text[bullet.end() :])
    return [styled(part.rstrip(), fg=_COLOURS.get(sign)) for part in lines]
