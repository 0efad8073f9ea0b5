"""The start of a session as it was before branches and to-dos counted: the arm that is to be beaten.

What is newest comes first: recent facts, memory files from their beginning, whole summaries, the index; each with the
room it had then.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eventlog.app.open_store import OpenStore
from eventlog.app.serve.session_context import session_context
from eventlog.projections.base import Line
from eventlog.projections.context.agent_context import ContextFile
from eventlog.projections.context.budget import ContextSection, fit
from eventlog.projections.context.once import without_repetitions
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.context.sources import ContextSources
from eventlog.projections.views.markdown import is_stamp

if TYPE_CHECKING:
    from eventlog.projections.context.context_files import LoadResult

_INDEX, _SUMMARY, _FACTS, _PROJECT, _USER, _NOTES = range(6)  # what mattered most
_LOOK_THERE = "Keywords of all that is known here: {path}; look there for what is not told above."


def earlier(opened: OpenStore, request: ContextRequest, budget: int) -> str:
    """The text for a home without files."""
    parts = session_context(opened, request).parts
    made = list(_sections(parts))
    ranks = [-1 if section.priority == _FACTS else section.priority for section in made]
    told = [section for section in without_repetitions(made, ranks, request.project_name) if section.lines]
    return fit("", told, budget, parts.words, "eventlog context").text


def _sections(parts: ContextSources) -> Iterator[ContextSection]:
    for day, lines in parts.notes:
        yield ContextSection(f"Notes of {day}", tuple(line for line in lines[1:] if line.text), _NOTES)
    facts = ((fact.statements[-1], fact.sources) for fact in parts.facts)
    bullets = (Line(f"- [{said.memory_type}][{said.ts[:10]}] {said.text}", behind) for said, behind in facts)
    yield ContextSection(parts.words.facts, tuple(bullets), _FACTS)
    yield from (_memory(file, result, parts) for file, result in parts.loaded if file.name == "MEMORY.md")
    for title, lines in ((parts.words.last_session, parts.last), (parts.words.sessions, parts.sessions)):
        yield ContextSection(title, tuple(lines), _SUMMARY)
    if parts.index:
        yield ContextSection("Index", (Line(_LOOK_THERE.format(path=parts.index)),), _INDEX)


def _memory(file: ContextFile, result: "LoadResult", parts: ContextSources) -> ContextSection:
    of_project = "/projects/" in file.path
    title = parts.words.project_memory if of_project else parts.words.user_memory
    kept_lines = (line for line in (result.content or "").split("\n") if line[:2] != "# " and not is_stamp(line))
    text = "\n".join(kept_lines).strip("\n")
    lines = tuple(map(Line, text.split("\n"))) if text else ()
    return ContextSection(title, lines, _PROJECT if of_project else _USER, f"cat {file.path}")
