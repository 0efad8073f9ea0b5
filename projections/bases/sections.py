"""Sections of Markdown files, and how they are told apart; pure.

A section is an outermost heading and what follows it. Its body ends at the next such heading of any level, so a section
is changed without touching its subsections. It is found by heading and level where that is unique, else by the headings
above it (`under`); Ambiguous is raised where they do not tell it apart.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from eventlog.fast.fastjson import BOM
from eventlog.fast.sha import sha256
from eventlog.format.errors import BadRequest

if TYPE_CHECKING:  # imported with the first heading: most commands never see one
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NEWLINE = re.compile(r"\r\n|\r")

Under = tuple[str, ...]  # headings above a section, outermost first


class Unsafe(BadRequest):
    """The change would reach beyond its section, or would not be read back as it was meant."""


class Ambiguous(Unsafe):
    """Several sections answer to the heading, the level and the headings above."""


class SectionId(NamedTuple):
    """A section by where it stands: its heading, its level, and all headings above it, as visible text."""

    heading: str
    level: int
    under: Under = ()

    @classmethod
    def of(cls, heading: str, level: int, under: Iterable[str] | None = ()) -> "SectionId":
        """Build the key of headings as they are written."""
        return cls(plain(heading), level, tuple(map(plain, under or ())))


class Section(NamedTuple):
    """A section of a page: its heading, what is above it, and the lines where heading, body and subsections end."""

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
        """Build what identifies the section by where it stands."""
        return SectionId(self.heading, self.level, tuple(map(plain, self.above)))


class Page:
    """A Markdown file taken apart; nothing is lost: the lines together are the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines = split_lines(data)
        self.eol = _eol_of(self.lines)
        self.sections = _sections(data)

    def candidates(self, heading: str, level: int, under: Sequence[str] | None = None) -> list[Section]:
        """List the sections that answer to this, in the order of the file.

        `under` holds any part of the headings above, in their order; a section that has exactly those above it is
        preferred, so `()` means one with none. Then one written exactly as asked, then one that reads as asked.
        """
        found = [section for section in self.sections if section.level == level and names(heading, section.source)]
        if under is not None:
            found = [section for section in found if is_part(under, section.above)]
            found = [section for section in found if is_whole(under, section.above)] or found
        for close in (_is_written, _reads):
            found = [section for section in found if close(heading, section.source)] or found
        return found

    def find(self, heading: str, level: int, under: Sequence[str] | None = None) -> Section | None:
        """Return the first section that answers to this."""
        return next(iter(self.candidates(heading, level, under)), None)

    def only(self, heading: str, level: int, under: Sequence[str] | None = None) -> Section | None:
        """Return the one section that answers to this, None where there is none; raises Ambiguous."""
        found = self.candidates(heading, level, under)
        if len(found) > 1:
            raise Ambiguous(ambiguity(found), hint="name headings above the one that is meant with `under`")
        return found[0] if found else None

    def text(self, section: Section) -> str:
        """Return the body as `canonical` text."""
        return canonical(decode(self.lines[section.body : section.end]))

    def below(self, section: Section) -> list[Section]:
        """List its subsections, at any depth."""
        return [inner for inner in self.sections if section.start < inner.start < section.last]

    def before(self, section: Section) -> Section | None:
        """Return the section whose heading is the last one before this one's; None for the first."""
        return max((other for other in self.sections if other.start < section.start), default=None, key=_start)

    def source_below(self, section: Section) -> str:
        """Return its subsections as they are written, as `canonical` text."""
        return canonical(decode(self.lines[section.end : section.last]))

    def outline(self) -> list[tuple[str, int, str]]:
        """List what the page says, in order: text before the first heading, then every section."""
        first = self.sections[0].start if self.sections else len(self.lines)
        preamble = ("", 0, canonical(decode(self.lines[:first]).removeprefix("\ufeff")))
        return [preamble, *((section.heading, section.level, self.text(section)) for section in self.sections)]


@lru_cache(maxsize=16)
def _start(section: Section) -> int:
    return section.start


def page_of(data: bytes) -> Page:
    """Take a file apart, once for each of the last few."""
    return Page(data)


def ambiguity(found: Iterable[Section]) -> str:
    """Tell that these sections are not told apart, naming each with what is above it."""
    told = [f"line {section.start + 1} under {' > '.join(section.above) or 'no heading'}" for section in found]
    return f"{len(told)} sections have this heading and level: {'; '.join(told)}"


