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
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.raw_html import as_text
from eventlog.projections.stamp import STAMP_BYTES, stamped
from eventlog.projections.state.conclusions import Conclusion
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.projections.state.fact_scopes import FactScope, fact_scopes
from eventlog.projections.state.statements import DistinctFact
from eventlog.projections.views.summaries import newest_per_project
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name, project_slug
from eventlog.text import cut, one_line, same_text

_SHOWN = 3  # facts and sessions of a keyword
_FACT_CHARS = 80
_KEYWORD_CHARS = 60
_OWN_LINES = 12  # titles, headings, the key, the line of what was left out, the stamp

Kept = list[tuple[Conversation, Conclusion]]


class IndexScope(Struct):
    """A project, or what belongs to none (`project` None): what is known there, and who worked there."""

    project: str | None
    facts: list[DistinctFact] = field(default_factory=list)
    kept: Kept = field(default_factory=list)
    spoke: list[str] = field(default_factory=list)  # conversations that said anything
    changed_at: str = ""
    sources: tuple[str, ...] = ()  # all that state what is known here, or would if others did not

    @property
    def name(self) -> str:
        """For people."""
        return as_text(one_line(PurePath(self.project).name or self.project)) if self.project else ""

    @property
    def path(self) -> str:
        """Of its index, in the knowledge directory."""
        return f"projects/{project_slug(self.project)}/INDEX.md" if self.project else "INDEX.md"


class Keyword(NamedTuple):
    """A word, and the facts it stands for; the most mentioned first."""

    word: str
    facts: list[DistinctFact]

    @property
    def rank(self) -> tuple[int, str]:
        """Where it stands when there is no room for all."""
        return -len(self.facts), same_text(self.word)


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """The index of everything, then one of each project."""
    everywhere = _scopes(state, settings)
    places = [place for place in everywhere if place.facts or place.kept]
    words = LABELS[settings.locale]
    if places:
        yield _of_everything(places, max(place.changed_at for place in everywhere), settings, words)
    for place in places:
        if place.project:
            up = "../" * place.path.count("/")
            lines = [*_head(f"{words.index_title}: {place.name}", [place], words), *_sessions(place, up, words)]
            yield _document(place.path, lines, [place], place.changed_at, settings, words)


def _of_everything(places: list[IndexScope], changed_at: str, settings: Settings, words: Labels) -> Document:
    projects = [place for place in places if place.project]
    lines = [*_head(words.index_title, places, words)]
    if projects:
        behind = _sources_of(projects)
        lines += [Line("", *behind), Line(f"## {words.projects}", *behind), Line("", *behind)]
        lines += [
            Line(f"- **{one.name}** {as_text(one_line(one.project or ''))} → {one.path}", *_sources_of([one]))
            for one in projects
        ]
    for place in places:
        lines += [] if place.project else _sessions(place, "", words)
    return _document("INDEX.md", lines, places, changed_at, settings, words)


