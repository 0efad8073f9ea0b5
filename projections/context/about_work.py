"""Lines of a session's work: what bears on its branch and files, and how to look up the rest; pure."""

from collections.abc import Iterator, Sequence

from eventlog.projections.base import Line
from eventlog.projections.context.budget import ContextSection
from eventlog.projections.context.sources import ContextSources
from eventlog.projections.context.work_at_hand import Bearing
from eventlog.projections.raw_html import as_text
from eventlog.text import cut, one_line

_BRANCH_CHARS, _SESSION_CHARS, _FILES = 60, 300, 6


def on_what(parts: ContextSources) -> str:
    """Name the branch, or that it is the files, for a title."""
    branch = cut(one_line(parts.request.work.branch), _BRANCH_CHARS)
    return parts.words.on_branch.format(branch=branch) if branch else parts.words.on_files


def bearing_lines(parts: ContextSources) -> Iterator[Line]:
    """Tell what bears on the work; of a session what it came to, and the files it changed."""
    for bearing in parts.bearings:
        day = parts.local(bearing.ts)[:10]
        if bearing.memory_type:
            yield Line(f"- [{bearing.memory_type}][{day}] {_plain(bearing.text)}", bearing.sources)
        else:
            yield from (Line(f"- [{day}] {text}", bearing.sources) for text in _of_session(bearing, parts) if text)


def look_up(parts: ContextSources, rest: Sequence[ContextSection]) -> Iterator[Line]:
    """Tell in one line how to find what is not told, where there is anything; others than the user are not told."""
    if parts.shared or not (parts.index or any(section.lines for section in rest)):
        return
    words, request = parts.words, parts.request
    command = words.search.format(command=f"{request.program} search{request.store_option}")
    keywords = words.keywords.format(path=parts.index) if parts.index else ""
    yield Line(f"{command}{keywords}{words.full_stop}")


def _of_session(bearing: Bearing, parts: ContextSources) -> Iterator[str]:
    yield _plain(bearing.topic)
    yield cut(_plain(bearing.text), _SESSION_CHARS)
    yield from map(_plain, bearing.decisions)
    if bearing.files:
        yield parts.words.files.format(files=_plain(", ".join(bearing.files[:_FILES])))


def _plain(text: str) -> str:
    return as_text(one_line(text))
