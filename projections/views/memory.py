"""`MEMORY.md`, of the user and of each project: a bullet for each distinct fact, within a budget.

The rank of each fact (`DistinctFact.rank`) decides which facts fit, and their order within a section, where a newer
fact stands before the older one that it opposes. The order of sections is fixed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from eventlog.format.events import KnowledgeEdited
from eventlog.format.text import last_mention, one_line, project_name, same_text
from eventlog.format.timestamps import order
from eventlog.projections.base import Document, Line, Projection, Sources, View
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import STATED, FactScope, Statement, fact_scope
from eventlog.projections.current.identity import Identities
from eventlog.projections.search.opposed import newer_first
from eventlog.projections.views.labels import LABELS, Labels, all_for
from eventlog.projections.views.markdown import STAMP_BYTES, as_text, stamped
from eventlog.settings.schema import MemorySettings, Settings

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

NOTES = "Notes"  # the section at the end that is a person's own
_NOTES = frozenset(("notes", "笔记"))  # what a person may call it
_NOTED = "knowledge/"
_FILE = "MEMORY.md"
_MIN = len("- [2026-02-15] \n")
_DECISIONS, _PREFERENCES, _LESSONS, _KNOWLEDGE, _EXPERIENCE, _FREE = range(6)
_BY_TYPE = {"O": _PREFERENCES, "W": _KNOWLEDGE, "B": _EXPERIENCE}
_CLOSING = re.compile(r"\s+#+$")  # of an ATX heading: not read as a part of its text


class _MemorySection(NamedTuple):
    """The section a bullet stands in; sections are shown in this order, free categories by name."""

    order: int
    name: str = ""


_AGENTS_NOTES = _MemorySection(_FREE, "notes")
_HEADED = {
    "decisions": _MemorySection(_DECISIONS),
    "preferences": _MemorySection(_PREFERENCES),
    "lessons": _MemorySection(_LESSONS),
    "knowledge": _MemorySection(_KNOWLEDGE),
    "general": _MemorySection(_KNOWLEDGE),
    "experience": _MemorySection(_EXPERIENCE),
    "agents_notes": _AGENTS_NOTES,
}
_BY_CATEGORY = {
    **dict.fromkeys(all_for("decision"), _MemorySection(_DECISIONS)),
    **dict.fromkeys(all_for("preference"), _MemorySection(_PREFERENCES)),
    **dict.fromkeys(all_for("lesson"), _MemorySection(_LESSONS)),
    **{same_text(getattr(words, name)): section for words in LABELS.values() for name, section in _HEADED.items()},
}  # no free category has the title of another section, in whatever language


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the file of the user, or of the project of that name, if it has facts or a person's notes."""
    subject = index.memo(fact_scope, name)
    path = index.identities.document(name, _FILE)
    own = index.notes.get(notes_path(path))
    if subject.facts or (own and own.content is not None and (subject.rows or not name)):
        yield index.store_sources(_document(path, subject, index.settings, own))


def is_notes(title: str) -> bool:
    """Return whether a section of that title, as people read it, is the person's own."""
    if not title.replace(" ", "").isalnum():
        from eventlog.projections.bases.sections import plain  # most are words, and a parser of Markdown takes its time

        title = plain(_CLOSING.sub("", title))
    return same_text(title) in _NOTES


def notes_path(path: str) -> str:
    """Return the name events about a person's notes have for the file."""
    return f"{_NOTED}{path}"


def note_units(
    before: Mapping[str, KnowledgeEdited], now: Mapping[str, KnowledgeEdited], names: Iterable[str], known: Identities
) -> list[tuple[str, str]]:
    """Name the files of which a person's notes are others than they were."""
    differing = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    return [("memory", name) for name in names if differing and notes_path(known.document(name, _FILE)) in differing]


def _document(path: str, subject: FactScope, settings: Settings, notes: KnowledgeEdited | None) -> Document:
    words = LABELS[settings.locale]
    titles = _titles(subject, words)
    groups = subject.ranked
    title = f"# {words.memory}" + (f": {as_text(project_name(subject.project))}" if subject.project else "")
    spent = len(f"{title}\n{_more(len(groups), subject, words)}\n".encode()) + STAMP_BYTES + 3
    shown, remaining = _fit(subject, titles, settings.memory, spent)
    dated = [("", "" if fact.first.key else fact.first.text, fact.last_seen) for fact in shown]  # a key replaces
    order = newer_first(dated, {fact.first.text for fact in shown if subject.is_doubtful(fact)})
    lines = [
        Line(title, find=partial(_sources_of, groups, subject)),
        *_sections(shown, order, remaining, titles, subject),
    ]
    if remaining:
        sources = partial(_sources_of, remaining, subject)
        lines += [Line("", find=sources), Line(_more(len(remaining), subject, words), find=sources)]
    if notes and notes.content is not None:
        lines += [Line(text, (notes.id,)) for text in ("", f"## {notes.key.heading}", "", *notes.content.split("\n"))]
    return stamped(path, lines, max(subject.changed_at, notes.ts if notes else ""))


