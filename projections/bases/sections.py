"""Section surgery on Markdown files: one section changes, everything else stays byte for byte; pure.

A section is a heading of CommonMark (ATX or setext) that stands at the outermost level of the document: not inside a
fence, HTML, front matter, a list or a quotation. Its body ends at the next such heading of any level, so a section is
changed without touching its subsections. It is found by heading and level where that is unique, else by the headings
above it (`under`); Ambiguous is raised where they do not tell it apart.

Every result is parsed again before it is returned: where anything but the addressed section would be read
differently (an unclosed fence, a heading in the content), nothing is changed and Unsafe is raised.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from eventlog.errors import BadRequest

_BOM = b"\xef\xbb\xbf"
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as CommonMark ends lines: no form feeds, no U+2028
_NEWLINE = re.compile(r"\r\n|\r")
_SPACE = re.compile(r"\s+")
_BLANK = " \t"

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
        self.lines: list[bytes] = _LINES.findall(data)
        self.eol = _eol_of(self.lines)
        self.sections = _sections(self.lines)

    def candidates(self, heading: str, level: int, under: Sequence[str] | None = None) -> list[Section]:
        """List the sections that answer to this, in the order of the file.

        `under` holds any part of the headings above, in their order; a section that has exactly those above it is
        preferred, so `()` means one with none. Then one written exactly as asked, then one that reads as asked.
        """
        found = [one for one in self.sections if one.level == level and _names(heading, one.source)]
        if under is not None:
            found = [one for one in found if _is_part(under, one.above)]
            found = [one for one in found if _is_whole(under, one.above)] or found
        for close in (_is_written, _reads):
            found = [one for one in found if close(heading, one.source)] or found
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
        return canonical(_decode(self.lines[section.body : section.end]))

    def below(self, section: Section) -> list[Section]:
        """List its subsections, at any depth."""
        return [one for one in self.sections if section.start < one.start < section.last]

    def source_below(self, section: Section) -> str:
        """Return its subsections as they are written, as `canonical` text."""
        return canonical(_decode(self.lines[section.end : section.last]))

    def outline(self) -> list[tuple[str, int, str]]:
        """List what the page says, in order: text before the first heading, then every section."""
        first = self.sections[0].start if self.sections else len(self.lines)
        preamble = ("", 0, canonical(_decode(self.lines[:first]).removeprefix("\ufeff")))
        return [preamble, *((one.heading, one.level, self.text(one)) for one in self.sections)]


@lru_cache(maxsize=16)
def page_of(data: bytes) -> Page:
    """Take a file apart, once for each of the last few."""
    return Page(data)


def ambiguity(found: Iterable[Section]) -> str:
    """Tell that these sections are not told apart, naming each with what is above it."""
    told = [f"line {one.start + 1} under {list(one.above)}" for one in found]
    return f"{len(told)} sections have this heading and level: {'; '.join(told)}"


def body_of(data: bytes, heading: str, level: int, under: Sequence[str] | None = None) -> str | None:
    """Return the canonical text of a section; None where there is no such section."""
    page = Page(data)
    found = page.find(heading, level, under)
    return page.text(found) if found else None


def update(data: bytes, heading: str, level: int, content: str, under: Sequence[str] | None = None) -> bytes:
    """Make this text the body of the section, created where it is missing; raises Unsafe.

    A missing section is created at the end of the file, or of the section that `under` names.
    """
    page = Page(data)
    found = page.only(heading, level, under)
    return with_body(page, found, content) if found else insert(page, heading, level, content, under)


def clear(data: bytes, heading: str, level: int, under: Sequence[str] | None = None) -> bytes:
    """Empty the body under the heading, which is created where it is missing; raises Unsafe."""
    return update(data, heading, level, "", under)


def delete(
    data: bytes, heading: str, level: int, under: Sequence[str] | None = None, *, subsections: bool = True
) -> bytes:
    """Remove the section, and its subsections unless they are to stay; raises Unsafe."""
    page = Page(data)
    found = page.only(heading, level, under)
    return without(page, found, subsections=subsections) if found else data


def with_body(page: Page, found: Section, content: str) -> bytes:
    """Make this text the body of a section of the page; raises Unsafe."""
    text = canonical(content)
    if page.text(found) == text:
        return page.data
    meant = page.outline()
    meant[page.sections.index(found) + 1] = (found.heading, found.level, text)
    return _checked(_with_body(page, found, text), meant)


def without(page: Page, found: Section, *, subsections: bool) -> bytes:
    """Cut the lines of a section of the page; raises Unsafe."""
    end = found.last if subsections else found.end
    outline = page.outline()
    kept = [said for one, said in zip(page.sections, outline[1:], strict=True) if not found.start <= one.start < end]
    meant = [outline[0], *kept]
    before, after = b"".join(page.lines[: found.start]), b"".join(page.lines[end:])
    if page.data.startswith(_BOM) and not before:
        before = _BOM
    try:
        return _checked(before + after, meant)
    except Unsafe:  # the text before must not run into the text after
        return _checked(before + page.eol + after, meant)


def insert(
    page: Page, heading: str, level: int, content: str, under: Sequence[str] | None = None, below: str = ""
) -> bytes:
    """Create a section with this body, and with subsections as they are written; raises Unsafe.

    It comes last in what it is to stand under, but before any heading of a smaller level that would take it in.
    """
    text = canonical(content)
    inner = Page(_encode("\n\n".join(filter(None, (f"{'#' * level} {heading.strip()}", text, canonical(below))))))
    line = _place(page, level, under)
    position = sum(one.start < line for one in page.sections) + 1
    meant = [*page.outline()[:position], *inner.outline()[1:], *page.outline()[position:]]
    if not inner.sections or inner.outline()[1][::2] != (plain(heading), text):
        raise Unsafe("the section cannot be written so that it is read back as it is")
    block = [_encode(one) + page.eol for one in canonical(_decode(inner.lines)).split("\n")]
    if line == len(page.lines):
        return _checked(_appended(page, block), meant)
    before, after = page.lines[:line], page.lines[line:]
    gap = [page.eol] if before and not _is_blank(before[-1]) else []
    return _checked(b"".join([*before, *gap, *block, page.eol, *after]), meant)


def _place(page: Page, level: int, under: Sequence[str] | None) -> int:
    """Find the line a new section of that level goes to; raises Unsafe."""
    if under is None:
        return len(page.lines)
    parent = _parent(page, level, under) if under else None
    stop = parent.last if parent else len(page.lines)
    inside = [one for one in page.sections if one.start < stop and (parent is None or one.start > parent.start)]
    return next((one.start for one in inside if one.level < level), stop)


def _parent(page: Page, level: int, under: Sequence[str]) -> Section:
    *above, name = under
    named = [one for one in page.sections if one.level < level and _names(name, one.source)]
    found = [one for one in named if _is_part(above, one.above)]
    found = [one for one in found if _is_whole(above, one.above)] or found
    if len(found) > 1:
        raise Ambiguous(ambiguity(found))
    if not found:
        raise Unsafe(f"there is no section {name!r} to put it under")
    return found[0]


def _is_written(heading: str, source: str) -> bool:
    return heading.strip() == source


def _reads(heading: str, source: str) -> bool:
    return _visible(heading) == plain(source)


def _names(heading: str, source: str) -> bool:
    """Tell whether a heading is called that: by its visible text, or as it is written."""
    return plain(source) in (_visible(heading), plain(heading))


def _is_part(under: Iterable[str], above: Iterable[str]) -> bool:
    left = iter(above)
    return all(any(_names(name, source) for source in left) for name in under)


def _is_whole(under: Sequence[str], above: Sequence[str]) -> bool:
    return len(under) == len(above) and all(map(_names, under, above))


def canonical(text: str) -> str:
    """What two spellings of the same body have in common: `\\n` ends lines, no blank lines around."""
    lines = _NEWLINE.sub("\n", text).split("\n")
    while lines and not lines[0].strip(_BLANK):
        lines.pop(0)
    while lines and not lines[-1].strip(_BLANK):
        lines.pop()
    return "\n".join(lines)


def digest(text: str | None) -> str:
    """What identifies a canonical body; "" where there is no section."""
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def plain(heading: str) -> str:
    """A heading as people read it, without its inline markup."""
    source = _visible(heading)
    children = _INLINE.parseInline(source)[0].children or []
    words = "".join(_words(token) for token in children)
    return _visible(words) or source


def _visible(text: str) -> str:
    """Text as it is read: runs of white space are one space, characters are composed."""
    return unicodedata.normalize("NFC", _SPACE.sub(" ", text).strip())


def _with_body(page: Page, found: Section, text: str) -> bytes:
    """The blank lines around the old body stay; where there was none, one separates."""
    old = page.lines[found.body : found.end]
    follows = found.end < len(page.lines)
    lead, tail = _blank_around(old) if _has_text(old) else ([page.eol], [])
    if not text:
        lead = []
    body = [*lead, *_split(text, page.eol), *(tail or [page.eol] * follows)]
    before = b"".join(page.lines[: found.body])
    before += page.eol if body and not before.endswith((b"\n", b"\r")) else b""
    changed = before + b"".join(body)
    return changed + b"".join(page.lines[found.end :]) if follows else _ending_like(page, changed)


def _appended(page: Page, block: list[bytes]) -> bytes:
    """A new section after one blank line; the heading stands as it was given."""
    before = page.data
    if page.lines and page.data != _BOM:
        before += b"" if before.endswith((b"\n", b"\r")) else page.eol
        before += b"" if _is_blank(page.lines[-1]) else page.eol
    return _ending_like(page, before + b"".join(block))


def _ending_like(page: Page, data: bytes) -> bytes:
    """A file that had no newline at its end gets none."""
    if page.data in (b"", _BOM) or page.data.endswith((b"\n", b"\r")):
        return data
    return data.removesuffix(page.eol)


def _checked(data: bytes, meant: list[tuple[str, int, str]]) -> bytes:
    if page_of(data).outline() != meant:
        raise Unsafe(
            "the change would reach beyond its section",
            hint="close the fence or HTML block that is open, in the content or in the file before it",
        )
    return data


def _sections(lines: list[bytes]) -> tuple[Section, ...]:
    found = _headings(lines)
    starts = [start for start, *_ in found]
    sections = []
    above: list[tuple[int, str]] = []
    for position, (start, body, level, source) in enumerate(found):
        above = [one for one in above if one[0] < level]
        end = starts[position + 1] if position + 1 < len(found) else len(lines)
        last = next((one[0] for one in found[position + 1 :] if one[2] <= level), len(lines))
        sources = tuple(text for _, text in above)
        sections.append(Section(plain(source), source, level, start, body, end, last, sources))
        above.append((level, source))
    return tuple(sections)


def _headings(lines: list[bytes]) -> list[tuple[int, int, int, str]]:
    """First line, line after, level and source of every outermost heading."""
    texts = _decode(lines).removeprefix("\ufeff")
    skipped = _front_matter([_decode([line]).rstrip("\r\n") for line in lines])
    tokens = _BLOCKS.parse("\n" * skipped + "".join(_decode(lines[skipped:])) if skipped else texts)
    return [
        (*_span(token), int(token.tag[1:]), tokens[position + 1].content.strip())
        for position, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


def _front_matter(texts: list[str]) -> int:
    """How many lines at the top are metadata between `---` and `---` (or `...`), which is not Markdown."""
    if len(texts) < 3 or texts[0].removeprefix("\ufeff").rstrip(_BLANK) != "---" or not texts[1].strip(_BLANK):  # noqa: PLR2004
        return 0
    closing = (number for number, text in enumerate(texts[1:], 2) if text.rstrip(_BLANK) in ("---", "..."))
    return next(closing, 0)


def _span(token: Token) -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]


def _blank_around(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    texts = [number for number, line in enumerate(lines) if not _is_blank(line)]
    return lines[: texts[0]], lines[texts[-1] + 1 :]


def _has_text(lines: list[bytes]) -> bool:
    return not all(map(_is_blank, lines))


def _is_blank(line: bytes) -> bool:
    return not line.removeprefix(_BOM).strip(b" \t\r\n")


def _split(text: str, eol: bytes) -> list[bytes]:
    return [_encode(line) + eol for line in text.split("\n")] if text else []


def _eol_of(lines: list[bytes]) -> bytes:
    """How the first line ends."""
    first = lines[0] if lines else b""
    return first[len(first.rstrip(b"\r\n")) :] or b"\n"


def _decode(lines: list[bytes]) -> str:
    """Foreign bytes become U+FFFD, here and wherever the text is compared; in the file they stay what they are."""
    return b"".join(lines).decode("utf-8", "replace")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _words(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return "".join(_words(child) for child in token.children or [])
    return token.content if token.type in ("text", "code_inline") else ""


_INLINE = MarkdownIt("commonmark")
_BLOCKS = MarkdownIt("commonmark")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
