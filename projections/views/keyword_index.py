"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions.

Light on purpose: the reader is a model, and the model is the search engine. Short ids stand for texts, and all of it
takes at most a fifth of the bytes of the facts and summaries it leads to. Keywords are the entities and categories of
facts, and words that several of their texts contain (`text_keywords.py`); a word tells facts apart if two of them have
it, and at most a third. What tells most is kept where not all of it has room.

The index of everything names the projects, and how much there is of each; its keywords are those of the user.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from math import log
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
from msgspec import Struct

from eventlog.format.ids import short_id
from eventlog.format.local_time import local_time
from eventlog.format.text import cut, one_line, project_name, same_text
from eventlog.projections.base import Document, Line, Projection, Sources, View
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import STATED, fact_scope
from eventlog.projections.views.labels import LABELS, Labels, in_language
from eventlog.projections.views.markdown import STAMP_BYTES, as_text, stamped
from eventlog.projections.views.summaries import HEADS, Head, with_summaries
from eventlog.projections.views.text_keywords import key_of, text_keywords
from eventlog.store import conversation_name

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_FACTS, _SESSIONS = 3, 2  # of a keyword
_NOTED = 8  # sessions of one, of which some may not be named the next time
_MIN, _MAX_OF = 2, 3  # facts that have a word; the part of all, as a divisor
_FILE = "INDEX.md"
_LIGHT = 5  # the part of what it leads to that it may take, as a divisor
_BULLET, _SUMMARY = len("- [2026-02-20] \n"), 400  # bytes: around a fact, and of a summary, rather few
_MORE_SESSIONS = 32  # that may be summarised before the keywords are collected once more
_SMALLEST = 1000  # bytes: below, a title and a stamp are all there is room for
_OWN_LINES = 12  # titles, headings, the key, the line of what was left out, the stamp
_TOPIC_CHARS, _TOPIC_BYTES = 48, 72
_KEYWORD_CHARS = 60
_READ = 200  # facts whose texts are looked through, the first by rank

Meant = dict[str, list[DistinctFact]]  # the facts of each keyword

_text_keywords = lru_cache(maxsize=64)(text_keywords)  # the page asks for the same texts day by day


class _Share(Struct, array_like=True):
    """The share of a project in the index of everything: how much is known, and the conversations with a summary."""

    facts: int
    sessions: int
    changed_at: str
    summarised: list[str]


class _Keyword(Struct, array_like=True):
    """A word and the facts that have it, by rank; `is_given` where an event names it as an entity or a category."""

    same: str
    word: str
    is_given: bool
    facts: list[DistinctFact]

    def rank(self, facts: int) -> tuple[bool, float, str]:
        """Return the sort key for the budget, of a word in so many facts: given words, then rare words."""
        tells = len(self.facts) * log((facts + 1) / len(self.facts))
        return not self.is_given, -round(tells, 6), self.same


class _KeywordLine(Struct, array_like=True):
    """A line of a keyword, its place and its key, up to the sessions it names: the first of those that state it."""

    place: str
    same: str
    start: str
    stating: list[str]

    def text(self, sessions: Collection[str]) -> str:
        """Write the line, where these sessions may be named."""
        named = [short_id(conversation_name(name)) for name in self.stating if name in sessions][:_SESSIONS]
        return as_text(f"{self.start} → {' '.join(named)}" if named else self.start)

    def is_certain(self, sessions: Collection[str]) -> bool:
        """Return whether the noted sessions are enough, where some may not be named any more."""
        return len(self.stating) < _NOTED or sum(name in sessions for name in self.stating) >= _SESSIONS


