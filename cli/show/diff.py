"""Differences of texts: to a person in whole words under the name of the file, to a program as a patch."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff

from eventlog.cli.output import at_home, beside, count, is_terminal, print_line, styled
from eventlog.format.text import harmless

_COLOURS = {"+": "green", "-": "red"}
_NEAR_THE_TOP = 3  # lines
_HUNK = re.compile(r"@@ -(\d+)")
_BULLET = re.compile(r"\s*(?:[-*] |\d+\. )?")
_BY_NUMBER = ("sessions.jsonl", "INDEX.md")  # what repeats the other files


def show_diff(path: str, before: bytes, after: bytes) -> None:
    """Print how a file changes."""
    for line in diff_lines(path, *(data.decode(errors="replace").splitlines() for data in (before, after))):
        print_line(line)


def diff_lines(path: str, before: Sequence[str], after: Sequence[str]) -> Iterable[str]:
    """Tell how the lines of a file change."""
    patch = list(unified_diff(before, after, path, path, lineterm=""))
    return _for_people(path, patch) if is_terminal() else map(harmless, patch)


def _for_people(path: str, patch: Sequence[str]) -> Iterator[str]:
    """Name the file once, then its lines as they wrap; of a file for programs only how many lines differ."""
    changed = patch[2:]
    if not changed:
        return
    yield styled(at_home(harmless(path)), bold=True)
    if path.endswith(_BY_NUMBER):
        added, gone = (sum(line.startswith(sign) for line in changed) for sign in "+-")
        yield f"  {count(gone, 'line')} out, {added:,} in"
        return
    for line in changed:
        yield from _line(line)


def _line(line: str) -> list[str]:
    if hunk := _HUNK.match(line):
        return [] if int(hunk[1]) <= _NEAR_THE_TOP else [styled(f"  line {hunk[1]}", fg="cyan")]
    sign, text = line[:1], harmless(line[1:])
    bullet = _BULLET.match(text)
    assert bullet
    lines = beside(f"{sign} {bullet.group()}", text[bullet.end() :])
    return [styled(one.rstrip(), fg=_COLOURS.get(sign)) for one in lines]
