"""Which wordings keys have replaced, by brute force: what the program decides with its own functions."""

from eventlog.format.text import key_of, one_line, same_text
from eventlog.format.timestamps import order


def is_over(text, event, facts):
    """Whether a wording that an event says without a key is no more: each key it ever had says something else since.

    `facts` are all that hold about its subject.
    """
    keys = {key_of(fact.key) for fact in facts if fact.key and _same(fact.content) == _same(text)}
    last = [max((fact for fact in facts if fact.key and key_of(fact.key) == key), key=order) for key in keys]
    replaced = bool(last) and all(_same(fact.content) != _same(text) for fact in last)
    return replaced and any(order(event) < order(fact) for fact in last)


def _same(text):
    return same_text(one_line(text).removeprefix("阶段摘要："))
