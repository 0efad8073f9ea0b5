"""Which wordings keys or corrections have replaced, by brute force: what the program decides with its own functions."""

from eventlog.format.text import key_of, one_line, same_text
from eventlog.format.timestamps import order
from eventlog.projections.current.standing import likeness


def is_over(text, event, facts):
    """Whether a wording that an event says without a key is no more: each key it ever had says something else since.

    Or a later fact was said instead of it.

    `facts` are all that hold about its subject.
    """
    keys = {key_of(fact.key) for fact in facts if fact.key and _same(fact.content) == _same(text)}
    last = [max((fact for fact in facts if fact.key and key_of(fact.key) == key), key=order) for key in keys]
    replaced = bool(last) and all(_same(fact.content) != _same(text) for fact in last)
    return (replaced and any(order(event) < order(fact) for fact in last)) or is_corrected(text, event, facts)


def is_corrected(text, event, facts):
    """Whether a later fact about its subject was said instead of a wording."""
    return any(likeness(text).hex() in fact.instead_of and order(event) < order(fact) for fact in facts)


def _same(text):
    return same_text(one_line(text).removeprefix("阶段摘要："))
