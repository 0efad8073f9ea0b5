"""Sections of Markdown files, and what identifies them; pure.

A section is an outermost heading of CommonMark and the text below it: headings inside a fence, HTML, front matter, a
list or a quotation are text. Its body ends at the next such heading of any level, so a change of a section leaves its
subsections alone. Heading and level identify a section where they are unique, else the headings above it do (`under`).
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from eventlog.fast.fastjson import BOM
from eventlog.fast.sha import sha256
from eventlog.format.errors import BadRequest

if TYPE_CHECKING:  # imported with the first heading: most commands never parse Markdown
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Under = tuple[str, ...]  # headings above a section, outermost first

_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as CommonMark ends lines: no form feeds, no U+2028
_NEWLINE = re.compile(r"\r\n|\r")
_SPACE = re.compile(r"\s+")
MAX_BLANK = 999  # lines
_BLANK = " \t"
_BOM = "\ufeff"


class Unsafe(BadRequest):
    """The change would reach beyond its section, or would not be read back as it was meant."""


class Ambiguous(Unsafe):
    """Several sections answer to the heading, the level and the headings above."""

    def __init__(self, found: "Iterable[Section]", hint: str = "") -> None:
        places = [f"line {section.start + 1} under {' > '.join(section.above) or 'no heading'}" for section in found]
        super().__init__(f"{len(places)} sections have this heading and level: {'; '.join(places)}", hint=hint)


class SectionId(NamedTuple):
    """The identity of a section: its heading, its level, and all headings above it, as visible text."""

    heading: str
    level: int
    under: Under = ()

    @classmethod
    def of(cls, heading: str, level: int, under: Iterable[str] | None = ()) -> "SectionId":
        """Build the identity from headings as written."""
        return cls(plain(heading), level, tuple(map(plain, under or ())))

    @property
    def path(self) -> Under:
        """Return its heading after those above."""
        return (*self.under, self.heading)


class Section(NamedTuple):
    """A section of a page: its heading, the headings above, and the lines where heading, body and subsections end."""

    heading: str  # as visible text
    source: str  # the heading as written
    level: int
    start: int
    body: int
    end: int
    last: int
    above: Under = ()  # the headings above as written

    @property
    def key(self) -> SectionId:
        """Build the identity of the section."""
        return SectionId(self.heading, self.level, tuple(map(plain, self.above)))


class Spot(NamedTuple):
    """The spot of a section on a page: the last heading before it, and if it is the last one how the file ended."""

    previous: Under  # after the headings above it; () for the first
    blank: int = 0  # lines at the end of the file before the section came, changed or left


class Page:
    """A parsed Markdown file; nothing is lost: the lines together are the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines: list[bytes] = _LINES.findall(data)
        first = self.lines[0] if self.lines else b""
        self.eol = first[len(first.rstrip(b"\r\n")) :] or b"\n"
        self.sections = _sections(self.lines)

    def candidates(self, heading: str, level: int, under: Sequence[str] | None = None) -> list[Section]:
        """List the sections that answer to heading, level and headings above, in the order of the file.

        `under` holds any part of the headings above, in their order. An exact match of `under` is preferred, so `()`
        means a section with none; then a heading written exactly as asked, then a heading that reads as asked. Where
        none does, one that differs only in the width of its characters does, as Chinese brackets do; so do those above.
        """
        found = _called(heading, [section for section in self.sections if section.level == level])
        if under is not None:
            found = _standing(found, under)
        found = [section for section in found if section.source == heading.strip()] or found
        return [section for section in found if plain(section.source) == _visible(heading)] or found

    def find(self, heading: str, level: int, under: Sequence[str] | None = None) -> Section | None:
        """Return the first section that answers to heading, level and headings above."""
        return next(iter(self.candidates(heading, level, under)), None)

    def parents(self, level: int, under: Sequence[str]) -> list[Section]:
        """List the sections that these headings could mean and that a section of the level could stand under."""
        *above, name = under
        return _standing(_called(name, [section for section in self.sections if section.level < level]), above)

    def text(self, section: Section) -> str:
        """Return the body as `canonical` text."""
        return canonical(decode(self.lines[section.body : section.end]))

    def below(self, section: Section) -> list[Section]:
        """List its subsections, at any depth."""
        return [inner for inner in self.sections if section.start < inner.start < section.last]

    def spot(self, section: Section) -> Spot:
        """Return the spot of a section."""
        position = self.sections.index(section)
        previous = self.sections[position - 1].key.path if position else ()
        return Spot(previous, self.blank if self.is_last(section) else 0)

    def is_last(self, section: Section) -> bool:
        """Return whether nothing follows a section."""
        return section.end == len(self.lines)

    @property
    def blank(self) -> int:
        """Count the blank lines that end the file."""
        lines = [] if self.data == BOM else self.lines
        return min(sum(1 for _ in takewhile(is_blank, reversed(lines))), MAX_BLANK)

    def source_below(self, section: Section) -> str:
        """Return its subsections as written, as `canonical` text."""
        return canonical(decode(self.lines[section.end : section.last]))

    def outline(self) -> list[tuple[str, int, str]]:
        """List heading, level and body of every section in order, the text before the first heading as the first."""
        first = self.sections[0].start if self.sections else len(self.lines)
        preamble = ("", 0, canonical(decode(self.lines[:first]).removeprefix(_BOM)))
        return [preamble, *((section.heading, section.level, self.text(section)) for section in self.sections)]


