"""`MEMORY.md`, of the user and of each project: what is known, one bullet per distinct fact, within a budget.

Ranked by importance, number of conversations that stated it, recency against the newest event of the file (in days),
confidence; ties by time and id. The order of sections is fixed; within one, the rank decides.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import PurePath
from shlex import quote
from typing import NamedTuple

from eventlog.events import KnowledgeEdited
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.conversations import Conversations
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.markdown_file import STAMP_BYTES, certified
from eventlog.projections.statements import Group, Statement, Subject, subjects
from eventlog.settings import MemorySettings, Settings
from eventlog.store import project_slug
from eventlog.text import one_line

NOTES = "Notes"  # the section at the end that is a person's own, in every language
_NOTED = "knowledge/"
_BY_CATEGORY = {
    **dict.fromkeys(("decision", "decisions", "决策", "重要决策", "关键决策"), 0),
    **dict.fromkeys(("preference", "preferences", "偏好", "用户偏好"), 1),
    **dict.fromkeys(("lesson", "lessons", "经验教训", "教训"), 2),
}
_BY_TYPE = {"O": 1, "W": 3, "B": 4}
_FREE = 5


class Section(NamedTuple):
    """Where a bullet stands; sections are shown in this order, free categories by name."""

    order: int
    name: str = ""


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """The user's file first, then those of the projects."""
    notes = _notes(state)
    for subject in state.once(subjects):
        own = notes.get(notes_path(_path(subject.project)))
        if subject.groups or (own and own.content is not None):
            yield _document(subject, settings, own)


def notes_path(path: str) -> str:
    """What the events about a person's notes call the file they stand in."""
    return f"{_NOTED}{path}"


def _notes(state: Conversations) -> dict[str, KnowledgeEdited]:
    """The newest notes of each file, by what events call it."""
    withdrawn = state.withdrawn()
    in_order = sorted(state.notes, key=lambda one: (one.ts, one.id))
    return {str(one.key.path): one for one in in_order if not withdrawn.hides(one)}


def _path(project: str | None) -> str:
    return f"projects/{project_slug(project)}/MEMORY.md" if project else "MEMORY.md"


def _document(subject: Subject, settings: Settings, notes: KnowledgeEdited | None) -> Document:
    words = LABELS[settings.locale]
    today = date.fromisoformat(subject.changed_at[:10])
    ranked = sorted(subject.groups, key=lambda one: _rank(one, today))
    title = f"# {words.memory}" + (f": {_name(subject.project)}" if subject.project else "")
    spent = len(f"{title}\n{_more(len(ranked), subject, words)}\n".encode()) + STAMP_BYTES + 3
    shown, left = _fit(ranked, settings.memory, spent)
    lines = [Line(title, _behind(ranked, subject)), *_sections(shown, left, subject, words)]
    if left:
        behind = _behind(left, subject)
        lines += [Line("", behind), Line(_more(len(left), subject, words), behind)]
    if notes and notes.content is not None:
        lines += [Line(text, (notes.id,)) for text in ("", f"## {NOTES}", "", *notes.content.split("\n"))]
    return certified(_path(subject.project), lines, max(subject.changed_at, notes.ts if notes else ""))


def _rank(one: Group, today: date) -> tuple[int, int, int, float, str, str]:
    age = (today - date.fromisoformat(one.last_seen[:10])).days
    return -one.importance, -one.sessions, age, -one.confidence, one.first.ts, one.first.id


def _fit(ranked: list[Group], limits: MemorySettings, spent: int) -> tuple[list[Group], list[Group]]:
    """What the budget of the file holds, by rank, and what it does not; headings and the last lines count too."""
    lines = limits.max_lines - 5  # title, the line about what was left out, the stamp, and two empty ones
    size = limits.max_bytes - spent
    shown: list[Group] = []
    left: list[Group] = []
    headings: set[Section] = set()
    for one in ranked:
        section = _section(one)
        new = 0 if section in headings else 1
        bytes_needed = len(_bullet(one).encode()) + 1 + new * (len(section.name.encode()) + 40)
        if lines < 1 + 3 * new or size < bytes_needed:
            left.append(one)
            continue
        lines, size = lines - 1 - 3 * new, size - bytes_needed
        headings.add(section)
        shown.append(one)
    return shown, left


def _sections(shown: list[Group], left: list[Group], subject: Subject, words: Labels) -> Iterator[Line]:
    titles = (words.decisions, words.preferences, words.lessons, words.knowledge, words.experience)
    by_section: dict[Section, list[Group]] = {}
    for one in shown:
        by_section.setdefault(_section(one), []).append(one)
    for section, groups in sorted(by_section.items()):
        behind = _behind([*groups, *(one for one in left if _section(one) == section)], subject)
        title = titles[section.order] if section.order < _FREE else section.name[:1].upper() + section.name[1:]
        yield from (Line("", behind), Line(f"## {title}", behind), Line("", behind))
        yield from (Line(_bullet(one), one.events) for one in groups)


def _more(count: int, subject: Subject, words: Labels) -> str:
    where = f" --project {quote(subject.project)}" if subject.project else ""
    return one_line(words.more.format(count=count, command=f"eventlog query --type fact --type stage_summary{where}"))


def _section(one: Group) -> Section:
    """The first section any of its statements belongs to."""
    return min(_section_of(statement) for statement in one.statements)


def _section_of(statement: Statement) -> Section:
    category = statement.category.casefold()
    if category in _BY_CATEGORY:
        return Section(_BY_CATEGORY[category])
    return Section(_FREE, category) if category else Section(_BY_TYPE[statement.memory_type])


def _bullet(one: Group) -> str:
    return f"- [{one.first.ts[:10]}] {one.first.text}"


def _behind(groups: Iterable[Group], subject: Subject) -> tuple[str, ...]:
    """The events without which none of these would be there, nor what they stand in the place of."""
    return tuple(dict.fromkeys((*(event for one in groups for event in one.events), *subject.replaced)))


def _name(project: str) -> str:
    return one_line(PurePath(project).name or project)


MEMORY = Projection(name="memory", state=Conversations, render=render, owns=("MEMORY.md", "projects/*/MEMORY.md"))
