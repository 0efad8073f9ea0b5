"""Two changes of one text, by lines; pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from difflib import SequenceMatcher


class _Hunk(NamedTuple):
    """Lines `start` to `stop` of the base become these."""

    start: int
    stop: int
    lines: tuple[str, ...]


def lines_of(text: str | None) -> list[str]:
    """Split a canonical body; none where it is empty, or not there."""
    return text.split("\n") if text else []


def merged(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> list[str] | None:
    """Make both changes of the base; None where they touch the same lines. Lines put at one place: first one's."""
    ours = _hunks(base, one)
    hunks = sorted([*ours, *(hunk for hunk in _hunks(base, other) if hunk not in ours)], key=lambda hunk: hunk[:2])
    if any(right.start < left.stop for left, right in pairwise(hunks)):
        return None
    result: list[str] = []
    at = 0
    for hunk in hunks:
        result += [*base[at : hunk.start], *hunk.lines]
        at = hunk.stop
    return [*result, *base[at:]]


def missing(wanted: Iterable[str], lines: Sequence[str]) -> list[str]:
    """List the wanted lines that are not among the lines, in this order."""
    given = list(wanted)
    matcher = _compared(given, lines)
    kept = {at for block in matcher.get_matching_blocks() for at in range(block.a, block.a + block.size)}
    return [] if _is_within(given, lines) else [line for at, line in enumerate(given) if at not in kept]


def added(before: Sequence[tuple[str, bool]], after: Sequence[str], *, mark: bool) -> list[tuple[str, bool]]:
    """Carry marks of lines over to a later text; lines that are new there get this one."""
    texts = [text for text, _ in before]
    marked = [(text, mark) for text in after]
    for block in _compared(texts, after).get_matching_blocks():
        marked[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return marked


def _compared(one: Sequence[str], other: Sequence[str]) -> "SequenceMatcher[str]":
    from difflib import SequenceMatcher  # a replay in which nobody's texts meet has no need of it

    return SequenceMatcher(a=one, b=other, autojunk=False)


def _is_within(wanted: Iterable[str], lines: Iterable[str]) -> bool:
    left = iter(lines)
    return all(any(line == text for text in left) for line in wanted)


def _hunks(base: Sequence[str], changed: Sequence[str]) -> list[_Hunk]:
    codes = _compared(base, changed).get_opcodes()
    return [_Hunk(i1, i2, tuple(changed[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]
