"""Surgery on sections: one changes, everything else stays byte for byte; pure.

Every result is parsed again before it is returned: where anything but the addressed section would be read differently
(an unclosed fence, a heading in the content), nothing is changed and Unsafe is raised.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from eventlog.fast.fastjson import BOM
from eventlog.projections.bases.sections import (
    Ambiguous,
    Page,
    Section,
    Unsafe,
    ambiguity,
    canonical,
    decode,
    encode,
    is_blank,
    is_part,
    is_whole,
    names,
    page_of,
    plain,
)


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


def _with_body(page: Page, found: Section, text: str) -> bytes:
    """Replace the body; blank lines around the old one stay, and where there was none, one separates."""
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


def without(page: Page, found: Section, *, subsections: bool) -> bytes:
    """Cut the lines of a section of the page; raises Unsafe."""
    end = found.last if subsections else found.end
    outline = page.outline()
    kept = [
        said for section, said in zip(page.sections, outline[1:], strict=True) if not found.start <= section.start < end
    ]
    meant = [outline[0], *kept]
    before, after = b"".join(page.lines[: found.start]), b"".join(page.lines[end:])
    if page.data.startswith(BOM) and not before:
        before = BOM
    try:
        return _checked(before + after, meant)
    except Unsafe:  # the text before must not run into the text after
        return _checked(before + page.eol + after, meant)


def taken_back(page: Page, found: Section) -> bytes:
    """Cut a section that `insert` made, with the blank line it put before it at the end of a file; raises Unsafe."""
    data = without(page, found, subsections=False)
    if found.end < len(page.lines) or not found.start or not is_blank(page.lines[found.start - 1]):
        return data
    ended = page.data.endswith((b"\n", b"\r"))
    shorter = b"".join(page.lines[: found.start - 1])
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
) -> bytes:
    """Create a section with this body, and with subsections as they are written; raises Unsafe.

    It comes to the line `at`, else last in what it is to stand under, but before any heading of a smaller level that
    would take it in.
    """
    text = canonical(content)
    inner = Page(encode("\n\n".join(filter(None, (f"{'#' * level} {heading.strip()}", text, canonical(below))))))
    line = _place(page, level, under) if at is None else at
    position = sum(section.start < line for section in page.sections) + 1
    meant = [*page.outline()[:position], *inner.outline()[1:], *page.outline()[position:]]
    if not inner.sections or inner.outline()[1][::2] != (plain(heading), text):
        raise Unsafe("the section cannot be written so that it is read back as it is")
    block = [encode(line) + page.eol for line in canonical(decode(inner.lines)).split("\n")]
    if line == len(page.lines):
        return _checked(_appended(page, block), meant)
    before, after = page.lines[:line], page.lines[line:]
    gap = [page.eol] if before and not is_blank(before[-1]) else []
    return _checked(b"".join([*before, *gap, *block, page.eol, *after]), meant)


def _place(page: Page, level: int, under: Sequence[str] | None) -> int:
    """Find the line a new section of that level goes to; raises Unsafe."""
    if under is None:
        return len(page.lines)
    parent = _parent(page, level, under) if under else None
    stop = parent.last if parent else len(page.lines)
    inside = [
        section
        for section in page.sections
        if section.start < stop and (parent is None or section.start > parent.start)
    ]
    return next((section.start for section in inside if section.level < level), stop)


def _parent(page: Page, level: int, under: Sequence[str]) -> Section:
    *above, name = under
    named = [section for section in page.sections if section.level < level and names(name, section.source)]
    found = [section for section in named if is_part(above, section.above)]
    found = [section for section in found if is_whole(above, section.above)] or found
    if len(found) > 1:
        raise Ambiguous(ambiguity(found))
    if not found:
        raise Unsafe(f"there is no section {name!r} to put it under")
    return found[0]


def _appended(page: Page, block: list[bytes]) -> bytes:
    """Append a section after one blank line; the heading stands as it was given."""
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


def _checked(data: bytes, meant: list[tuple[str, int, str]]) -> bytes:
    if page_of(data).outline() != meant:
        raise Unsafe(
            "the change would reach beyond its section",
            hint="close the fence or HTML block that is open, in the content or in the file before it",
        )
    return data


def _blank_around(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    texts = [number for number, line in enumerate(lines) if not is_blank(line)]
    return lines[: texts[0]], lines[texts[-1] + 1 :]


def _has_text(lines: list[bytes]) -> bool:
    return not all(map(is_blank, lines))


def _split(text: str, eol: bytes) -> list[bytes]:
    return [encode(line) + eol for line in text.split("\n")] if text else []


_DOUBTFUL = re.compile(r"[#`~<=]|^[ \t]*-[- \t]*$", re.MULTILINE)  # all else can open nothing
_HEADING_CHARS = 500


def refusal(heading: str, level: int, content: str | None) -> str | None:
    """Return the reason why such a section can be written into no file; None where it can."""
    return refused_heading(heading, level) or refused_content(content or "")


@lru_cache(maxsize=4096)
def refused_heading(heading: str, level: int) -> str | None:
    """Return the reason why no section can have such a heading; None where it can."""
    if "\0" in heading or "\n" in heading.strip() or "\r" in heading.strip() or len(heading) > _HEADING_CHARS:
        return f"a heading is one line of at most {_HEADING_CHARS} characters"
    if not _can(lambda: update(b"", heading, level, "")):
        return "the heading cannot be written so that it is read back as it is"
    return None


@lru_cache(maxsize=4096)
def refused_content(content: str) -> str | None:
    """Return the reason why no section can say that; None where it can."""
    if "\0" in content:
        return "a NUL character in the content is not text"
    if not _DOUBTFUL.search(canonical(content)):
        return None
    if inner := Page(content.encode(errors="replace")).sections:
        return f"the content has a heading in line {inner[0].start + 1}; plan one entry for each heading"
    if not _can(lambda: update(b"## X\n\n# After\n", "X", 2, content)):
        return "the content would swallow what follows: it leaves a fence or an HTML block open"
    return None


def _can(change: Callable[[], object]) -> bool:
    try:
        change()
    except Unsafe:
        return False
    return True
