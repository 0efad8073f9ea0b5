"""Edits of one section of a Markdown file, and texts that no edit can write; pure.

Everything outside the section stays byte for byte. Every result is parsed again before it is returned: where anything
but the addressed section would be read differently (an unclosed fence, a heading in the content), Unsafe is raised.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from eventlog.fast.fastjson import BOM
from eventlog.projections.bases.sections import (
    Ambiguous,
    Page,
    Section,
    Unsafe,
    canonical,
    decode,
    is_blank,
    page_of,
    plain,
)

_SUSPECT = re.compile(r"[#`~<=]|^[ \t]*-[- \t]*$", re.MULTILINE)  # no other character can open a block
_HEADING_CHARS = 500
_Outline = list[tuple[str, int, str]]


def update(data: bytes, heading: str, level: int, content: str, under: Sequence[str] | None = None) -> bytes:
    """Set the body of a section; raises Unsafe.

    Creates a missing section at the end of the file, or of the section that `under` names.
    """
    page = page_of(data)
    found = page.candidates(heading, level, under)
    if len(found) > 1:
        raise Ambiguous(found, hint="name headings above the one that is meant with `under`")
    return with_body(page, found[0], content) if found else insert(page, heading, level, content, under)


def with_body(page: Page, section: Section, content: str) -> bytes:
    """Set the body of a section of the page; raises Unsafe."""
    text = canonical(content)
    if page.text(section) == text:
        return page.data
    expected = page.outline()
    expected[page.sections.index(section) + 1] = (section.heading, section.level, text)
    return _checked(_with_body(page, section, text), expected)


def _with_body(page: Page, section: Section, text: str) -> bytes:
    """Replace the body; blank lines around the old body stay, and an empty body gets a blank line before its first."""
    old = page.lines[section.body : section.end]
    texts = [number for number, line in enumerate(old) if not is_blank(line)]
    lead, tail = (old[: texts[0]], old[texts[-1] + 1 :]) if texts else ([page.eol], [])
    is_last = section.end == len(page.lines)
    body = [*lead, *(_encode(line) + page.eol for line in text.split("\n"))] if text else []
    body += tail or [page.eol] * (not is_last)
    before = b"".join(page.lines[: section.body])
    before += page.eol if body and not before.endswith((b"\n", b"\r")) else b""
    changed = before + b"".join(body)
    return _ending_like(page, changed) if is_last else changed + b"".join(page.lines[section.end :])


def without(page: Page, section: Section, *, subsections: bool) -> bytes:
    """Remove a section of the page, and its subsections if asked; raises Unsafe."""
    end = section.last if subsections else section.end
    preamble, *bodies = page.outline()
    pairs = zip(page.sections, bodies, strict=True)
    expected = [preamble, *(body for other, body in pairs if not section.start <= other.start < end)]
    before, after = b"".join(page.lines[: section.start]), b"".join(page.lines[end:])
    if page.data.startswith(BOM) and not before:
        before = BOM
    try:
        return _checked(before + after, expected)
    except Unsafe:  # the text before must not run into the text after
        return _checked(before + page.eol + after, expected)


def taken_back(page: Page, section: Section, blank: int | None = None) -> bytes:
    """Remove a section; at the end of a file as many `blank` lines stay as before it came; raises Unsafe.

    None: nobody knows; the blank line goes that `insert` puts before a section.
    """
    data = without(page, section, subsections=False)
    lines = page.lines[: section.start]
    if not page.is_last(section) or not lines or not is_blank(lines[-1]):
        return data
    if blank is None:
        lines.pop()
    else:
        texts = next((at for at in range(len(lines), 0, -1) if not is_blank(lines[at - 1])), 0)
        lines = [*lines, *[page.eol] * blank][: texts + blank]
    shorter = b"".join(lines)
    ended = page.data.endswith((b"\n", b"\r"))
    return _checked(shorter if ended else shorter.rstrip(b"\r\n"), page_of(data).outline())


def insert(
    page: Page,
    heading: str,
    level: int,
    content: str,
    under: Sequence[str] | None = None,
    below: str = "",
    *,
    at: int | None = None,
    blank: int = 0,
) -> bytes:
    """Create a section with this body, and with subsections as written in `below`; raises Unsafe.

    Inserts it at the line `at`, else last in the section it is to stand under, but before any heading of a smaller
    level that would capture it. Where it comes last in the file, `blank` lines follow.
    """
    text = canonical(content)
    inner = page_of(_encode("\n\n".join(filter(None, (f"{'#' * level} {heading.strip()}", text, canonical(below))))))
    line = _line_of_new(page, level, under) if at is None else at
    position = sum(section.start < line for section in page.sections) + 1
    expected = [*page.outline()[:position], *inner.outline()[1:], *page.outline()[position:]]
    if not inner.sections or inner.outline()[1][::2] != (plain(heading), text):
        raise Unsafe("the section cannot be written so that it is read back as it is")
    block = [_encode(line) + page.eol for line in canonical(decode(inner.lines)).split("\n")]
    if line == len(page.lines):
        return _checked(_appended(page, [*block, *[page.eol] * blank]), expected)
    before, after = page.lines[:line], page.lines[line:]
    gap = [page.eol] if before and not is_blank(before[-1]) else []
    return _checked(b"".join([*before, *gap, *block, page.eol, *after]), expected)


@lru_cache(maxsize=4096)
def refused_heading(heading: str, level: int) -> str | None:
    """Return why no file can have a section with such a heading; None if one can."""
    if "\0" in heading or "\n" in heading.strip() or "\r" in heading.strip() or len(heading) > _HEADING_CHARS:
        return f"a heading is one line of at most {_HEADING_CHARS} characters"
    if not _is_safe(b"", heading, level, ""):
        return "the heading cannot be written so that it is read back as it is"
    return None


@lru_cache(maxsize=4096)
def refused_content(content: str) -> str | None:
    """Return why no section can have this content; None if one can."""
    if "\0" in content:
        return "a NUL character in the content is not text"
    if not _SUSPECT.search(canonical(content)):
        return None
    if inner := page_of(content.encode(errors="replace")).sections:
        return f"the content has a heading in line {inner[0].start + 1}; plan one entry for each heading"
    if not _is_safe(b"## X\n\n# After\n", "X", 2, content):
        return "the content would swallow what follows: it leaves a fence or an HTML block open"
    return None


def _is_safe(data: bytes, heading: str, level: int, content: str) -> bool:
    try:
        update(data, heading, level, content)
    except Unsafe:
        return False
    return True


def _line_of_new(page: Page, level: int, under: Sequence[str] | None) -> int:
    """Find the line at which to insert a new section of the level; raises Unsafe."""
    if under is None:
        return len(page.lines)
    parents = page.parents(level, under) if under else []
    if len(parents) > 1:
        raise Ambiguous(parents)
    if under and not parents:
        raise Unsafe(f"there is no section {under[-1]!r} to put it under")
    start, stop = (parents[0].start, parents[0].last) if parents else (-1, len(page.lines))
    inside = (section for section in page.sections if start < section.start < stop)
    return next((section.start for section in inside if section.level < level), stop)


def _appended(page: Page, block: list[bytes]) -> bytes:
    """Append a section after one blank line."""
    before = page.data
    if page.lines and page.data != BOM:
        before += b"" if before.endswith((b"\n", b"\r")) else page.eol
        before += b"" if is_blank(page.lines[-1]) else page.eol
    return _ending_like(page, before + b"".join(block))


def _ending_like(page: Page, data: bytes) -> bytes:
    """Cut the last newline where the file had none at its end."""
    if page.data in (b"", BOM) or page.data.endswith((b"\n", b"\r")):
        return data
    return data.removesuffix(page.eol)


def _encode(text: str) -> bytes:
    """Encode as UTF-8; a lone surrogate becomes `?`."""
    return text.encode("utf-8", "replace")


def _checked(data: bytes, expected: _Outline) -> bytes:
    """Return the result if it reads as expected; raises Unsafe."""
    if page_of(data).outline() != expected:
        hint = "close the fence or HTML block that is open, in the content or in the file before it"
        raise Unsafe("the change would reach beyond its section", hint=hint)
    return data
