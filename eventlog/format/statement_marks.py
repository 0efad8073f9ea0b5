"""Statements that a person does not want said, known by marks: what must recognise their words need not keep them.

A mark is a salt and the digest that it keys. The rejections of a store share one salt, so that to look at a text costs
one digest; a log of several machines has several. A rejection with its text is of a log from before there were digests:
it is marked without a salt.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import sha

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_BEFORE = ":"  # the digest
_STANDS_IN = "\ue000"  # of nobody's writing, and what makes a line of a text leaves it there
_SHORT = 2000  # characters
_REMEMBERED = 1024  # marks
_KEYED: "dict[str, sha.Keyed]" = {}  # by salt
_KNOWN: "dict[tuple[str, str], str]" = {}  # marks by text and salt


def digest_of(text: str, salt: str) -> str:
    """Digest what all wordings of a statement have in common: HMAC-SHA256, keyed by the salt's characters."""
    from eventlog.format.text import (
        statement_of,  # imports more than a hook has time for, unless somebody rejected anything
    )

    if salt not in _KEYED:
        _KEYED[salt] = sha.keyed(salt.encode("utf-8", "replace"))
    return _KEYED[salt](statement_of(text).encode("utf-8", "replace"))


def mark_of(text: str, salt: str) -> str:
    """Mark a statement; those of short texts are remembered, as one text is looked at several times."""
    if len(text) > _SHORT:
        return f"{salt}{_BEFORE}{digest_of(text, salt)}"
    if (text, salt) not in _KNOWN:
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        _KNOWN[text, salt] = f"{salt}{_BEFORE}{digest_of(text, salt)}"
    return _KNOWN[text, salt]


def rejected_mark(salt: str | None, digest: str | None, statement: str | None) -> str:
    """Give the mark of what a rejection is about; "" where that is no statement."""
    if digest:
        return f"{salt or ''}{_BEFORE}{digest}"
    return mark_of(statement, "") if statement else ""


def salts_in(marks: "Iterable[str]") -> set[str]:
    """List the salts of marks."""
    return {mark.rpartition(_BEFORE)[0] for mark in marks}


def marks_of(text: str, salts: "Collection[str]") -> list[str]:
    """List the marks a text has with these salts; of one that stands in for another, those it has of that."""
    if is_stand_in(text):
        return text[1:].split()
    return [mark_of(text, salt) for salt in salts] if text else []


def stand_in(text: str, salts: "Iterable[str]") -> str:
    """Make a text that stands in for another: it has the same marks, and none of its words."""
    if is_stand_in(text):
        return text
    return _STANDS_IN + " ".join(mark_of(text, salt) for salt in sorted(salts))


def is_stand_in(text: str) -> bool:
    """Tell whether a text stands in for another."""
    return text.startswith(_STANDS_IN)


def says_the_same(kept: str, text: str) -> bool:
    """Tell whether a text makes the statement of another, or of that for which the other stands in."""
    from eventlog.format.text import statement_of

    if not is_stand_in(kept):
        return statement_of(kept) == statement_of(text)
    marks = kept[1:].split()
    return not set(marks).isdisjoint(marks_of(text, salts_in(marks)))
