"""The facts of each keyword: of those it was given by who saved it, and of those several texts name; pure."""

from collections.abc import Mapping
from functools import lru_cache

from eventlog.projections.state.distinct_facts import DistinctFact
from eventlog.projections.state.fact_scopes import FactScope
from eventlog.projections.views.text_keywords import key_of, text_keywords
from eventlog.text import cut

_KEYWORD_CHARS = 60
_READ = 200  # facts whose texts are looked through, the first by rank

_key_of = lru_cache(maxsize=4096)(key_of)


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
    words = _words_of(statements[0].entities, statements[0].category)
    for statement in statements[1:]:
        words = {**words, **_words_of(statement.entities, statement.category)}
    return words


@lru_cache(maxsize=4096)
def _words_of(entities: tuple[str, ...], category: str) -> Mapping[str, str]:
    return {_key_of(word): word for word in (*entities, category) if word}
