"""Check that a text can be written into a section of any file and is read back as it was meant; pure."""

import re
from collections.abc import Callable
from functools import lru_cache

from eventlog.projections.bases.section_edits import update
from eventlog.projections.bases.sections import Page, Unsafe, canonical

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