@lru_cache(maxsize=64)  # every round reads a file again until nothing changes, and most texts come twice
def page_of(data: bytes) -> Page:
    """Parse a file; the last few stay parsed."""
    return Page(data)


def canonical(text: str) -> str:
    """Reduce a body to the form that all its spellings share: `\\n` ends lines, no blank lines around."""
    lines = _NEWLINE.sub("\n", text).split("\n")
    while lines and not lines[0].strip(_BLANK):
        lines.pop(0)
    while lines and not lines[-1].strip(_BLANK):
        lines.pop()
    return "\n".join(lines)


def digest(text: str | None) -> str:
    """Digest a canonical body; "" for an absent section."""
    return "" if text is None else sha256(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=4096)
def plain(heading: str) -> str:
    """Strip a heading to the text that people read, without its inline markup."""
    source = _visible(heading)
    children = _inline().parseInline(source)[0].children or []
    return _visible("".join(map(_words, children))) or source


def decode(lines: list[bytes]) -> str:
    """Decode for reading and comparing. Foreign bytes become U+FFFD; in the file they stay."""
    return b"".join(lines).decode("utf-8", "replace")


def is_blank(line: bytes) -> bool:
    """Return whether a line holds nothing but white space, or a byte order mark."""
    return not line.removeprefix(BOM).strip(b" \t\r\n")


def _called(name: str, found: Sequence[Section]) -> list[Section]:
    """Choose the sections with this heading, else those whose heading differs from it in width alone."""
    return [it for it in found if _names(name, it.source)] or [it for it in found if _reads_as(name, it.source)]


def _standing(found: Sequence[Section], under: Sequence[str]) -> list[Section]:
    """Choose the sections with all of these headings above, those with exactly these headings if any."""
    some = [section for section in found if _have(section.above, under, _names)]
    some = some or [section for section in found if _have(section.above, under, _reads_as)]
    return [section for section in some if len(under) == len(section.above)] or some


def _have(above: Under, under: Sequence[str], names: Callable[[str, str], bool]) -> bool:
    left = iter(above)
    return all(any(names(name, source) for source in left) for name in under)


def _names(heading: str, source: str) -> bool:
    """Compare a heading asked for with a written heading, by visible text or markup."""
    return plain(source) in (_visible(heading), plain(heading))


def _reads_as(heading: str, source: str) -> bool:
    """Compare a heading asked for with a written heading, in any width of their characters."""
    return _narrow(plain(heading)) == _narrow(plain(source))


def _narrow(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _visible(text: str) -> str:
    """Normalize as readers see it: runs of white space are one space, characters are composed."""
    return unicodedata.normalize("NFC", _SPACE.sub(" ", text).strip())


def _words(token: "Token") -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return "".join(map(_words, token.children or []))
    return token.content if token.type in ("text", "code_inline") else ""


def _sections(lines: list[bytes]) -> tuple[Section, ...]:
    found = _headings(lines)
    ends = [start for start, *_ in found[1:]] + [len(lines)]
    sections = []
    above: list[tuple[int, str]] = []
    for position, (start, body, level, source) in enumerate(found):
        above = [(rank, text) for rank, text in above if rank < level]
        last = next((later for later, _, rank, _ in found[position + 1 :] if rank <= level), len(lines))
        sources = tuple(text for _, text in above)
        sections.append(Section(plain(source), source, level, start, body, ends[position], last, sources))
        above.append((level, source))
    return tuple(sections)


def _headings(lines: list[bytes]) -> list[tuple[int, int, int, str]]:
    """List every outermost heading: its first line, the line after it, its level, and its text as written."""
    # front matter is not Markdown: blank lines in its place keep the numbers of all lines that follow
    skipped = _front_matter([decode([line]).rstrip("\r\n") for line in lines])
    text = "\n" * skipped + decode(lines[skipped:]) if skipped else decode(lines).removeprefix(_BOM)
    tokens = _blocks().parse(text)
    return [
        (token.map[0], token.map[1], int(token.tag[1:]), inline.content.strip())
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def _front_matter(texts: list[str]) -> int:
    """Count the lines at the top that are metadata between `---` and `---` (or `...`)."""
    if len(texts) < 3 or texts[0].removeprefix(_BOM).rstrip(_BLANK) != "---" or not texts[1].strip(_BLANK):  # noqa: PLR2004
        return 0
    closing = (number for number, text in enumerate(texts[1:], 2) if text.rstrip(_BLANK) in ("---", "..."))
    return next(closing, 0)


@cache
def _inline() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


@cache
def _blocks() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
