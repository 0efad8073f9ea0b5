"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions.

Light on purpose: the reader is a model, and the model is the search engine. Keywords are the entities and categories of
facts, the words that several of their texts contain (`text_keywords.py`), and the projects; the least mentioned are
left out first. The keywords of a project name its own sessions, those of the user any session with a summary.

The index of everything is rendered from the cached share of each project, which has no more of each keyword than is
shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from eventlog.format.text import cut, one_line, project_name, same_text
from eventlog.projections.base import Document, Line, Projection, Sources, View
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact, Rank
from eventlog.projections.current.fact_scopes import STATED, FactScope, fact_scope
from eventlog.projections.views.labels import LABELS, Labels, in_language
from eventlog.projections.views.markdown import STAMP_BYTES, as_text, stamped
from eventlog.projections.views.summaries import HEADS, Head, kept
from eventlog.projections.views.text_keywords import key_of, text_keywords
from eventlog.store import conversation_name, project_slug

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_SHOWN = 3  # facts and sessions of a keyword
_FACT_CHARS = 80
_OWN_LINES = 12  # titles, headings, the key, the line of what was left out, the stamp

Meant = dict[str, list[DistinctFact]]  # the facts of each keyword

_words_of = cache(same_text)
_rank_of = itemgetter(0)

_KEYWORD_CHARS = 60
_READ = 200  # facts whose texts are looked through, the first by rank

_key_of = lru_cache(maxsize=4096)(key_of)


class _Keyword(Struct, array_like=True):
    """A word, its number of facts, the first of these, and the sessions that state them, by rank."""

    same: str
    word: str
    count: int
    facts: list[tuple[Rank, str]]
    sessions: list[tuple[Rank, str]]

    @property
    def rank(self) -> tuple[int, str]:
        """Return the sort key for the budget: the most mentioned first."""
        return -self.count, _words_of(self.word)

    def absorb(self, other: "_Keyword") -> None:
        """Add the facts and sessions of the keyword in another share."""
        self.count += other.count
        self.facts = sorted([*self.facts, *other.facts], key=_rank_of, reverse=True)[:_SHOWN]
        self.sessions = _distinct(sorted([*self.sessions, *other.sessions], key=_rank_of, reverse=True))


class _Share(Struct, array_like=True):
    """The part of the index of everything that comes from a project, or from facts without a project."""

    name: str
    exists: bool  # has a fact or a summary
    changed_at: str
    kept: list[str]  # the conversations with a summary
    keywords: list[_Keyword]


