"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions; where to look, not what it says.

Light on purpose: the reader is a model, and it is the search engine. Keywords are the entities and categories of
facts, and the projects. What there is no room for is the least mentioned.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.labels import LABELS, Labels
from eventlog.projections.raw_html import as_text
from eventlog.projections.stamp import STAMP_BYTES, stamped
from eventlog.projections.state.conclusions import Conclusion
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.projections.state.distinct_facts import DistinctFact
from eventlog.projections.state.fact_scopes import FactScope, fact_scopes
from eventlog.projections.views.summaries import newest_per_project
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name, project_slug
from eventlog.text import cut, one_line, project_name, same_text

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
        """Return the name for people."""
        return as_text(project_name(self.project or ""))

    @property
    def path(self) -> str:
        """Return the path of its index, in the knowledge directory."""
        return f"projects/{project_slug(self.project)}/INDEX.md" if self.project else "INDEX.md"


class Keyword(NamedTuple):
    """A word, and the facts it stands for; the most mentioned first."""

    word: str
    facts: list[DistinctFact]

    @property
    def rank(self) -> tuple[int, str]:
        """Return the sort key when there is no room for all."""
        return -len(self.facts), same_text(self.word)


def render(state: Conversations, settings: Settings) -> Iterable[Document]:
    """Render the index of everything, then one of each project."""
    everywhere = _scopes(state, settings)
    scopes = [scope for scope in everywhere if scope.facts or scope.kept]
    words = LABELS[settings.locale]
    if scopes:
        yield _of_everything(scopes, max(scope.changed_at for scope in everywhere), settings, words)
    for scope in scopes:
        if scope.project:
            up = "../" * scope.path.count("/")
            lines = [*_head(f"{words.index_title}: {scope.name}", [scope], words), *_sessions(scope, up, words)]
            yield _document(scope.path, lines, [scope], scope.changed_at, settings, words)


def _of_everything(scopes: list[IndexScope], changed_at: str, settings: Settings, words: Labels) -> Document:
    projects = [scope for scope in scopes if scope.project]
    lines = [*_head(words.index_title, scopes, words)]
    if projects:
        sources = _sources_of(projects)
        lines += [Line("", *sources), Line(f"## {words.projects}", *sources), Line("", *sources)]
        lines += [
            Line(f"- **{scope.name}** {as_text(one_line(scope.project or ''))} → {scope.path}", *_sources_of([scope]))
            for scope in projects
        ]
    for scope in scopes:
        lines += [] if scope.project else _sessions(scope, "", words)
    return _document("INDEX.md", lines, scopes, changed_at, settings, words)


def _document(
    path: str, lines: list[Line], scopes: list[IndexScope], changed_at: str, settings: Settings, words: Labels
) -> Document:
    """Write those lines, and the keywords there is room for."""
    room = settings.memory.max_lines - len(lines) - _OWN_LINES
    size = settings.memory.max_bytes - len(Document(path, tuple(lines)).data) - STAMP_BYTES - 1000
    kept = {conversation.id for scope in scopes for conversation, _ in scope.kept}
    shown: list[tuple[str, Line]] = []
    keywords = sorted(_keywords(scopes), key=lambda keyword: keyword.rank)
    for keyword in keywords:
        line = _line(keyword, kept)
        size -= len(line.text.encode()) + 1
        if len(shown) == room or size < 0:
            break
        shown.append((same_text(keyword.word), line))
    sources = _sources_of(scopes)
    if shown:
        lines += [Line("", *sources), Line(f"## {words.keywords}", *sources), Line("", *sources)]
        lines += [line for _, line in sorted(shown, key=lambda pair: pair[0])]
    if left := keywords[len(shown) :]:
        more = words.more.format(count=len(left), command="eventlog query --type fact --grep WORD")
        lines += [Line("", *sources), Line(more, *sources)]
    return stamped(path, lines, changed_at)


def _head(title: str, scopes: list[IndexScope], words: Labels) -> Iterator[Line]:
    sources = _sources_of(scopes)
    yield from (Line(f"# {title}", *sources), Line("", *sources), Line(words.index_key, *sources))


