"""The life of one section: every text it ever had, in order, and who wrote which line of it; pure."""

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from eventlog.projections.bases.sections import Under

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_order_of = attrgetter("at", "id")


class Spelling(NamedTuple):
    """A section as events name it: headings as they are written."""

    heading: str
    level: int
    under: Under | None


class Wording(NamedTuple):
    """The text of a section from a moment on; `body` None: it was not there any more."""

    at: str  # when it counts
    id: str  # of the event that tells of it
    event: str  # the entry, or the person's text
    title: str  # the heading as it was written
    body: str | None
    meant: str | None  # what the entry wanted, where a person's lines were kept beside it
    person: bool
    below: str = ""  # subsections that were there, as they were written


class SectionHistory:
    """The wordings of a section that still count, oldest first; what they come to is kept as they are added."""

    def __init__(self, wordings: Iterable[Wording], counts: Collection[str]) -> None:
        in_order = sorted(wordings, key=_order_of)
        self.valid = [wording for wording in in_order if wording.event in counts]
        self._life = _Life()

    def copy(self) -> "SectionHistory":
        """Return one that can be added to while this stays as it is."""
        other = SectionHistory((), ())
        other.valid = [*self.valid]
        other._life = copy(self._life)
        return other

    def add(self, wording: Wording) -> None:
        """Let it go on with one wording more."""
        self.valid.append(wording)

    @property
    def now(self) -> Wording | None:
        """Return the wording in force; None where none counts any more."""
        return self.valid[-1] if self.valid else None

    @property
    def sources(self) -> list[Wording]:
        """List the sources of the section: the wording in force, and a person's texts that were kept in it."""
        now = self.now
        kept = now is not None and not now.person and now.body != now.meant
        return [wording for wording in self.valid if wording is now or (kept and wording.person)]

    @property
    def base(self) -> str | None:
        """Return the text an entry last wanted here; None where none did, or the last removed the section."""
        return self._lived().base

    def marked(self, body: str | None) -> list[tuple[str, bool]]:
        """Mark each line of a body that follows on this: True where a person wrote it."""
        return added(self._lived().lines, lines_of(body), mark=True)

    @property
    def is_removed_by_person(self) -> bool:
        """Tell whether the section is gone because a person removed it; deleting what is gone changes nothing."""
        life = self._lived()
        return not life.there and life.removed_by_person

    @property
    def is_persons(self) -> bool:
        """Tell whether a person made the heading."""
        life = self._lived()
        return life.made_by_person or not life.there

    def _lived(self) -> "_Life":
        """Bring what the wordings come to up to the newest; each is looked at once."""
        for wording in self.valid[self._life.seen :]:
            self._life.go_on(wording)
        return self._life


class _Life(Struct):
    """The outcome of the first wordings of a section."""

    seen: int = 0
    lines: list[tuple[str, bool]] = field(default_factory=list)  # of the last one: True where a person wrote it
    there: bool = False
    made_by_person: bool = True
    removed_by_person: bool = False
    base: str | None = None  # what an entry last wanted

    def go_on(self, wording: Wording) -> None:
        """Take in the next one."""
        self.seen += 1
        self.lines = added(self.lines, lines_of(wording.body), mark=wording.person)
        if wording.body is None and (self.there or wording.person):
            self.removed_by_person = wording.person
        if wording.body is not None and not self.there:
            self.made_by_person = wording.person
        self.there = wording.body is not None
        if not wording.person:
            self.base = wording.meant if wording.meant is not None else wording.body


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