class _IndexedFacts(Struct, array_like=True):
    """The facts of a subject for its index, valid until its rows of them change.

    `keywords` are the first by rank: all that an index of `room` bytes may take; `count` is all. Beside facts, they
    depend on settings, and on which sessions may be named: `choice` are those of them that state any of it, `stating`
    checksums of all conversations that do.
    """

    settings: tuple[str, int, int]  # language, and the room of MEMORY.md
    facts: int
    changed_at: str
    size: int  # bytes of the facts that MEMORY.md has room for
    room: int
    keywords: list[_KeywordLine]
    count: int
    choice: list[str]
    stating: list[int]

    def is_current(self, settings: tuple[str, int, int], room: int, sessions: Collection[str]) -> bool:
        """Return whether that is all for an index of so many bytes, where these sessions may be named."""
        stating = set(self.stating)
        choice = {session for session in sessions if crc32(session.encode()) in stating}
        are_certain = all(line.is_certain(sessions) for line in self.keywords)
        return settings == self.settings and room <= self.room and choice <= set(self.choice) and are_certain


_share = msgspec.msgpack.Decoder(_Share)
_stated = msgspec.msgpack.Decoder(_IndexedFacts)
_STATED = "index of facts"


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the index of a project and cache its share, or render the index of everything."""
    words, heads = LABELS[index.settings.locale], with_summaries(index, name)
    if not name:
        yield from _of_everything(index, words, heads)
        return
    sessions = {head.id for head in heads}
    stated = _stated_of(name, index, heads, sessions)
    share = _share_of(name, index, heads, stated)
    if index.store("share", name, msgspec.msgpack.encode(share)):
        index.invalidate([("index", "")])
    if share.facts or heads:
        path = index.identities.document(name, _FILE)
        lines = list(_head(f"{words.index_title}: {_name(name)}", words, _sources_of([name], index)))
        yield _document(path, lines, list(_listed(heads, index)), name, stated, sessions, share.changed_at, index)


def _of_everything(index: "DocumentIndex", words: Labels, heads: list[Head]) -> Iterator[Document]:
    names = [name for name in index.names("index") if name]
    theirs = {name: _share.decode(data) for name in names if (data := index.stored("share", name))}
    active = [name for name, share in theirs.items() if share.facts or share.sessions]
    sessions = {head.id for head in heads} | {name for share in theirs.values() for name in share.summarised}
    stated = _stated_of("", index, heads, sessions)
    if not (active or stated.facts or heads):
        return
    lines = list(_head(words.index_title, words, _sources_of(["", *active], index)))
    if active:
        of_projects = _sources_of(active, index)
        lines += [Line(text, find=of_projects) for text in ("", f"## {words.projects}", "")]
    for name in active:
        count = words.counts.format(facts=theirs[name].facts, sessions=theirs[name].sessions)
        place = f"{as_text(one_line(name))} → {index.identities.document(name, _FILE)}"
        lines.append(Line(f"- **{_name(name)}** ({count}) {place}", find=_sources_of([name], index)))
    changed_at = max(share.changed_at for share in (_share_of("", index, heads, stated), *theirs.values()))
    yield _document(_FILE, lines, list(_listed(heads, index)), "", stated, sessions, changed_at, index)


def _stated_of(name: str, index: "DocumentIndex", heads: list[Head], sessions: Collection[str]) -> _IndexedFacts:
    """Return what is stored of a subject's facts, or collect and store it; the engine drops it where they change."""
    memory = index.settings.memory
    settings = index.settings.locale, memory.max_lines, memory.max_bytes
    if data := index.stored(_STATED, name):
        found = _stated.decode(data)
        if found.is_current(settings, _room(found.size, len(heads)), sessions):
            return found
    subject = index.memo(fact_scope, name)
    shown = subject.ranked[: memory.max_lines]
    size = min(sum(len(fact.first.text.encode()) + _BULLET for fact in shown), memory.max_bytes)
    room = _room(size, len(heads) + _MORE_SESSIONS)
    limit = max(_MIN, len(subject.facts) // _MAX_OF)
    telling = [keyword for keyword in index.memo(_by_keyword, name) if _MIN <= len(keyword.facts) <= limit]
    keywords, taken = list[_KeywordLine](), 0
    for keyword in sorted(telling, key=lambda keyword: keyword.rank(len(subject.facts))):
        if taken > room:
            break
        keywords.append(_line_of(keyword, index.settings.locale, sessions))
        taken += len(keywords[-1].start.encode()) + 1
    conversations = {statement.conversation_id for row in subject.rows for statement in row.statements}
    choice, stating = sorted(conversations.intersection(sessions)), sorted(crc32(one.encode()) for one in conversations)
    key = settings, len(subject.facts), subject.changed_at, size, room
    found = _IndexedFacts(*key, keywords, len(telling), choice, stating)
    index.store(_STATED, name, msgspec.msgpack.encode(found))
    return found


def _line_of(keyword: _Keyword, locale: str, sessions: Collection[str]) -> _KeywordLine:
    """Point from a word to its first facts, and note the first sessions that state them."""
    word = in_language(keyword.word, keyword.same, locale)
    shown = dict.fromkeys(short_id(fact.first.id) for fact in keyword.facts[:_FACTS])
    more = " …" if len(keyword.facts) > _FACTS else ""
    start = f"- **{word}** ({len(keyword.facts)}): {' '.join(shown)}{more}"
    stating = (statement.conversation_id for fact in keyword.facts for statement in reversed(fact.statements))
    noted: dict[str, None] = {}
    for conversation in stating:
        if conversation in sessions:
            noted[conversation] = None
            if len(noted) == _NOTED:
                break
    return _KeywordLine(same_text(word), keyword.same, start, list(noted))


def _document(
    path: str,
    lines: list[Line],
    listed: list[Line],
    name: str,
    stated: _IndexedFacts,
    sessions: Collection[str],
    changed_at: str,
    index: "DocumentIndex",
) -> Document:
    """Add to the lines of a title the sessions and the keywords that fit; these take half of the room, if need be."""
    settings, words = index.settings, LABELS[index.settings.locale]
    behind = _sources_of([name], index)
    meant = cache(lambda _: {keyword.same: keyword.facts for keyword in index.memo(_by_keyword, name)})
    remaining = _room(stated.size, len(listed)) - STAMP_BYTES - _size(_head("", words, behind))
    keywords = [
        (line.place, Line(line.text(sessions), find=partial(_sources_of_keyword, line.same, meant)))
        for line in stated.keywords
    ]
    of_keywords = min(remaining // 2, _size(line for _, line in keywords))
    shown = list(_fitting(listed, remaining - of_keywords, settings.memory.max_lines // 2))
    if shown:
        spoke = cache(lambda: ((), _spoke(name, index)))
        lines += [Line(text, find=spoke) for text in ("", f"## {words.sessions}", "")]
        lines += shown
    room = remaining - _size(shown), settings.memory.max_lines - len(lines) - _OWN_LINES
    count = sum(1 for _ in _fitting([line for _, line in keywords], *room))
    if count:
        lines += [Line(text, find=behind) for text in ("", f"## {words.keywords}", "")]
        lines += [line for _, line in sorted(keywords[:count], key=lambda pair: pair[0])]
    if more := stated.count - count:
        text = words.more.format(count=more, command="eventlog query --type fact --grep WORD")
        lines += [Line("", find=behind), Line(text, find=behind)]
    return stamped(path, lines, changed_at)


def _room(size: int, sessions: int) -> int:
    """Count the bytes an index may take, of the facts and the summaries that it leads to."""
    return max(_SMALLEST, (size + _SUMMARY * sessions) // _LIGHT)


def _size(lines: Iterable[Line]) -> int:
    return sum(len(line.text.encode()) + 1 for line in lines)


def _fitting(lines: Iterable[Line], size: int, count: int) -> Iterator[Line]:
    """Yield the first lines that take no more than so many bytes, and are no more than so many."""
    for number, line in enumerate(lines):
        size -= len(line.text.encode()) + 1
        if size < 0 or number >= count:
            return
        yield line


def _head(title: str, words: Labels, behind: Callable[[], Sources]) -> Iterator[Line]:
    yield from (Line(text, find=behind) for text in (f"# {title}", "", words.index_key))


def _listed(heads: list[Head], index: "DocumentIndex") -> Iterator[Line]:
    """List sessions, newest first: day, short id and topic."""
    local = local_time(index.settings.timezone)
    for head in heads:
        topic = cut(head.topic, _TOPIC_CHARS)
        while len(topic.encode()) > _TOPIC_BYTES:
            topic = cut(topic, len(topic) - 1)
        text = f"{local(head.last_at)[:10]} {short_id(conversation_name(head.id))} {as_text(topic)}"
        yield Line(f"- {text}".rstrip(), whole=(head.id,))


def _share_of(name: str, index: "DocumentIndex", heads: list[Head], stated: _IndexedFacts) -> _Share:
    rows = index.rows(HEADS, name)
    times = [row.changed_at for row in rows] + [head.last_at for head in heads]
    came_to_something = sum(row.came_to_something for row in rows)
    return _Share(stated.facts, came_to_something, max([stated.changed_at, *times]), [head.id for head in heads])


def _name(name: str) -> str:
    return as_text(project_name(name))


def _spoke(name: str, index: "DocumentIndex") -> tuple[str, ...]:
    return tuple(sorted(row.id for row in index.rows(HEADS, name)))


def _sources_of(names: list[str], index: "DocumentIndex") -> Callable[[], Sources]:
    """Build the lazy sources of projects: the events of all facts, replaced facts included."""

    @cache
    def behind() -> Sources:
        conversations = tuple(conversation for name in names for conversation in _spoke(name, index))
        rows = [row for name in names for row in index.rows(STATED, name)]
        stated = {statement.id for row in rows for statement in row.statements}
        return tuple(sorted(stated.union(*(row.silent for row in rows)))), conversations

    return behind


def _sources_of_keyword(same: str, meant: Callable[[None], Meant]) -> Sources:
    facts = meant(None).get(same, ())
    return tuple(dict.fromkeys(event for fact in facts for event in fact.sources)), ()


_VIEW = View((STATED, HEADS), _render, top=True, of_all=True, of_rows=True, keeps=_STATED)
_OWNS = ("INDEX.md", "projects/*/INDEX.md")
KEYWORD_INDEX = Projection("index", Conversations, None, _OWNS, view=_VIEW)


def _by_keyword(index: "DocumentIndex", name: str) -> list[_Keyword]:
    """Collect the facts of each keyword, by rank; spellings unite under the first, labels before texts."""
    subject = index.memo(fact_scope, name)
    read = sorted(subject.ranked[:_READ], key=lambda fact: fact.first.text)
    in_texts = _text_keywords(tuple(fact.first.text for fact in read))
    labels = {id(fact): words for fact in subject.facts if (words := _labels(fact))}
    different = {id(words): words for words in labels.values()}  # facts with the same labels share them
    found: dict[str, _Keyword] = {}
    for words in different.values():
        for same, word in words.items():
            found.setdefault(same, _Keyword(same, cut(word, _KEYWORD_CHARS), True, []))
    by_text: dict[int, list[str]] = {}
    for keyword in in_texts:
        found.setdefault(keyword.key, _Keyword(keyword.key, cut(keyword.word, _KEYWORD_CHARS), False, []))
        for number in keyword.texts:
            by_text.setdefault(id(read[number]), []).append(keyword.key)
    of_labels = {of: [found[same].facts for same in words] for of, words in different.items()}
    for fact in subject.ranked:
        words = labels.get(id(fact), {})
        for facts in of_labels.get(id(words), ()):
            facts.append(fact)
        for same in by_text.get(id(fact), ()):
            if same not in words:
                found[same].facts.append(fact)
    return list(found.values())


def _labels(fact: DistinctFact) -> Mapping[str, str]:
    """Return the entities and categories of a fact, by the key of their spellings."""
    statements = fact.statements
    words = _label_words(statements[0].entities, statements[0].category)
    for statement in statements[1:]:
        words = {**words, **_label_words(statement.entities, statement.category)}
    return words


@lru_cache(maxsize=4096)
def _label_words(entities: tuple[str, ...], category: str) -> Mapping[str, str]:
    return {key_of(word): word for word in (*entities, category) if word}
