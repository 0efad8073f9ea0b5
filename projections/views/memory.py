"""`MEMORY.md`, of the user and of each project: what is known, one bullet per distinct fact, within a budget.

What there is room for is decided by the rank of each fact (`Group.rank`). The order of sections is fixed; within one,
the rank decides.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from shlex import quote
from typing import NamedTuple

from eventlog.events import KnowledgeEdited, order
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.bases.headings import plain
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.raw_html import as_text
from eventlog.projections.stamp import STAMP_BYTES, stamped
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.distinct_facts import DistinctFact, Statement, ranked
from eventlog.projections.state.fact_scopes import FactScope, fact_scopes
from eventlog.settings.schema import MemorySettings, Settings
from eventlog.store import project_slug
from eventlog.text import one_line, project_name, same_text

NOTES = "Notes"  # the section at the end that is a person's own
_NOTES = frozenset(("notes", "笔记"))  # what a person may call it
_NOTED = "knowledge/"
_DECISIONS, _PREFERENCES, _LESSONS, _KNOWLEDGE, _EXPERIENCE, _FREE = range(6)
_BY_TYPE = {"O": _PREFERENCES, "W": _KNOWLEDGE, "B": _EXPERIENCE}
_CLOSING = re.compile(r"\s+#+$")  # of an ATX heading: not read as a part of its text


class MemorySection(NamedTuple):
    """The section a bullet stands in; sections are shown in this order, free categories by name."""

    order: int
    name: str = ""


_AGENTS_NOTES = MemorySection(_FREE, "notes")
_HEADED = {
    "decisions": MemorySection(_DECISIONS),
    "preferences": MemorySection(_PREFERENCES),
    "lessons": MemorySection(_LESSONS),
    "knowledge": MemorySection(_KNOWLEDGE),
    "general": MemorySection(_KNOWLEDGE),
    "experience": MemorySection(_EXPERIENCE),
    "agents_notes": _AGENTS_NOTES,
}
_BY_CATEGORY = {
    **dict.fromkeys(("decision", "decisions", "决策", "关键决策"), MemorySection(_DECISIONS)),
    **dict.fromkeys(("preference", "preferences", "偏好"), MemorySection(_PREFERENCES)),
    **dict.fromkeys(("lesson", "lessons", "教训"), MemorySection(_LESSONS)),
    **{same_text(getattr(words, name)): section for words in LABELS.values() for name, section in _HEADED.items()},
}  # no free category has the title of another section, in whatever language


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render the user's file first, then those of the projects."""
    notes = _notes(state)
    known = state.once(fact_scopes)
    if not known or known[0].project:
        known = [FactScope(None, [], "", ()), *known]  # a person may have notes where nothing was ever stated
    for subject in known:
        own = notes.get(notes_path(_path(subject.project)))
        if subject.facts or (own and own.content is not None):
            yield _document(subject, settings, own)


def is_notes(title: str) -> bool:
    """Tell whether a section of that title, as people read it, is the person's own."""
    return same_text(plain(_CLOSING.sub("", title))) in _NOTES


def notes_path(path: str) -> str:
    """Return the name events about a person's notes have for the file."""
    return f"{_NOTED}{path}"


def _notes(state: Conversations) -> dict[str, KnowledgeEdited]:
    """Return the newest notes of each file, by what events call it."""
    withdrawn = state.withdrawn()
    in_order = sorted(state.notes, key=order)
    return {str(note.key.path): note for note in in_order if not withdrawn.hides(note)}


def _path(project: str | None) -> str:
    return f"projects/{project_slug(project)}/MEMORY.md" if project else "MEMORY.md"


def _document(subject: FactScope, settings: Settings, notes: KnowledgeEdited | None) -> Document:
    words = LABELS[settings.locale]
    titles = _titles(subject, words)
    groups = ranked(subject.facts)
    title = f"# {words.memory}" + (f": {_name(subject.project)}" if subject.project else "")
    spent = len(f"{title}\n{_more(len(groups), subject, words)}\n".encode()) + STAMP_BYTES + 3
    shown, left = _fit(groups, titles, settings.memory, spent)
    lines = [Line(title, _sources_of(groups, subject)), *_sections(shown, left, titles, subject)]
    if left:
        sources = _sources_of(left, subject)
        lines += [Line("", sources), Line(_more(len(left), subject, words), sources)]
    if notes and notes.content is not None:
        lines += [Line(text, (notes.id,)) for text in ("", f"## {notes.key.heading}", "", *notes.content.split("\n"))]
    return stamped(_path(subject.project), lines, max(subject.changed_at, notes.ts if notes else ""))


