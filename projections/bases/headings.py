"""Headings of CommonMark in the lines of a file; pure.

Only those at the outermost level of the document: not inside a fence, HTML, front matter, a list or a quotation.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from eventlog.fast.fastjson import BOM

if TYPE_CHECKING:  # imported with the first heading: most commands never see one
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as CommonMark ends lines: no form feeds, no U+2028
_SPACE = re.compile(r"\s+")
BLANK = " \t"


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
    if len(texts) < 3 or texts[0].removeprefix("\ufeff").rstrip(BLANK) != "---" or not texts[1].strip(BLANK):  # noqa: PLR2004
        return 0
    closing = (number for number, text in enumerate(texts[1:], 2) if text.rstrip(BLANK) in ("---", "..."))
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