_share = msgspec.msgpack.Decoder(_Share)


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the index of a project and cache its share, or render the index of everything."""
    if not name:
        yield from _of_everything(index)
        return
    heads = kept(index, name)
    share = _share_of(name, index, heads, {head.id for head in heads})
    if index.store("share", name, msgspec.msgpack.encode(share)):
        index.invalidate([("index", "")])
    if share.exists:
        words, behind = LABELS[index.settings.locale], _sources_of([name], index)
        path, title = _path(name), f"{words.index_title}: {_name(name)}"
        lines = [*_head(title, words, behind), *_sessions(heads, "../" * path.count("/"), words, name, index)]
        yield _document(path, lines, [share], share.changed_at, index)


def _of_everything(index: "DocumentIndex") -> Iterator[Document]:
    words, heads = LABELS[index.settings.locale], kept(index, "")
    names = [name for name in index.names("index") if name]
    theirs = [_share.decode(data) for name in names if (data := index.stored("share", name))]
    anyone = {head.id for head in heads} | {one for share in theirs for one in share.kept}
    own = _share_of("", index, heads, anyone)
    shares = [share for share in (own, *theirs) if share.exists]
    if not shares:
        return
    behind = _sources_of([share.name for share in shares], index)
    lines = [*_head(words.index_title, words, behind)]
    if projects := [share.name for share in shares if share.name]:
        of_projects = _sources_of(projects, index)
        lines += [Line(text, find=of_projects) for text in ("", f"## {words.projects}", "")]
        lines += [
            Line(
                f"- **{_name(name)}** {as_text(one_line(name))} → {_path(name)}",
                find=_sources_of([name], index),
            )
            for name in projects
        ]
    lines += _sessions(heads, "", words, "", index)
    yield _document("INDEX.md", lines, shares, max(share.changed_at for share in (own, *theirs)), index)


def _document(path: str, lines: list[Line], shares: list[_Share], changed_at: str, index: "DocumentIndex") -> Document:
    """Add the keywords that fit to these lines."""
    settings = index.settings
    words = LABELS[settings.locale]
    room = settings.memory.max_lines - len(lines) - _OWN_LINES
    size = settings.memory.max_bytes - len(Document(path, lines).data) - STAMP_BYTES - 1000
    names = [share.name for share in shares]
    meant = cache(lambda name: _meant(name, index))
    shown: list[tuple[str, Line]] = []
    keywords = sorted(_merged(shares), key=lambda keyword: keyword.rank)
    for keyword in keywords:
        word = in_language(keyword.word, keyword.same, settings.locale)
        text = _text(keyword, word)
        size -= len(text.encode()) + 1
        if len(shown) == room or size < 0:
            break
        shown.append((_words_of(word), Line(text, find=_sources_of_keyword(keyword.same, names, meant))))
    behind = _sources_of(names, index)
    if shown:
        lines += [Line(text, find=behind) for text in ("", f"## {words.keywords}", "")]
        lines += [line for _, line in sorted(shown, key=lambda pair: pair[0])]
    if left := keywords[len(shown) :]:
        more = words.more.format(count=len(left), command="eventlog query --type fact --grep WORD")
        lines += [Line("", find=behind), Line(more, find=behind)]
    return stamped(path, lines, changed_at)


def _head(title: str, words: Labels, behind: Callable[[], Sources]) -> Iterator[Line]:
    yield from (Line(text, find=behind) for text in (f"# {title}", "", words.index_key))


def _sessions(heads: list[Head], up: str, words: Labels, name: str, index: "DocumentIndex") -> Iterator[Line]:
    """List sessions, newest first, each with the file of its summary."""
    if heads:

        def behind() -> Sources:
            return (), _spoke(name, index)

        yield from (Line(text, find=behind) for text in ("", f"## {words.sessions}", ""))
    for head in heads:
        link = f"[{head.last_at[:10]}]({up}sessions/{conversation_name(head.id)}.md)"
        yield Line(f"- {link} {as_text(head.topic)}", whole=(head.id,))


def _text(keyword: _Keyword, word: str) -> str:
    facts = "; ".join(text for _, text in keyword.facts)
    more = "; …" if keyword.count > _SHOWN else ""
    sessions = ", ".join(conversation_name(conversation_id) for _, conversation_id in keyword.sessions)
    return as_text(f"- **{word}** ({keyword.count}): {facts}{more}" + (f" → {sessions}" if sessions else ""))


def _share_of(name: str, index: "DocumentIndex", heads: list[Head], sessions: set[str]) -> _Share:
    """Build the share of a project, or of facts without a project; keywords name these sessions."""
    subject = index.memo(fact_scope, name)
    times = [row.changed_at for row in index.rows(HEADS, name)] + [head.last_at for head in heads]
    heard: dict[int, list[str]] = {}
    for fact in subject.facts:
        for statement in fact.statements:
            if statement.conversation_id in sessions:
                heard.setdefault(id(fact), []).append(statement.conversation_id)
    keywords = [_keyword(*found, heard) for found in by_keyword(subject).items()]
    ids = [head.id for head in heads]
    return _Share(name, bool(subject.facts or heads), max([subject.changed_at, *times]), ids, keywords)


def _keyword(spelled: tuple[str, str], facts: list[DistinctFact], heard: Mapping[int, list[str]]) -> _Keyword:
    """Build a keyword from its facts, by rank; `heard` has the conversations of facts, the newest last."""
    shown = [(fact.rank, cut(fact.first.text, _FACT_CHARS)) for fact in facts[:_SHOWN]]
    sessions = ((fact.rank, session) for fact in facts for session in reversed(heard.get(id(fact), ())))
    return _Keyword(*spelled, len(facts), shown, _distinct(sessions))


def _distinct(sessions: Iterable[tuple[Rank, str]]) -> list[tuple[Rank, str]]:
    """Return the first few sessions without repetitions."""
    found: dict[str, Rank] = {}
    for rank, conversation_id in sessions:
        found.setdefault(conversation_id, rank)
        if len(found) == _SHOWN:
            break
    return [(rank, conversation_id) for conversation_id, rank in found.items()]


def _merged(shares: Iterable[_Share]) -> list[_Keyword]:
    found: dict[str, _Keyword] = {}
    for keyword in (keyword for share in shares for keyword in share.keywords):
        if keyword.same in found:
            found[keyword.same].absorb(keyword)
        else:
            found[keyword.same] = keyword
    return list(found.values())


def _path(name: str) -> str:
    return f"projects/{project_slug(name)}/INDEX.md" if name else "INDEX.md"


def _name(name: str) -> str:
    return as_text(project_name(name))


def _spoke(name: str, index: "DocumentIndex") -> tuple[str, ...]:
    return tuple(sorted(row.id for row in index.rows(HEADS, name)))


def _sources_of(names: list[str], index: "DocumentIndex") -> Callable[[], Sources]:
    """Build the lazy sources of projects: the events of all facts, replaced ones included."""

    def of(name: str) -> Iterator[str]:
        subject = fact_scope(index, name)
        yield from (event for fact in subject.facts for event in fact.sources)
        yield from subject.superseded

    def behind() -> Sources:
        conversations = tuple(one for name in names for one in _spoke(name, index))
        return tuple(dict.fromkeys(event for name in names for event in of(name))), conversations

    return behind


def _sources_of_keyword(same: str, names: list[str], meant: Callable[[str], Meant]) -> Callable[[], Sources]:
    """Build the lazy sources of a keyword in these projects."""

    def behind() -> Sources:
        facts = (fact for name in names for fact in meant(name).get(same, ()))
        return tuple(dict.fromkeys(event for fact in facts for event in fact.sources)), ()

    return behind


def _meant(name: str, index: "DocumentIndex") -> Meant:
    return {same: facts for (same, _), facts in by_keyword(fact_scope(index, name)).items()}


_VIEW = View((STATED, HEADS), _render, top=True, of_all=True, of_rows=True)
_OWNS = ("INDEX.md", "projects/*/INDEX.md")
KEYWORD_INDEX = Projection("index", Conversations, None, _OWNS, view=_VIEW)


def by_keyword(subject: FactScope) -> dict[tuple[str, str], list[DistinctFact]]:
    """Collect the facts of each keyword, by rank; spellings unite under the first, labels before texts."""
    in_texts = text_keywords([fact.first.text for fact in subject.ranked[:_READ]])
    labels = {id(fact): words for fact in subject.facts if (words := _labels(fact))}
    different = {id(words): words for words in labels.values()}  # facts with the same labels share them
    words_of: dict[str, str] = {}
    for words in (*different.values(), {keyword.key: keyword.word for keyword in in_texts}):
        for same, word in words.items():
            words_of.setdefault(same, word)
    found: dict[str, list[DistinctFact]] = {same: [] for same in words_of}
    by_text: dict[int, list[str]] = {}
    for keyword in in_texts:
        for number in keyword.texts:
            by_text.setdefault(number, []).append(keyword.key)
    for number, fact in enumerate(subject.ranked):
        named = labels.get(id(fact), ())
        for same in dict.fromkeys((*named, *by_text.get(number, ()))):
            found[same].append(fact)
    return {(same, cut(word, _KEYWORD_CHARS)): found[same] for same, word in words_of.items()}


def _labels(fact: DistinctFact) -> Mapping[str, str]:
    """Return the entities and categories of a fact, by the key of their spellings."""
    statements = fact.statements
    words = _label_words(statements[0].entities, statements[0].category)
    for statement in statements[1:]:
        words = {**words, **_label_words(statement.entities, statement.category)}
    return words


@lru_cache(maxsize=4096)
def _label_words(entities: tuple[str, ...], category: str) -> Mapping[str, str]:
    return {_key_of(word): word for word in (*entities, category) if word}
