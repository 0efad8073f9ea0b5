"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions; where to look, not what it says.

Light on purpose: the reader is a model, and it is the search engine. Keywords are the entities and categories of
facts, and the projects. What there is no room for is the least mentioned.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.conclusion import Conclusion
from eventlog.projections.conversations import Conversation, Conversations
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.markdown_file import STAMP_BYTES, certified
from eventlog.projections.statements import Group
from eventlog.projections.subjects import Subject, subjects
from eventlog.projections.summaries import newest_per_project
from eventlog.retractions import Withdrawn
from eventlog.settings import Settings
from eventlog.store import conversation_name, project_slug
from eventlog.text import cut, one_line, same_text

_SHOWN = 3  # facts and sessions of a keyword
_FACT_CHARS = 80
_KEYWORD_CHARS = 60
_OWN_LINES = 12  # titles, headings, the key, the line of what was left out, the stamp

Kept = list[tuple[Conversation, Conclusion]]


class Place(Struct):
    """A project, or what belongs to none (`project` None): what is known there, and who worked there."""

    project: str | None
    groups: list[Group] = field(default_factory=list)
    kept: Kept = field(default_factory=list)
    spoke: list[str] = field(default_factory=list)  # conversations that said anything
    changed_at: str = ""
    events: tuple[str, ...] = ()  # all that state what is known here, or would if others did not

    @property
    def name(self) -> str:
        """For people."""
        return one_line(PurePath(self.project).name or self.project) if self.project else ""

    @property
    def path(self) -> str:
        """Of its index, in the knowledge directory."""
        return f"projects/{project_slug(self.project)}/INDEX.md" if self.project else "INDEX.md"


class Keyword(NamedTuple):
    """A word, and the facts it stands for; the most mentioned first."""

    word: str
    groups: list[Group]

    @property
    def rank(self) -> tuple[int, str]:
        """Where it stands when there is no room for all."""
        return -len(self.groups), same_text(self.word)


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """The index of everything, then one of each project."""
    everywhere = _places(state, settings)
    places = [place for place in everywhere if place.groups or place.kept]
    words = LABELS[settings.locale]
    if places:
        yield _of_everything(places, max(place.changed_at for place in everywhere), settings, words)
    for place in places:
        if place.project:
            up = "../" * place.path.count("/")
            lines = [*_head(f"{words.index_title}: {place.name}", [place], words), *_sessions(place, up, words)]
            yield _document(place.path, lines, [place], place.changed_at, settings, words)


def _of_everything(places: list[Place], changed_at: str, settings: Settings, words: Labels) -> Document:
    projects = [place for place in places if place.project]
    lines = [*_head(words.index_title, places, words)]
    if projects:
        behind = _behind(projects)
        lines += [Line("", *behind), Line(f"## {words.projects}", *behind), Line("", *behind)]
        lines += [
            Line(f"- **{one.name}** {one_line(one.project or '')} → {one.path}", *_behind([one])) for one in projects
        ]
    for place in places:
        lines += [] if place.project else _sessions(place, "", words)
    return _document("INDEX.md", lines, places, changed_at, settings, words)


def _document(
    path: str, lines: list[Line], places: list[Place], changed_at: str, settings: Settings, words: Labels
) -> Document:
    """Those lines, and the keywords there is room for."""
    room = settings.memory.max_lines - len(lines) - _OWN_LINES
    size = settings.memory.max_bytes - len(Document(path, tuple(lines)).data) - STAMP_BYTES - 1000
    kept = {one.id for place in places for one, _ in place.kept}
    shown: list[tuple[str, Line]] = []
    keywords = sorted(_keywords(places), key=lambda one: one.rank)
    for keyword in keywords:
        line = _line(keyword, kept)
        size -= len(line.text.encode()) + 1
        if len(shown) == room or size < 0:
            break
        shown.append((same_text(keyword.word), line))
    behind = _behind(places)
    if shown:
        lines += [Line("", *behind), Line(f"## {words.keywords}", *behind), Line("", *behind)]
        lines += [line for _, line in sorted(shown, key=lambda one: one[0])]
    if left := keywords[len(shown) :]:
        more = words.more.format(count=len(left), command="eventlog query --type fact --grep WORD")
        lines += [Line("", *behind), Line(more, *behind)]
    return certified(path, lines, changed_at)