def _titles(subject: FactScope, words: Labels) -> dict[MemorySection, str]:
    """Return the heading of each section; a free one as its category was first spelled."""
    knowledge = words.knowledge if subject.project else words.general
    fixed = (words.decisions, words.preferences, words.lessons, knowledge, words.experience)
    titles = {MemorySection(order): title for order, title in enumerate(fixed)} | {_AGENTS_NOTES: words.agents_notes}
    statements = (statement for group in subject.facts for statement in group.statements)
    for statement in sorted(statements, key=order):
        titles.setdefault(_section_of(statement), as_text(_spelled(statement.category)))
    return titles


def _spelled(category: str) -> str:
    return category[:1].upper() + category[1:] if category == category.lower() else category


def _fit(
    groups: Iterable[DistinctFact], titles: Mapping[MemorySection, str], limits: MemorySettings, spent: int
) -> tuple[list[DistinctFact], list[DistinctFact]]:
    """Split facts by rank into those that fit the budget and the rest; headings and last lines count too."""
    lines = limits.max_lines - 5  # title, the line about what was left out, the stamp, and two empty ones
    size = limits.max_bytes - spent
    shown: list[DistinctFact] = []
    left: list[DistinctFact] = []
    headings: set[MemorySection] = set()
    for fact in groups:
        section = _section(fact)
        new = 0 if section in headings else 1
        bytes_needed = len(_bullet(fact).encode()) + 1 + new * len(f"\n## {titles[section]}\n\n".encode())
        if lines < 1 + 3 * new or size < bytes_needed:
            left.append(fact)
            continue
        lines, size = lines - 1 - 3 * new, size - bytes_needed
        headings.add(section)
        shown.append(fact)
    return shown, left


def _sections(
    shown: list[DistinctFact], left: list[DistinctFact], titles: Mapping[MemorySection, str], subject: FactScope
) -> Iterator[Line]:
    by_section: dict[MemorySection, list[DistinctFact]] = {}
    for fact in shown:
        by_section.setdefault(_section(fact), []).append(fact)
    for section, groups in sorted(by_section.items()):
        sources = _sources_of([*groups, *(fact for fact in left if _section(fact) == section)], subject)
        yield from (Line("", sources), Line(f"## {titles[section]}", sources), Line("", sources))
        yield from (Line(_bullet(fact), fact.sources) for fact in groups)


def _more(count: int, subject: FactScope, words: Labels) -> str:
    where = f" --project {quote(subject.project)}" if subject.project else ""
    return one_line(words.more.format(count=count, command=f"eventlog query --type fact --type stage_summary{where}"))


def _section(fact: DistinctFact) -> MemorySection:
    """Return the first section any of its statements belongs to."""
    return min(_section_of(statement) for statement in fact.statements)


def _section_of(statement: Statement) -> MemorySection:
    if not statement.category:
        return MemorySection(_BY_TYPE[statement.memory_type])
    return _of_category(statement.category)


@lru_cache(maxsize=4096)
def _of_category(category: str) -> MemorySection:
    if is_notes(category):
        return _AGENTS_NOTES
    name = same_text(category)
    return _BY_CATEGORY.get(name, MemorySection(_FREE, name))


def _bullet(fact: DistinctFact) -> str:
    return f"- [{fact.first.ts[:10]}] {as_text(fact.first.text)}"


def _sources_of(groups: Iterable[DistinctFact], subject: FactScope) -> tuple[str, ...]:
    """Return the ids of all events that support these facts or were superseded by them."""
    return tuple(dict.fromkeys((*(event for fact in groups for event in fact.sources), *subject.superseded)))


def _name(project: str) -> str:
    return as_text(project_name(project))


MEMORY = Projection(name="memory", state=Conversations, render=render, owns=("MEMORY.md", "projects/*/MEMORY.md"))