def _document(
    path: str, lines: list[Line], places: list[IndexScope], changed_at: str, settings: Settings, words: Labels
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
    behind = _sources_of(places)
    if shown:
        lines += [Line("", *behind), Line(f"## {words.keywords}", *behind), Line("", *behind)]
        lines += [line for _, line in sorted(shown, key=lambda one: one[0])]
    if left := keywords[len(shown) :]:
        more = words.more.format(count=len(left), command="eventlog query --type fact --grep WORD")
        lines += [Line("", *behind), Line(more, *behind)]
    return stamped(path, lines, changed_at)


def _head(title: str, places: list[IndexScope], words: Labels) -> Iterator[Line]:
    behind = _sources_of(places)
    yield from (Line(f"# {title}", *behind), Line("", *behind), Line(words.index_key, *behind))


def _sessions(place: IndexScope, up: str, words: Labels) -> Iterator[Line]:
    """The newest first, each with the file of its summary."""
    if place.kept:
        behind = ((), tuple(place.spoke))
        yield from (Line("", *behind), Line(f"## {words.sessions}", *behind), Line("", *behind))
    for one, conclusion in place.kept:
        link = f"[{one.last_at[:10]}]({up}sessions/{conversation_name(one.id)}.md)"
        yield Line(f"- {link} {as_text(conclusion.topic)}", conversations=(one.id,))


def _line(keyword: Keyword, kept: set[str]) -> Line:
    facts = "; ".join(cut(one.first.text, _FACT_CHARS) for one in keyword.facts[:_SHOWN])
    more = "; …" if len(keyword.facts) > _SHOWN else ""
    said = dict.fromkeys(one.conversation_id for group in keyword.facts for one in reversed(group.statements))
    sessions = ", ".join(conversation_name(one) for one in list(filter(kept.__contains__, said))[:_SHOWN])
    text = f"- **{keyword.word}** ({len(keyword.facts)}): {facts}{more}" + (f" → {sessions}" if sessions else "")
    return Line(as_text(text), tuple(dict.fromkeys(event for group in keyword.facts for event in group.sources)))


def _keywords(places: Iterable[IndexScope]) -> list[Keyword]:
    """Words that differ only in case or width are one, in the spelling first met; their facts stand by rank."""
    spelled = cache(same_text)
    found: dict[str, Keyword] = {}
    named: list[tuple[DistinctFact, Iterable[str]]] = []
    for group in (group for place in places for group in place.facts):
        words = {spelled(word): word for one in group.statements for word in (*one.entities, one.category) if word}
        named.append((group, words))
        for key, word in words.items():
            found.setdefault(key, Keyword(cut(word, _KEYWORD_CHARS), []))
    for group, keys in sorted(named, key=lambda one: one[0].rank, reverse=True):
        for key in keys:
            found[key].facts.append(group)
    return list(found.values())


def _scopes(state: Conversations, settings: Settings) -> list[IndexScope]:
    withdrawn = state.withdrawn()
    places: dict[str | None, IndexScope] = {None: IndexScope(None)}
    for subject in state.once(fact_scopes):
        places[subject.project] = _scope(subject)
    for project, kept in newest_per_project(state, withdrawn, settings.summaries.keep).items():
        places.setdefault(project, IndexScope(project)).kept = kept
    for one in state.by_id.values():
        if one.facts or one.summaries:
            place = places[one.project]
            place.spoke.append(one.id)
            place.changed_at = max(place.changed_at, *_touched(one, withdrawn))
    for place in places.values():
        place.spoke.sort()
        place.changed_at = max([place.changed_at, *(one.last_at for one, _ in place.kept)])
    return [places[project] for project in sorted(places, key=lambda project: project or "")]


def _scope(subject: FactScope) -> IndexScope:
    events = (event for group in subject.facts for event in group.sources)
    every = tuple(dict.fromkeys((*events, *subject.superseded)))
    return IndexScope(subject.project, subject.facts, changed_at=subject.changed_at, sources=every)


def _touched(one: Conversation, withdrawn: Retractions) -> list[str]:
    """When it was given its project, which it then no longer belonged without; and what was withdrawn or restored."""
    named_at = one.first_project[0] if one.project else ""
    fates = ((event.ts, withdrawn.touched_at(event)) for event in (*one.facts, *one.summaries))
    return [named_at, *(max(ts, touched_at) for ts, touched_at in fates if touched_at)]


def _sources_of(places: Iterable[IndexScope]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All that says anything there; the same tuples for the same places, however many lines they stand behind."""
    places = list(places)
    if len(places) == 1:
        return places[0].sources, tuple(places[0].spoke)
    return (
        tuple(dict.fromkeys(event for place in places for event in place.sources)),
        tuple(one for place in places for one in place.spoke),
    )


KEYWORD_INDEX = Projection(name="index", state=Conversations, render=render, owns=("INDEX.md", "projects/*/INDEX.md"))
