"""Hits compared with each other: facts in doubt are marked, and a newer one stands before the older that it opposes.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.text import differing_in_a_number, sentences_of
from eventlog.projections.search.findable import text_in
from eventlog.projections.search.opposed import newer_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventlog.app.search.search_index import Hit
    from eventlog.projections.search.opposed import Having

_LOOKED_AT = 600  # characters of a summary


def compared(hits: "Sequence[Hit]", having: "Having", total: int) -> "list[Hit]":
    """Order hits behind the `newer` facts and decisions about their subject that oppose them, which answer as well.

    Facts that differ in a number only are in doubt; one with a key is replaced, not doubted. Of a session each sentence
    may be opposed; it opposes by what it decided alone. `having` counts the texts with each token, of a `total`.
    """
    facts: dict[str, list[Hit]] = {}
    for hit in filter(_is_open, hits):
        facts.setdefault(hit.subject, []).append(hit)
    for some in facts.values():
        doubtful = differing_in_a_number(hit.found.shown for hit in some) if len(some) > 1 else ()
        for hit in some:
            hit.is_doubtful = hit.found.shown in doubtful
    texts = [(hit, text) for hit in hits for text in _texts(hit)]
    # of two in doubt, who asks for the number wants that one
    order = newer_first([(hit.subject, text, hit.last_at) for hit, text in texts], (), having, total)
    opposing: dict[Hit, list[Hit]] = {}
    for at, opposed in order.items():
        newer, text = texts[at]
        may_oppose = newer.found.type == "fact" or text in newer.found.decisions
        for older in dict.fromkeys(texts[other][0] for other in opposed) if may_oppose else ():
            has_key = older.found.type == "fact" and not _is_open(older)
            if older is not newer and not has_key and newer.last_at > older.last_at:
                opposing.setdefault(older, []).append(newer)
    for older, several in opposing.items():
        for newer in several:
            newer.score = max(newer.score, older.score)
            older.newer.append(newer)
    return list(dict.fromkeys(each for hit in hits for each in (*opposing.get(hit, ()), hit)))


def _texts(hit: "Hit") -> "Iterator[str]":
    """Yield the texts of a hit that may oppose others, or be opposed."""
    if hit.found.type == "fact":
        yield hit.found.shown
    elif hit.found.type == "stage_summary":
        yield from hit.found.decisions
        yield from sentences_of(text_in(hit.fields, "summary")[:_LOOKED_AT])


def _is_open(hit: "Hit") -> bool:
    return hit.found.type == "fact" and not hit.fields.get("key")