def _titles(subject: FactScope, words: Labels) -> dict[_MemorySection, str]:
    """Return the heading of each section; that of a free section as its category was first spelled."""
    knowledge = words.knowledge if subject.project else words.general
    fixed = (words.decisions, words.preferences, words.lessons, knowledge, words.experience)
    titles = {_MemorySection(order): title for order, title in enumerate(fixed)} | {_AGENTS_NOTES: words.agents_notes}
    first: dict[_MemorySection, Statement] = {}
    for statement in (stated for group in subject.facts for stated in group.statements if stated.category):
        section = _of_category(statement.category)
        if section not in titles:
            first[section] = min(first.get(section, statement), statement, key=order)
    named = [(section, statement.category) for section, statement in first.items()]
    spelled = ((at, name[:1].upper() + name[1:] if name == name.lower() else name) for at, name in named)
    return titles | {section: as_text(name) for section, name in spelled}


def _fit(
    subject: FactScope, titles: Mapping[_MemorySection, str], limits: MemorySettings, spent: int
) -> tuple[list[DistinctFact], list[DistinctFact]]:
    """Split facts by rank into those that fit the budget and the rest; headings and last lines count too."""
    lines = limits.max_lines - 5  # title, the line about what was left out, the stamp, and two empty ones
    size = limits.max_bytes - spent
    shown: list[DistinctFact] = []
    remaining: list[DistinctFact] = []
    headings: set[_MemorySection] = set()
    for position, fact in enumerate(subject.ranked):
        if lines < 1:
            return shown, remaining + subject.ranked[position:]
        if size < _MIN + len(fact.first.text):  # in bytes it is more
            remaining.append(fact)
            continue
        section = _section(fact)
        new = 0 if section in headings else 1
        heading = new * len(f"\n## {titles[section]}\n\n".encode())
        bytes_needed = len(_bullet(fact, subject).encode()) + 1 + heading
        if lines < 1 + 3 * new or size < bytes_needed:
            remaining.append(fact)
            continue
        lines, size = lines - 1 - 3 * new, size - bytes_needed
        headings.add(section)
        shown.append(fact)
    return shown, remaining


def _sections(
    shown: list[DistinctFact],
    order: Mapping[int, Iterable[int]],
    remaining: list[DistinctFact],
    titles: Mapping[_MemorySection, str],
    subject: FactScope,
) -> Iterator[Line]:
    """Yield the lines of each section; a fact stands below the newer fact that opposes it, in the section of that."""
    place: dict[int, _MemorySection] = {}
    by_section: dict[_MemorySection, list[DistinctFact]] = {}
    for at, opposed in order.items():
        section = place.setdefault(at, _section(shown[at]))
        by_section.setdefault(section, []).append(shown[at])
        for older in opposed:
            place.setdefault(older, section)
    for section, groups in sorted(by_section.items()):
        sources = partial(_sources_of, groups, subject, remaining, section)
        yield from (Line(text, find=sources) for text in ("", f"## {titles[section]}", ""))
        yield from (Line(_bullet(fact, subject), fact.sources) for fact in groups)


def _more(count: int, subject: FactScope, words: Labels) -> str:
    where = ""
    if subject.project:
        from shlex import quote  # loaded where a file is of a project

        where = f" --project {quote(subject.project)}"
    return one_line(words.more.format(count=count, command=f"eventlog query --type fact --type stage_summary{where}"))


def _section(fact: DistinctFact) -> _MemorySection:
    """Return the first section any of its statements belongs to."""
    return min(section_of(statement) for statement in fact.statements)


def section_of(statement: Statement) -> _MemorySection:
    """Find the section a statement belongs to; they are shown in their order."""
    if not statement.category:
        return _MemorySection(_BY_TYPE[statement.memory_type])
    return _of_category(statement.category)


@lru_cache(maxsize=4096)
def _of_category(category: str) -> _MemorySection:
    if is_notes(category):
        return _AGENTS_NOTES
    name = same_text(category)
    return _BY_CATEGORY.get(name, _MemorySection(_FREE, name))


def _bullet(fact: DistinctFact, subject: FactScope) -> str:
    """Write a fact in its first wording, with its last day and how often it was repeated."""
    day = last_mention(subject.local(fact.last_seen), len(fact.statements), is_doubtful=subject.is_doubtful(fact))
    return f"- [{day}] {as_text(fact.first.text)}"


def _sources_of(
    groups: list[DistinctFact],
    subject: FactScope,
    remaining: Iterable[DistinctFact] = (),
    of: _MemorySection | None = None,
) -> Sources:
    """Find all events that support these facts, those of a section that are left out, and what they superseded."""
    facts = [*groups, *(fact for fact in remaining if _section(fact) == of)]
    return tuple(dict.fromkeys((*(event for fact in facts for event in fact.sources), *subject.superseded))), ()


_VIEW = View((STATED,), _render, top=True, of_rows=True)
_OWNS = ("MEMORY.md", "projects/*/MEMORY.md")
MEMORY = Projection("memory", Conversations, None, _OWNS, view=_VIEW)
