"""Search: what is known that answers a query, best first; and what is near where nothing does."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import NamedTuple

from eventlog.app.naming.known_projects import NOWHERE
from eventlog.app.open_store import OpenStore
from eventlog.app.search.dialogues import Dialogues
from eventlog.app.search.meaning import is_installed, nearest
from eventlog.app.search.open_index import read_index
from eventlog.app.search.recall import line_of, word
from eventlog.app.search.search_index import Hit, Scope, SearchIndex
from eventlog.app.search.standing_lines import done_in
from eventlog.app.search.word_tables import score_of
from eventlog.format.text import fold, one_line
from eventlog.projections.current.standing import not_done
from eventlog.projections.search.findable import Findable
from eventlog.projections.search.ranking import weighed
from eventlog.projections.search.recalled_line import is_todo
from eventlog.projections.search.words import tokens, translated, with_translated

_KINDS = {"stage_summary": "summary", "conversation_text": "conversation"}
_MAX_NEAR = 5
_BY_WORDS, _BY_MEANING = 3, 2  # places of an answer
_SHORTEST_BEGINNING = 2  # characters of the word somebody is still typing


class SearchHit(NamedTuple):
    """A hit of a query; `project` None: about the user. The greater the score, the better.

    The score of the best hit is the share of the query's words that it has, rare words counting more: from 0 to 1; the
    others' are in proportion. What was found by meaning, behind the first three, has the cosine. A fact was said so
    many `times`, last at `ts`; it is in doubt where another hit says the same but for a number.
    """

    id: str
    type: str
    conversation_id: str
    project: str | None
    agent: str | None
    ts: str
    text: str
    score: float
    times: int = 1
    is_doubtful: bool = False

    @property
    def kind(self) -> str:
        """Name in one word what it is to people."""
        return _KINDS.get(self.type, self.type)


class SearchAnswer(NamedTuple):
    """The hits, best first; where there are none, how many answer in other projects, and words that are near."""

    hits: list[SearchHit]
    elsewhere: int = 0
    near: Sequence[str] = ()


class SearchQuery(NamedTuple):
    """A query in any order of words, the last of which may be a beginning.

    It is asked in a project ("" in none) and about the user, or `everywhere`; of these types, of what was said since.
    """

    text: str
    project: str = ""
    everywhere: bool = False
    types: tuple[str, ...] = ()
    since: str = ""
    limit: int = 10


def search(opened: OpenStore, query: SearchQuery) -> SearchAnswer:
    """Search everything that holds; raises OSError where the log cannot be read, or DatabaseError without room."""
    return read_index(opened.store, partial(_search, opened, query))


def _search(opened: OpenStore, query: SearchQuery, index: SearchIndex) -> SearchAnswer:
    subjects = None if query.everywhere else index.names.subjects_at(query.project)
    with _dialogues(opened, index) as dialogues:
        asker = _Asker(opened, query, index, dialogues)
        if hits := asker.answer(subjects):
            return SearchAnswer(hits)
        elsewhere = [] if query.everywhere else asker.find(None)
        return SearchAnswer([], len(elsewhere), list(_near(index, query.text)))


def last_word(text: str) -> str:
    """Return the beginning of a word that is still being typed; "" where the last word is finished.

    A Chinese character by itself is one: texts have it as the first of two.
    """
    typed = fold(text.rpartition(" ")[2])
    for char in tokens(typed)[-1:]:
        if len(char) == 1 and not char.isascii():
            return char
    return typed if len(typed) >= _SHORTEST_BEGINNING and typed.isalnum() else ""


def _dialogues(opened: OpenStore, index: SearchIndex) -> AbstractContextManager[Dialogues | None]:
    return Dialogues.of(opened.log, index) if opened.settings.recall.transcripts else nullcontext()


class _Asker:
    """A query, asked of an index and of the dialogues, if there are any."""

    def __init__(self, opened: OpenStore, query: SearchQuery, index: SearchIndex, dialogues: Dialogues | None) -> None:
        self._opened = opened
        self._query = query
        self._index = index
        self._dialogues = dialogues
        self._asked = tokens(query.text)
        self._others = translated(self._asked)
        self._having = index.having([*self._asked, *(word for other, _ in self._others for word in other)])
        self._weights = weighed(self._having, index.texts())
        self._answers = dialogues.answering([*self._having]) if dialogues else {}

    def find(self, subjects: Sequence[str] | None) -> list[Hit]:
        """Find what is about any of these subjects; None: about any at all."""
        scope, beginning, limit = self._scope(subjects), last_word(self._query.text), 2 * self._query.limit
        return self._index.find(self._having, beginning, scope, limit, dialogues=self._answers, together=True)

    def _scope(self, subjects: Sequence[str] | None) -> Scope:
        return Scope(subjects, self._query.types, self._query.since)

    def answer(self, subjects: Sequence[str] | None) -> list[SearchHit]:
        """Answer by words; where the extra is installed, the places behind the third by meaning."""
        names_seen: set[str] = set()
        found = self.find(subjects)
        scale = self._share(found[0]) / found[0].score if found else 1.0
        by_words = self._distinct(found, names_seen, scale)
        if self._query.limit <= _BY_WORDS or not is_installed():
            return list(islice(by_words, self._query.limit))
        first = list(islice(by_words, _BY_WORDS))
        scope = self._scope(subjects)
        by_meaning = nearest(self._opened.store, self._index, self._query.text, scope, alone=not first)
        near = list(islice(self._distinct(by_meaning, names_seen), _BY_MEANING))
        return [*first, *near, *by_words][: max(self._query.limit, len(first) + len(near))]

    def _share(self, hit: Hit) -> float:
        """Compute the share of the query's words that a hit has, by their weights; 1 for a hit by a beginning alone."""
        words = set(tokens("\n".join([hit.found.words, *hit.found.left, *self._passage(hit, hit.found)])))
        if (typed := last_word(self._query.text)) and any(word.startswith(typed) for word in words):
            words.update(tokens(typed))
        words = with_translated(words, self._others)
        weights = {token: self._weights[token] for token in self._asked}
        has = sum(weight for token, weight in weights.items() if token in words)
        return has / sum(weights.values()) if has else 1.0

    def _distinct(self, hits: Iterable[Hit], names_seen: set[str], scale: float = 1.0) -> Iterator[SearchHit]:
        """Yield each statement once, and of a conversation its summary or its text, and what else it decided."""
        for hit in hits:
            names = hit.found.names or {one_line(hit.found.shown)}
            if not names <= names_seen:
                better = hit if self._query.types else self._index.in_full(hit)
                names_seen |= names | better.found.names
                found = better.found
                if is_todo(found, self._weights):
                    done = done_in(self._index.database, better.subject, found.ts)
                    found.left = not_done(found.left, found, done)
                found.answers = [*self._passage(hit, found), *found.answers]
                better.weights = self._weights
                word(self._opened.store, found.project, better)
                yield SearchHit(
                    found.id,
                    found.type,
                    found.conversation,
                    # by its own path where it names a path
                    None if better.subject in ("", NOWHERE) else found.project or better.subject,
                    found.agent or None,
                    better.last_at,
                    line_of(better, self._opened.settings.locale),
                    round(scale * hit.score, 3),
                    better.times,
                    better.is_doubtful,
                )

    def _passage(self, hit: Hit, found: Findable) -> list[str]:
        """Read the passage that answers, where a conversation was found by its dialogue."""
        answer = self._answers.get(found.conversation)
        if self._dialogues and answer and found.type == "conversation_text" and hit.score <= score_of(answer):
            return list(self._dialogues.passage(found.conversation, answer[-1]))
        return []


def _near(index: SearchIndex, text: str) -> Iterator[str]:
    """Yield words that are known and begin like those of the query."""
    for token in tokens(text)[:_MAX_NEAR]:
        for length in range(len(token), _SHORTEST_BEGINNING, -1):
            if known := index.beginning(token[:length], 1):
                yield _as_written(index, known[0])
                break


def _as_written(index: SearchIndex, token: str) -> str:
    """Return a word of a text that is known by this token: people do not write stems."""
    hits = index.find({token: 1}, "", Scope(None), 1)
    words = (word.strip("`'\"()[]{},;:.!?") for hit in hits for word in hit.found.words.casefold().split())
    return next((word for word in words if tokens(word) == [token]), token)
