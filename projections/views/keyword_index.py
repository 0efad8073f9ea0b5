"""`INDEX.md`, of everything and of each project: keyword -> facts and sessions.

Light on purpose: the reader is a model, and the model is the search engine. Short ids stand for texts, and all of it
takes at most a fifth of the bytes of the facts and summaries it leads to. Keywords are the entities and categories of
facts, and words that several of their texts contain (`text_keywords.py`); a word tells facts apart if two of them have
it, and at most a third. What tells most is kept where not all of it has room.

The index of everything names the projects, and how much there is of each; its keywords are those of the user.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from math import log
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
from msgspec import Struct

from eventlog.format.ids import digest_of, short_id
from eventlog.format.text import cut, one_line, project_name, same_text
from eventlog.projections.base import Document, Line, Projection, Sources, View
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import STATED, FactScope, fact_scope
from eventlog.projections.views.labels import LABELS, Labels, in_language
from eventlog.projections.views.markdown import STAMP_BYTES, as_text, stamped
from eventlog.projections.views.note_lines import local_time
from eventlog.projections.views.summaries import HEADS, Head, kept
from eventlog.projections.views.text_keywords import key_of, text_keywords
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name

if TYPE_CHECKING:
    from eventlog.projections.engine.documents import DocumentIndex

_FACTS, _SESSIONS = 3, 2  # of a keyword
_LEAST, _MOST_OF = 2, 3  # facts that have a word; the part of all, as a divisor
_FILE = "INDEX.md"
_LIGHT = 5  # the part of what it leads to that it may take, as a divisor
_BULLET, _SUMMARY = len("- [2026-02-20] \n"), 400  # bytes: around a fact, and of a summary, rather few
_SMALLEST = 1000  # bytes: below, a title and a stamp are all there is room for
_OWN_LINES = 12  # titles, headings, the key, the line of what was left out, the stamp
_TOPIC_CHARS, _TOPIC_BYTES = 48, 72
_KEYWORD_CHARS = 60
_DIGEST = 16  # bytes
_READ = 200  # facts whose texts are looked through, the first by rank

Meant = dict[str, list[DistinctFact]]  # the facts of each keyword

_key_of = lru_cache(maxsize=4096)(key_of)
_text_keywords = lru_cache(maxsize=64)(text_keywords)  # the page asks for the same texts day by day


class _Share(Struct, array_like=True):
    """The share of a project in the index of everything: how much is known, and the conversations with a summary."""

    facts: int
    sessions: int
    changed_at: str
    kept: list[str]


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


class _KeywordLines(Struct, array_like=True):
    """The lines of keywords, by rank, as many as have room for sure: each with its place and its key; `count` is all.

    `named` are the sessions they name.
    """

    lines: list[tuple[str, str, str]]
    count: int
    named: list[str]


class _Own(Struct, array_like=True):
    """The part of the index of everything that is about the user, as long as what is stated about them stays the same.

    Beside that it depends on settings, and on which sessions may be named: `choice` are those of them that state any
    of it, `stating` checksums of all conversations that do.
    """

    settings: bytes
    share: _Share
    room: int
    keywords: _KeywordLines
    choice: list[str]
    stating: list[int]


_share = msgspec.msgpack.Decoder(_Share)
_own = msgspec.msgpack.Decoder(_Own)
_OWN = "own"


def _render(name: str, index: "DocumentIndex") -> Iterable[Document]:
    """Render the index of a project and cache its share, or render the index of everything."""
    words, heads = LABELS[index.settings.locale], kept(index, name)
    if not name:
        yield from _of_everything(index, words, heads)
        return
    subject = index.memo(fact_scope, name)
    share = _share_of(name, index, heads, subject)
    if index.store("share", name, msgspec.msgpack.encode(share)):
        index.invalidate([("index", "")])
    if subject.facts or heads:
        path = index.identities.document(name, _FILE)
        lines = list(_head(f"{words.index_title}: {_name(name)}", words, _sources_of([name], index)))
        room = _room(subject, len(heads), index.settings)
        keywords = _keywords(subject, {head.id for head in heads}, room, name, index)
        yield _document(path, lines, list(_listed(heads, index)), name, keywords, room, share.changed_at, index)


def _of_everything(index: "DocumentIndex", words: Labels, heads: list[Head]) -> Iterator[Document]:
    names = [name for name in index.names("index") if name]
    theirs = {name: _share.decode(data) for name in names if (data := index.stored("share", name))}
    active = [name for name, share in theirs.items() if share.facts or share.sessions]
    own = _own_of(
        index, heads, {head.id for head in heads} | {name for share in theirs.values() for name in share.kept}
    )
    if not (active or own.share.facts or heads):
        return
    lines = list(_head(words.index_title, words, _sources_of(["", *active], index)))
    if active:
        of_projects = _sources_of(active, index)
        lines += [Line(text, find=of_projects) for text in ("", f"## {words.projects}", "")]
    for name in active:
        count = words.counts.format(facts=theirs[name].facts, sessions=theirs[name].sessions)
        place = f"{as_text(one_line(name))} → {index.identities.document(name, _FILE)}"
        lines.append(Line(f"- **{_name(name)}** ({count}) {place}", find=_sources_of([name], index)))
    changed_at = max(share.changed_at for share in (own.share, *theirs.values()))
    yield _document(_FILE, lines, list(_listed(heads, index)), "", own.keywords, own.room, changed_at, index)


def _own_of(index: "DocumentIndex", heads: list[Head], sessions: set[str]) -> _Own:
    """Return what is stored of the user, or collect it and store it; the engine drops it where their rows change."""
    settings = digest_of(msgspec.json.encode(index.settings), _DIGEST)
    if data := index.stored(_OWN, ""):
        own = _own.decode(data)
        stating = set(own.stating)
        choice = {session for session in sessions if crc32(session.encode()) in stating}
        if own.settings == settings and choice <= set(own.choice) and sessions.issuperset(own.keywords.named):
            return own
    subject = index.memo(fact_scope, "")
    room = _room(subject, len(heads), index.settings)
    keywords = _keywords(subject, sessions, room, "", index)
    conversations = {statement.conversation_id for row in subject.rows for statement in row.statements}
    checksums = sorted(crc32(conversation.encode()) for conversation in conversations)
    share = _share_of("", index, heads, subject)
    own = _Own(settings, share, room, keywords, sorted(sessions & conversations), checksums)
    index.store(_OWN, "", msgspec.msgpack.encode(own))
    return own


def _document(
    path: str,
    lines: list[Line],
    listed: list[Line],
    name: str,
    keywords: _KeywordLines,
    room: int,
    changed_at: str,
    index: "DocumentIndex",
) -> Document:
    """Add to the lines of a title the sessions and the keywords that fit; these take half of the room, if need be."""
    settings, words = index.settings, LABELS[index.settings.locale]
    behind, meant = _sources_of([name], index), cache(lambda _: _meant(name, index))
    left = room - STAMP_BYTES - _size(_head("", words, behind))
    of_keywords = [(place, Line(text, find=_sources_of_keyword(same, meant))) for place, text, same in keywords.lines]
    most = min(left // 2, _size(line for _, line in of_keywords))
    shown = list(_fitting(listed, left - most, settings.memory.max_lines // 2))
    if shown:
        lines += [Line(text, find=lambda: ((), _spoke(name, index))) for text in ("", f"## {words.sessions}", "")]
        lines += shown
    limits = left - _size(shown), settings.memory.max_lines - len(lines) - _OWN_LINES
    count = sum(1 for _ in _fitting([line for _, line in of_keywords], *limits))
    if count:
        lines += [Line(text, find=behind) for text in ("", f"## {words.keywords}", "")]
        lines += [line for _, line in sorted(of_keywords[:count], key=lambda pair: pair[0])]
    if more := keywords.count - count:
        text = words.more.format(count=more, command="eventlog query --type fact --grep WORD")
        lines += [Line("", find=behind), Line(text, find=behind)]
    return stamped(path, lines, changed_at)


def _room(subject: FactScope, sessions: int, settings: Settings) -> int:
    """Count the bytes an index may take, of the memory and the summaries that it leads to."""
    shown = subject.ranked[: settings.memory.max_lines]
    facts = sum(len(fact.first.text.encode()) + _BULLET for fact in shown)
    return max(_SMALLEST, (min(facts, settings.memory.max_bytes) + _SUMMARY * sessions) // _LIGHT)


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


def _keywords(subject: FactScope, sessions: set[str], room: int, name: str, index: "DocumentIndex") -> _KeywordLines:
    """Make the lines of keywords, the rarest words first, until they take more than the room; they name sessions."""
    locale, most = index.settings.locale, max(_LEAST, len(subject.facts) // _MOST_OF)
    telling = [keyword for keyword in index.memo(_by_keyword, name) if _LEAST <= len(keyword.facts) <= most]
    found = _KeywordLines([], len(telling), [])
    for keyword in sorted(telling, key=lambda keyword: keyword.rank(len(subject.facts))):
        word = in_language(keyword.word, keyword.same, locale)
        named = _stating(keyword, sessions)
        text = _text(keyword, word, named)
        found.lines.append((same_text(word), text, keyword.same))
        found.named += named
        room -= len(text.encode()) + 1
        if room < 0:
            break
    return found


def _stating(keyword: _Keyword, sessions: set[str]) -> list[str]:
    """List the sessions that state the facts of a keyword, as many as are named."""
    stating = (statement.conversation_id for fact in keyword.facts for statement in reversed(fact.statements))
    return list(dict.fromkeys(conversation for conversation in stating if conversation in sessions))[:_SESSIONS]


def _text(keyword: _Keyword, word: str, named: list[str]) -> str:
    """Point from a word to its first facts, and to sessions that state them."""
    shown = dict.fromkeys(short_id(fact.first.id) for fact in keyword.facts[:_FACTS])
    more = " …" if len(keyword.facts) > _FACTS else ""
    to = f" → {' '.join(short_id(conversation_name(name)) for name in named)}" if named else ""
    return as_text(f"- **{word}** ({len(keyword.facts)}): {' '.join(shown)}{more}{to}")


def _share_of(name: str, index: "DocumentIndex", heads: list[Head], subject: FactScope) -> _Share:
    rows = index.rows(HEADS, name)
    times = [row.changed_at for row in rows] + [head.last_at for head in heads]
    came_to_something = sum(row.came_to_something for row in rows)
    return _Share(len(subject.facts), came_to_something, max([subject.changed_at, *times]), [head.id for head in heads])


def _name(name: str) -> str:
    return as_text(project_name(name))


def _spoke(name: str, index: "DocumentIndex") -> tuple[str, ...]:
    return tuple(sorted(row.id for row in index.rows(HEADS, name)))


def _sources_of(names: list[str], index: "DocumentIndex") -> Callable[[], Sources]:
    """Build the lazy sources of projects: the events of all facts, replaced facts included."""

    def behind() -> Sources:
        conversations = tuple(conversation for name in names for conversation in _spoke(name, index))
        rows = [row for name in names for row in index.rows(STATED, name)]
        stated = {statement.id for row in rows for statement in row.statements}
        return tuple(sorted(stated.union(*(row.silent for row in rows)))), conversations

    return behind


def _sources_of_keyword(same: str, meant: Callable[[None], Meant]) -> Callable[[], Sources]:
    """Build the lazy sources of a keyword."""

    def behind() -> Sources:
        facts = meant(None).get(same, ())
        return tuple(dict.fromkeys(event for fact in facts for event in fact.sources)), ()

    return behind


def _meant(name: str, index: "DocumentIndex") -> Meant:
    return {keyword.same: keyword.facts for keyword in index.memo(_by_keyword, name)}


_VIEW = View((STATED, HEADS), _render, top=True, of_all=True, of_rows=True, keeps=_OWN)
_OWNS = ("INDEX.md", "projects/*/INDEX.md")
KEYWORD_INDEX = Projection("index", Conversations, None, _OWNS, view=_VIEW)


def _by_keyword(index: "DocumentIndex", name: str) -> list[_Keyword]:
    return by_keyword(index.memo(fact_scope, name))


def by_keyword(subject: FactScope) -> list[_Keyword]:
    """Collect the facts of each keyword, by rank; spellings unite under the first, labels before texts."""
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
    for fact in subject.ranked:
        for same in dict.fromkeys((*labels.get(id(fact), ()), *by_text.get(id(fact), ()))):
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
    return {_key_of(word): word for word in (*entities, category) if word}
