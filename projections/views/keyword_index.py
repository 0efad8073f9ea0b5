"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions; where to look, not what it says.

Light on purpose: the reader is a model, and it is the search engine. Keywords are the entities and categories of
facts, what several of their texts name (`text_keywords.py`), and the projects. What there is no room for is the least
mentioned. A project's keywords name its own sessions, those of the user any whose summary is kept.

The index of everything is made of what is kept of each project: a share, with no more of each keyword than is shown.
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


class Keyword(Struct, array_like=True):
    """A word, how many facts it stands for, the first of them, and the sessions that said so, by rank."""

    same: str
    word: str
    count: int
    facts: list[tuple[Rank, str]]
    sessions: list[tuple[Rank, str]]

    @property
    def rank(self) -> tuple[int, str]:
        """Return the sort key when there is no room for all: the most mentioned first."""
        return -self.count, _words_of(self.word)

    def absorb(self, other: "Keyword") -> None:
        """Take in what it stands for elsewhere."""
        self.count += other.count
        self.facts = sorted([*self.facts, *other.facts], key=_rank_of, reverse=True)[:_SHOWN]
        self.sessions = _distinct(sorted([*self.sessions, *other.sessions], key=_rank_of, reverse=True))


class Share(Struct, array_like=True):
    """The part of the index of everything that is of one project, or of what belongs to none."""

    name: str
    exists: bool  # anything is known there, or came to something
    changed_at: str
    kept: list[str]  # the conversations whose summaries are kept
    keywords: list[Keyword]


_share = msgspec.msgpack.Decoder(Share)


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the index of a project, or of everything; either leaves what is told of it elsewhere."""
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


def _document(path: str, lines: list[Line], shares: list[Share], changed_at: str, index: "DocumentIndex") -> Document:
    """Write those lines, and the keywords there is room for."""
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
    """List sessions, the newest first, each with the file of its summary."""
    if heads:

        def behind() -> Sources:
            return (), _spoke(name, index)

        yield from (Line(text, find=behind) for text in ("", f"## {words.sessions}", ""))
    for head in heads:
        link = f"[{head.last_at[:10]}]({up}sessions/{conversation_name(head.id)}.md)"
        yield Line(f"- {link} {as_text(head.topic)}", whole=(head.id,))


def _text(keyword: Keyword, word: str) -> str:
    facts = "; ".join(text for _, text in keyword.facts)
    more = "; …" if keyword.count > _SHOWN else ""
    sessions = ", ".join(conversation_name(conversation_id) for _, conversation_id in keyword.sessions)
    return as_text(f"- **{word}** ({keyword.count}): {facts}{more}" + (f" → {sessions}" if sessions else ""))


def _share_of(name: str, index: "DocumentIndex", heads: list[Head], sessions: set[str]) -> Share:
    """Make the share of a project, or of what belongs to none; keywords name these sessions."""
    subject = index.memo(fact_scope, name)
    times = [row.changed_at for row in index.rows(HEADS, name)] + [head.last_at for head in heads]
    heard: dict[int, list[str]] = {}
    for fact in subject.facts:
        for one in fact.statements:
            if one.conversation_id in sessions:
                heard.setdefault(id(fact), []).append(one.conversation_id)
    keywords = [_keyword(*found, heard) for found in by_keyword(subject).items()]
    ids = [head.id for head in heads]
    return Share(name, bool(subject.facts or heads), max([subject.changed_at, *times]), ids, keywords)


def _keyword(spelled: tuple[str, str], facts: list[DistinctFact], heard: Mapping[int, list[str]]) -> Keyword:
    """Make a keyword of its facts, by rank; `heard` are the conversations to name of some facts, the newest last."""
    shown = [(fact.rank, cut(fact.first.text, _FACT_CHARS)) for fact in facts[:_SHOWN]]
    said = ((fact.rank, one) for fact in facts if id(fact) in heard for one in reversed(heard[id(fact)]))
    return Keyword(*spelled, len(facts), shown, _distinct(said))


def _distinct(said: Iterable[tuple[Rank, str]]) -> list[tuple[Rank, str]]:
    """Take the first few conversations, each once."""
    found: dict[str, Rank] = {}
    for rank, conversation_id in said:
        found.setdefault(conversation_id, rank)
        if len(found) == _SHOWN:
            break
    return [(rank, conversation_id) for conversation_id, rank in found.items()]


def _merged(shares: Iterable[Share]) -> list[Keyword]:
    found: dict[str, Keyword] = {}
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
    """Find, when asked, all that state what is known there, or would if others did not."""

    def of(name: str) -> Iterator[str]:
        subject = fact_scope(index, name)
        yield from (event for fact in subject.facts for event in fact.sources)
        yield from subject.superseded

    def behind() -> Sources:
        conversations = tuple(one for name in names for one in _spoke(name, index))
        return tuple(dict.fromkeys(event for name in names for event in of(name))), conversations

    return behind


def _sources_of_keyword(same: str, names: list[str], meant: Callable[[str], Meant]) -> Callable[[], Sources]:
    """Find, when asked, all that state what a keyword means there."""

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
    """Collect the facts of each keyword, by rank; spellings of one are one, as first spelled by who named it."""
    said = text_keywords([fact.first.text for fact in subject.ranked[:_READ]])
    labels = {id(fact): words for fact in subject.facts if (words := _labels(fact))}
    different = {id(words): words for words in labels.values()}  # facts with the same labels share them
    words_of: dict[str, str] = {}
    for words in (*different.values(), {one.key: one.word for one in said}):
        for same, word in words.items():
            words_of.setdefault(same, word)
    found: dict[str, list[DistinctFact]] = {same: [] for same in words_of}
    told: dict[int, list[str]] = {}
    for one in said:
        for number in one.texts:
            told.setdefault(number, []).append(one.key)
    for number, fact in enumerate(subject.ranked):
        named = labels.get(id(fact), ())
        for same in dict.fromkeys((*named, *told[number])) if number in told else named:
            found[same].append(fact)
    return {(same, cut(word, _KEYWORD_CHARS)): found[same] for same, word in words_of.items()}


def _labels(fact: DistinctFact) -> Mapping[str, str]:
    """Return what a fact was given as keywords by who saved it, by what spellings have in common."""
    statements = fact.statements
    words = _given_words(statements[0].entities, statements[0].category)
    for statement in statements[1:]:
        words = {**words, **_given_words(statement.entities, statement.category)}
    return words


@lru_cache(maxsize=4096)
def _given_words(entities: tuple[str, ...], category: str) -> Mapping[str, str]:
    return {_key_of(word): word for word in (*entities, category) if word}