def _sessions(scope: IndexScope, up: str, words: Labels) -> Iterator[Line]:
    """List sessions, the newest first, each with the file of its summary."""
    if scope.kept:
        sources = ((), tuple(scope.spoke))
        yield from (Line("", *sources), Line(f"## {words.sessions}", *sources), Line("", *sources))
    for conversation, conclusion in scope.kept:
        link = f"[{conversation.last_at[:10]}]({up}sessions/{conversation_name(conversation.id)}.md)"
        yield Line(f"- {link} {as_text(conclusion.topic)}", conversations=(conversation.id,))


def _line(keyword: Keyword, kept: set[str]) -> Line:
    facts = "; ".join(cut(fact.first.text, _FACT_CHARS) for fact in keyword.facts[:_SHOWN])
    more = "; …" if len(keyword.facts) > _SHOWN else ""
    said = dict.fromkeys(
        statement.conversation_id for group in keyword.facts for statement in reversed(group.statements)
    )
    sessions = ", ".join(
        conversation_name(conversation_id) for conversation_id in list(filter(kept.__contains__, said))[:_SHOWN]
    )
    text = f"- **{keyword.word}** ({len(keyword.facts)}): {facts}{more}" + (f" → {sessions}" if sessions else "")
    return Line(as_text(text), tuple(dict.fromkeys(event for group in keyword.facts for event in group.sources)))


def _keywords(scopes: Iterable[IndexScope]) -> list[Keyword]:
    """Collect keywords; those that differ only in case or width are one, as first spelled; facts by rank."""
    spelled = cache(same_text)
    found: dict[str, Keyword] = {}
    named: list[tuple[DistinctFact, Iterable[str]]] = []
    for group in (group for scope in scopes for group in scope.facts):
        words = {
            spelled(word): word
            for statement in group.statements
            for word in (*statement.entities, statement.category)
            if word
        }
        named.append((group, words))
        for key, word in words.items():
            found.setdefault(key, Keyword(cut(word, _KEYWORD_CHARS), []))
    for group, keys in sorted(named, key=lambda pair: pair[0].rank, reverse=True):
        for key in keys:
            found[key].facts.append(group)
    return list(found.values())


def _scopes(state: Conversations, settings: Settings) -> list[IndexScope]:
    withdrawn = state.withdrawn()
    scopes: dict[str | None, IndexScope] = {None: IndexScope(None)}
    for subject in state.once(fact_scopes):
        scopes[subject.project] = _scope(subject)
    for project, kept in newest_per_project(state, withdrawn, settings.summaries.keep).items():
        scopes.setdefault(project, IndexScope(project)).kept = kept
    for conversation in state.by_id.values():
        if conversation.facts or conversation.summaries:
            scope = scopes[conversation.project]
            scope.spoke.append(conversation.id)
            scope.changed_at = max(scope.changed_at, *_touched(conversation, withdrawn))
    for scope in scopes.values():
        scope.spoke.sort()
        scope.changed_at = max([scope.changed_at, *(conversation.last_at for conversation, _ in scope.kept)])
    return [scopes[project] for project in sorted(scopes, key=lambda project: project or "")]


def _scope(subject: FactScope) -> IndexScope:
    events = (event for group in subject.facts for event in group.sources)
    every = tuple(dict.fromkeys((*events, *subject.superseded)))
    return IndexScope(subject.project, subject.facts, changed_at=subject.changed_at, sources=every)


def _touched(conversation: Conversation, withdrawn: Retractions) -> list[str]:
    """List when it was given its project, and when anything of it was withdrawn or restored."""
    named_at = conversation.first_project[0] if conversation.project else ""
    fates = ((event.ts, withdrawn.touched_at(event)) for event in (*conversation.facts, *conversation.summaries))
    return [named_at, *(max(ts, touched_at) for ts, touched_at in fates if touched_at)]


def _sources_of(scopes: Iterable[IndexScope]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all sources of these scopes; the same tuples for the same scopes, however many lines have them."""
    scopes = list(scopes)
    if len(scopes) == 1:
        return scopes[0].sources, tuple(scopes[0].spoke)
    return (
        tuple(dict.fromkeys(event for scope in scopes for event in scope.sources)),
        tuple(conversation_id for scope in scopes for conversation_id in scope.spoke),
    )


KEYWORD_INDEX = Projection(name="index", state=Conversations, render=render, owns=("INDEX.md", "projects/*/INDEX.md"))
