"""Section surgery on Markdown files: one section changes, everything else stays byte for byte; pure.

A section is a heading of CommonMark (ATX or setext) that stands at the outermost level of the document: not inside a
fence, HTML, front matter, a list or a quotation. Its body ends at the next such heading of any level, so a section is
changed without touching its subsections. Of several sections with the same heading and level the first counts.

Every result is parsed again before it is returned: where anything but the addressed section would be read
differently (an unclosed fence, a heading in the content), nothing is changed and Unsafe is raised.
"""

import hashlib
import re
import unicodedata
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


class Unsafe(BadRequest):
    """The change would reach beyond its section, or would not be read back as it was meant."""


class Section(NamedTuple):
    """A section of a page: its heading as plain text, and the lines where heading, body and subsections end."""

    heading: str
    source: str  # the heading as written
    level: int
    start: int
    body: int
    end: int
    last: int


class Page:
    """A Markdown file taken apart; nothing is lost: the lines together are the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines: list[bytes] = _LINES.findall(data)
        self.eol = _eol_of(self.lines)
        self.sections = _sections(self.lines)

    def find(self, heading: str, level: int) -> Section | None:
        """The first section with that heading, best one written exactly like it."""
        name = plain(heading)
        found = [one for one in self.sections if one.level == level and one.heading == name]
        exact = (one for one in found if one.source == heading.strip())
        return next(exact, found[0] if found else None)

    def text(self, section: Section) -> str:
        """The body as `canonical` text."""
        return canonical(_decode(self.lines[section.body : section.end]))

    def below(self, section: Section) -> list[Section]:
        """Its subsections, at any depth."""
        return [one for one in self.sections if section.start < one.start < section.last]

    def outline(self) -> list[tuple[str, int, str]]:
        """What the page says, in order: text before the first heading, then every section."""
        first = self.sections[0].start if self.sections else len(self.lines)
        preamble = ("", 0, canonical(_decode(self.lines[:first]).removeprefix("\ufeff")))
        return [preamble, *((one.heading, one.level, self.text(one)) for one in self.sections)]


def body_of(data: bytes, heading: str, level: int) -> str | None:
    """The canonical text of a section; None where there is no such section."""
    page = Page(data)
    found = page.find(heading, level)
    return page.text(found) if found else None


def update(data: bytes, heading: str, level: int, content: str) -> bytes:
    """The file with this text as the body of the section, created at the end where it is missing; raises Unsafe."""
    page, text = Page(data), canonical(content)
    found = page.find(heading, level)
    if found is None:
        meant = [*page.outline(), (plain(heading), level, text)]
        return _checked(_appended(page, heading, level, text), meant)
    if page.text(found) == text:
        return data
    meant = page.outline()
    meant[page.sections.index(found) + 1] = (found.heading, level, text)
    return _checked(_with_body(page, found, text), meant)


def clear(data: bytes, heading: str, level: int) -> bytes:
    """The file with an empty body under the heading, which is created where it is missing; raises Unsafe."""
    return update(data, heading, level, "")


def delete(data: bytes, heading: str, level: int, *, subsections: bool = True) -> bytes:
    """The file without the section, and without its subsections unless they are to stay; raises Unsafe."""
    page = Page(data)
    found = page.find(heading, level)
    if found is None:
        return data
    end = found.last if subsections else found.end
    meant = [page.outline()[0]]
    meant += [
        entry
        for one, entry in zip(page.sections, page.outline()[1:], strict=True)
        if not found.start <= one.start < end
    ]
    before, after = b"".join(page.lines[: found.start]), b"".join(page.lines[end:])
    try:
        return _checked(before + after, meant)
    except Unsafe:  # the text before must not run into the text after
        return _checked(before + page.eol + after, meant)


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
    source = _SPACE.sub(" ", heading).strip()
    children = _INLINE.parseInline(source)[0].children or []
    words = "".join(_words(token) for token in children)
    return unicodedata.normalize("NFC", _SPACE.sub(" ", words).strip() or source)


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


def _appended(page: Page, heading: str, level: int, text: str) -> bytes:
    """A new section after one blank line; the heading stands as it was given."""
    before = page.data
    if page.lines and page.data != _BOM:
        before += b"" if before.endswith((b"\n", b"\r")) else page.eol
        before += b"" if _is_blank(page.lines[-1]) else page.eol
    title = _encode("#" * level + " " + heading.strip()) + page.eol
    body = [page.eol, *_split(text, page.eol)] if text else []
    return _ending_like(page, before + title + b"".join(body))


def _ending_like(page: Page, data: bytes) -> bytes:
    """A file that had no newline at its end gets none."""
    if page.data in (b"", _BOM) or page.data.endswith((b"\n", b"\r")):
        return data
    return data.removesuffix(page.eol)


def _checked(data: bytes, meant: list[tuple[str, int, str]]) -> bytes:
    if Page(data).outline() != meant:
        raise Unsafe(
            "the change would reach beyond its section",
            hint="close the fence or HTML block that is open, in the content or in the file before it",
        )
    return data


def _sections(lines: list[bytes]) -> tuple[Section, ...]:
    found = _headings(lines)
    starts = [start for start, *_ in found]
    sections = []
    for position, (start, body, level, source) in enumerate(found):
        end = starts[position + 1] if position + 1 < len(found) else len(lines)
        last = next((one[0] for one in found[position + 1 :] if one[2] <= level), len(lines))
        sections.append(Section(plain(source), source, level, start, body, end, last))
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
