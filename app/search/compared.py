"""Hits compared with each other: facts in doubt are marked, and a newer one stands before the older that it opposes.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.text import differing_in_a_number
from eventlog.projections.search.opposed import newer_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventlog.app.search.search_index import Hit
    from eventlog.projections.search.opposed import Having


def compared(hits: "Sequence[Hit]", having: "Having", total: int) -> "list[Hit]":
    """Order hits: facts behind the `newer` facts of their subject that oppose them, which answer as well.

    Facts that differ in a number only are in doubt; one with a key is replaced, not doubted. `having` counts the texts
    with each token, of a `total`.
    """
    facts: dict[str, list[Hit]] = {}
    for hit in filter(_is_open, hits):
        facts.setdefault(hit.subject, []).append(hit)
    for some in facts.values():
        doubtful = differing_in_a_number(hit.found.shown for hit in some) if len(some) > 1 else ()
        for hit in some:
            hit.is_doubtful = hit.found.shown in doubtful
    statements = [(hit.subject, hit.found.shown if _is_open(hit) else "", hit.last_at) for hit in hits]
    order = newer_first(statements, (), having, total)  # of two in doubt, who asks for the number wants that one
    for newer, opposed in order.items():
        for older in opposed:
            hits[newer].score = max(hits[newer].score, hits[older].score)
            hits[older].newer.append(hits[newer])
    return [hits[at] for at in order]


def _is_open(hit: "Hit") -> bool:
    return hit.found.type == "fact" and not hit.fields.get("key")