def _head(title: str, places: list[Place], words: Labels) -> Iterator[Line]:
    behind = _behind(places)
    yield from (Line(f"# {title}", *behind), Line("", *behind), Line(words.index_key, *behind))


def _sessions(place: Place, up: str, words: Labels) -> Iterator[Line]:
    """The newest first, each with the file of its summary."""
    if place.kept:
        behind = ((), tuple(place.spoke))
        yield from (Line("", *behind), Line(f"## {words.sessions}", *behind), Line("", *behind))
    for one, conclusion in place.kept:
        link = f"[{one.last_at[:10]}]({up}sessions/{conversation_name(one.id)}.md)"
        yield Line(f"- {link} {conclusion.topic}", conversations=(one.id,))


def _line(keyword: Keyword, kept: set[str]) -> Line:
    facts = "; ".join(cut(one.first.text, _FACT_CHARS) for one in keyword.groups[:_SHOWN])
    more = "; …" if len(keyword.groups) > _SHOWN else ""
    said = dict.fromkeys(one.conversation_id for group in keyword.groups for one in reversed(group.statements))
    sessions = ", ".join(conversation_name(one) for one in list(filter(kept.__contains__, said))[:_SHOWN])
    text = f"- **{keyword.word}** ({len(keyword.groups)}): {facts}{more}" + (f" → {sessions}" if sessions else "")
    return Line(text, tuple(dict.fromkeys(event for group in keyword.groups for event in group.events)))


def _keywords(places: Iterable[Place]) -> list[Keyword]:
    """Words that differ only in case or width are one, in the spelling first met; their facts stand by rank."""
    spelled = cache(same_text)
    found: dict[str, Keyword] = {}
    named: list[tuple[Group, Iterable[str]]] = []
    for group in (group for place in places for group in place.groups):
        words = {spelled(word): word for one in group.statements for word in (*one.entities, one.category) if word}
        named.append((group, words))
        for key, word in words.items():
            found.setdefault(key, Keyword(cut(word, _KEYWORD_CHARS), []))
    for group, keys in sorted(named, key=lambda one: one[0].rank, reverse=True):
        for key in keys:
            found[key].groups.append(group)
    return list(found.values())


def _places(state: Conversations, settings: Settings) -> list[Place]:
    withdrawn = state.withdrawn()
    places: dict[str | None, Place] = {None: Place(None)}
    for subject in state.once(subjects):
        places[subject.project] = _place(subject)
    for project, kept in newest_per_project(state, withdrawn, settings.summaries.keep).items():
        places.setdefault(project, Place(project)).kept = kept
    for one in state.by_id.values():
        if one.facts or one.summaries:
            place = places[one.project]
            place.spoke.append(one.id)
            place.changed_at = max(place.changed_at, *_touched(one, withdrawn))
    for place in places.values():
        place.spoke.sort()
        place.changed_at = max([place.changed_at, *(one.last_at for one, _ in place.kept)])
    return [places[project] for project in sorted(places, key=lambda project: project or "")]


def _place(subject: Subject) -> Place:
    events = (event for group in subject.groups for event in group.events)
    every = tuple(dict.fromkeys((*events, *subject.replaced)))
    return Place(subject.project, subject.groups, changed_at=subject.changed_at, events=every)


def _touched(one: Conversation, withdrawn: Withdrawn) -> list[str]:
    """When it was given its project, which it then no longer belonged without; and what was withdrawn or restored."""
    named_at = one.first_project[0] if one.project else ""
    fates = ((event.ts, withdrawn.touched_at(event)) for event in (*one.facts, *one.summaries))
    return [named_at, *(max(ts, touched_at) for ts, touched_at in fates if touched_at)]


def _behind(places: Iterable[Place]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All that says anything there; the same tuples for the same places, however many lines they stand behind."""
    places = list(places)
    if len(places) == 1:
        return places[0].events, tuple(places[0].spoke)
    return (
        tuple(dict.fromkeys(event for place in places for event in place.events)),
        tuple(one for place in places for one in place.spoke),
    )


KEYWORDS = Projection(name="index", state=Conversations, render=render, owns=("INDEX.md", "projects/*/INDEX.md"))
