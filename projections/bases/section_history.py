"""The texts of a section over time: who wrote which line, and how two changes of a text merge; pure."""

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from eventlog.projections.bases.sections import Under

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_order_of = attrgetter("at", "id")
_Hunk = tuple[int, int, tuple[str, ...]]  # start and stop in the base, and the lines that replace those between


class Spelling(NamedTuple):
    """A section as events name it: headings as written."""

    heading: str
    level: int
    under: Under | None


class Wording(NamedTuple):
    """The text of a section from a moment on; `body` None: removed."""

    at: str  # when it counts
    id: str  # of the event that reports it
    event: str  # the entry, or the person's text
    title: str  # the heading as written
    body: str | None
    meant: str | None  # the text of the entry, where lines of a person stayed beside it
    person: bool
    below: str = ""  # subsections of that moment, as written


class SectionHistory:
    """The wordings of a section that still count, oldest first, and what comes of them.

    Each wording is compared with the one before it once, when that is asked for.
    """

    def __init__(self, wordings: Iterable[Wording], counts: Collection[str]) -> None:
        in_order = sorted(wordings, key=_order_of)
        self.valid = [wording for wording in in_order if wording.event in counts]
        self._compared = 0  # wordings; what follows comes of these
        self._lines: list[tuple[str, bool]] = []  # of the last wording: True where a person wrote it
        self._is_present = False
        self._created_by_person = True
        self._removed_by_person = False
        self._base: str | None = None  # the text of the last entry

    def copy(self) -> "SectionHistory":
        """Copy the history, so that adding to the copy leaves the original alone."""
        other = copy(self)
        other.valid = [*self.valid]
        return other

    def add(self, wording: Wording) -> None:
        """Append the newest wording."""
        self.valid.append(wording)

    @property
    def now(self) -> Wording | None:
        """Return the wording in force; None where none counts any more."""
        return self.valid[-1] if self.valid else None

    @property
    def sources(self) -> list[Wording]:
        """List the sources of the section: the wording in force, and people's texts that it contains."""
        now = self.now
        is_merged = now is not None and not now.person and now.body != now.meant
        return [wording for wording in self.valid if wording is now or (is_merged and wording.person)]

    @property
    def persons(self) -> dict[str, str]:
        """Map the lines that a person wrote, of the wording in force, to the first text of a person with them."""
        texts = [wording for wording in self.valid if wording.person]
        first = {line: wording.event for wording in reversed(texts) for line in lines_of(wording.body)}
        marked = self.marked(self.now.body if self.now else None)
        return {line: first[line] for line, is_persons in marked if is_persons and line.strip() and line in first}

    @property
    def base(self) -> str | None:
        """Return the text of the last entry for the section; None without an entry, or where the last removed it."""
        self._catch_up()
        return self._base

    def marked(self, body: str | None) -> list[tuple[str, bool]]:
        """Mark each line of the next body: True where a person wrote it."""
        self._catch_up()
        return added(self._lines, lines_of(body), mark=True)

    @property
    def is_removed_by_person(self) -> bool:
        """Return whether the section is absent because a person removed it."""
        self._catch_up()
        return not self._is_present and self._removed_by_person

    @property
    def is_persons(self) -> bool:
        """Return whether a person wrote the heading."""
        self._catch_up()
        return not self._is_present or self._created_by_person

    def _catch_up(self) -> None:
        for wording in self.valid[self._compared :]:
            self._lines = added(self._lines, lines_of(wording.body), mark=wording.person)
            # an entry that deletes an absent section must not hide that a person removed it
            if wording.body is None and (self._is_present or wording.person):
                self._removed_by_person = wording.person
            if wording.body is not None and not self._is_present:
                self._created_by_person = wording.person
            self._is_present = wording.body is not None
            if not wording.person:
                self._base = wording.meant if wording.meant is not None else wording.body
        self._compared = len(self.valid)


def lines_of(text: str | None) -> list[str]:
    """Split a canonical body; an empty or absent body has no lines."""
    return text.split("\n") if text else []


def merged(base: Sequence[str], first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """Merge two changes of the base; None where they touch the same lines. `first` inserts before `second`."""
    hunks = _hunks(base, first)
    hunks = sorted([*hunks, *(hunk for hunk in _hunks(base, second) if hunk not in hunks)], key=lambda hunk: hunk[:2])
    if any(right[0] < left[1] for left, right in pairwise(hunks)):
        return None
    result: list[str] = []
    at = 0
    for start, stop, lines in hunks:
        result += [*base[at:start], *lines]
        at = stop
    return [*result, *base[at:]]


def missing(wanted: Iterable[str], lines: Sequence[str]) -> list[str]:
    """List the wanted lines that are not among the lines, in this order."""
    wanted, rest = list(wanted), iter(lines)
    if all(any(line == text for text in rest) for line in wanted):  # a heuristic matcher may miss a subsequence
        return []
    blocks = _matcher(wanted, lines).get_matching_blocks()
    matching = {at for block in blocks for at in range(block.a, block.a + block.size)}
    return [line for at, line in enumerate(wanted) if at not in matching]


def added(before: Sequence[tuple[str, bool]], after: Sequence[str], *, mark: bool) -> list[tuple[str, bool]]:
    """Transfer the marks of lines to a later text; new lines get this mark."""
    texts = [text for text, _ in before]
    marked = [(text, mark) for text in after]
    for block in _matcher(texts, after).get_matching_blocks():
        marked[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return marked


def _matcher(left: Sequence[str], right: Sequence[str]) -> "SequenceMatcher[str]":
    from difflib import SequenceMatcher  # most replays compare no two texts

    return SequenceMatcher(a=left, b=right, autojunk=False)


def _hunks(base: Sequence[str], changed: Sequence[str]) -> list[_Hunk]:
    codes = _matcher(base, changed).get_opcodes()
    return [(i1, i2, tuple(changed[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]