def canonical(text: str) -> str:
    """Reduce a body to what all its spellings have in common: `\\n` ends lines, no blank lines around."""
    lines = _NEWLINE.sub("\n", text).split("\n")
    while lines and not lines[0].strip(_BLANK):
        lines.pop(0)
    while lines and not lines[-1].strip(_BLANK):
        lines.pop()
    return "\n".join(lines)


def digest(text: str | None) -> str:
    """Digest a canonical body; "" where there is no section."""
    return "" if text is None else sha256(text.encode("utf-8", "surrogatepass"))


def names(heading: str, source: str) -> bool:
    """Tell whether a heading is called that: by its visible text, or as it is written."""
    return plain(source) in (visible(heading), plain(heading))


def is_part(under: Iterable[str], above: Iterable[str]) -> bool:
    """Tell whether these headings are any part of those above, in their order."""
    left = iter(above)
    return all(any(names(name, source) for source in left) for name in under)


def is_whole(under: Sequence[str], above: Sequence[str]) -> bool:
    """Tell whether these headings are exactly those above."""
    return len(under) == len(above) and all(map(names, under, above))


def _is_written(heading: str, source: str) -> bool:
    return heading.strip() == source


def _reads(heading: str, source: str) -> bool:
    return visible(heading) == plain(source)


@lru_cache(maxsize=64)  # a file is read again in every round until it rests, and most of its texts come twice
def _sections(data: bytes) -> tuple[Section, ...]:
    lines = split_lines(data)
    found = list(headings(lines))
    starts = [heading.start for heading in found]
    sections = []
    above: list[tuple[int, str]] = []
    for position, (start, body, level, source) in enumerate(found):
        above = [(rank, text) for rank, text in above if rank < level]
        end = starts[position + 1] if position + 1 < len(found) else len(lines)
        last = next((later.start for later in found[position + 1 :] if later.level <= level), len(lines))
        sources = tuple(text for _, text in above)
        sections.append(Section(plain(source), source, level, start, body, end, last, sources))
        above.append((level, source))
    return tuple(sections)


def _eol_of(lines: list[bytes]) -> bytes:
    """Return how the first line ends."""
    first = lines[0] if lines else b""
    return first[len(first.rstrip(b"\r\n")) :] or b"\n"


_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as CommonMark ends lines: no form feeds, no U+2028
_SPACE = re.compile(r"\s+")
_BLANK = " \t"


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


class Heading(NamedTuple):
    """A heading: its first line, the line after it, its level, and its text as written."""

    start: int
    body: int
    level: int
    source: str


def headings(lines: list[bytes]) -> Iterator[Heading]:
    """Find every outermost heading, in the order of the file."""
    skipped = _front_matter([decode([line]).rstrip("\r\n") for line in lines])
    text = "\n" * skipped + decode(lines[skipped:]) if skipped else decode(lines).removeprefix("\ufeff")
    tokens = _blocks().parse(text)
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            yield Heading(*_span(token), int(token.tag[1:]), tokens[position + 1].content.strip())


def split_lines(data: bytes) -> list[bytes]:
    """Split a file into its lines, each with its ending; together they are the file."""
    return _LINES.findall(data)


@lru_cache(maxsize=4096)
def plain(heading: str) -> str:
    """Spell a heading as people read it, without its inline markup."""
    source = visible(heading)
    children = _inline().parseInline(source)[0].children or []
    words = "".join(_words(token) for token in children)
    return visible(words) or source


def visible(text: str) -> str:
    """Spell text as it is read: runs of white space are one space, characters are composed."""
    return unicodedata.normalize("NFC", _SPACE.sub(" ", text).strip())


def decode(lines: list[bytes]) -> str:
    """Decode for reading and comparing. Foreign bytes become U+FFFD; in the file they stay."""
    return b"".join(lines).decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Encode as UTF-8; what cannot be encoded becomes `?`."""
    return text.encode("utf-8", "replace")


def is_blank(line: bytes) -> bool:
    """Tell whether a line holds nothing but white space, or a byte order mark."""
    return not line.removeprefix(BOM).strip(b" \t\r\n")


def _front_matter(texts: list[str]) -> int:
    """Count the lines at the top that are metadata between `---` and `---` (or `...`), which is not Markdown."""
    if len(texts) < 3 or texts[0].removeprefix("\ufeff").rstrip(_BLANK) != "---" or not texts[1].strip(_BLANK):  # noqa: PLR2004
        return 0
    closing = (number for number, text in enumerate(texts[1:], 2) if text.rstrip(_BLANK) in ("---", "..."))
    return next(closing, 0)


def _span(token: "Token") -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]


def _words(token: "Token") -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return "".join(_words(child) for child in token.children or [])
    return token.content if token.type in ("text", "code_inline") else ""
