"""Marks: short digests by which a statement or a line is recognised without its words.

A mark of a statement is a salt and the digest that it keys. The rejections of a store share one salt, so that a text
costs one digest; a log of several machines has several. A rejection with its text is of a log from before there were
digests: it is marked without a salt. A mark of a line says in a receipt which text a session was given.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import TypeVar

    from eventlog.format.events import Rejected, StageSummary

    _Summary = TypeVar("_Summary", bound=StageSummary)


_BEFORE = ":"  # the digest
_STANDS_IN = "\ue000"  # no person types it, and whatever makes one line of a text keeps it
_SHORT = 2000  # characters
_CACHED = 1024  # marks
_keyed: "dict[str, Callable[[str], str]]" = {}  # digests, by salt
_marks: "dict[tuple[str, str], str]" = {}  # by text and salt
_DIGITS = 6  # of the mark of a line
_BULLETS = "-*+ "
_ENDS = ".!。！ "


AN_EVENT, ALL_OF, A_STATEMENT = "event ", "conversation ", "statement "  # what the name of an aim begins with
AS_REJECTED = "rejected "  # an event that a person has ever rejected by its id


# ------------------------------------------------------------------------------------------- of statements


def digest_of(text: str, salt: str) -> str:
    """Digest what all wordings of a statement have in common: HMAC-SHA256, keyed by the salt's characters."""
    if salt not in _keyed:
        from eventlog.fast import sha  # these two are loaded only where a person has rejected anything
        from eventlog.format.text import statement_of

        digest = sha.keyed(salt.encode("utf-8", "replace"))
        _keyed[salt] = lambda text: digest(statement_of(text).encode("utf-8", "replace"))
    return _keyed[salt](text)


def mark_of(text: str, salt: str) -> str:
    """Mark a statement; marks of short texts are cached, as several callers look at one text."""
    if len(text) > _SHORT:
        return f"{salt}{_BEFORE}{digest_of(text, salt)}"
    if (text, salt) not in _marks:
        if len(_marks) >= _CACHED:
            _marks.clear()
        _marks[text, salt] = f"{salt}{_BEFORE}{digest_of(text, salt)}"
    return _marks[text, salt]


def mark_in(rejection: "Rejected") -> str:
    """Return the mark of the rejected statement; "" where the rejection is about an event or a conversation."""
    if rejection.digest:
        return f"{rejection.salt or ''}{_BEFORE}{rejection.digest}"
    return mark_of(rejection.statement, "") if rejection.statement else ""


def salts_in(several: "Iterable[str]") -> set[str]:
    """List the salts of marks."""
    return {mark.rpartition(_BEFORE)[0] for mark in several}


def marks_of(text: str, salts: "Collection[str]") -> list[str]:
    """List the marks a text has with these salts; a stand-in has the marks of the text it replaces."""
    if is_stand_in(text):
        return text[1:].split()
    return [mark_of(text, salt) for salt in salts] if text else []


def stand_in(text: str, salts: "Iterable[str]") -> str:
    """Make a text that stands in for another: it has the same marks, and none of its words."""
    if is_stand_in(text):
        return text
    return _STANDS_IN + " ".join(mark_of(text, salt) for salt in sorted(salts))


def is_stand_in(text: str) -> bool:
    """Return whether a text stands in for another."""
    return text.startswith(_STANDS_IN)


def says_the_same(stored: str, text: str) -> bool:
    """Return whether two texts make the same statement, where the first may be a stand-in."""
    from eventlog.format.text import statement_of

    if not is_stand_in(stored):
        return statement_of(stored) == statement_of(text)
    first = stored[1:].split()
    return not set(first).isdisjoint(marks_of(text, salts_in(first)))


class RejectedStatements:
    """The statements that a person has rejected, by their marks."""

    def __init__(self, statements: "Collection[str]") -> None:
        self.statements = statements
        self.salts = salts_in(statements)

    def __bool__(self) -> bool:
        return bool(self.statements)

    def rejects(self, text: str) -> bool:
        """Return whether a person has rejected this statement, in any event."""
        return bool(self) and any(mark in self.statements for mark in marks_of(text, self.salts))

    def cleared(self, summary: "_Summary") -> "_Summary":
        """Take out of a summary what is rejected, or no text; "" stands for a topic or a text."""
        from eventlog.format.text import states_nothing

        def goes(text: str) -> bool:
            return states_nothing(text) or self.rejects(text)

        texts = {name: "" for name in ("topic", "summary") if (text := getattr(summary, name)) and goes(text)}
        # a list of to-dos that is `none` is an empty list, which replaces those before
        lists = {
            name: [text for text in saved if not gone(text)]
            for name, gone in (("decisions", goes), ("todos", self.rejects), ("done", self.rejects))
            if any(map(gone, saved := getattr(summary, name)))
        }
        if not (texts or lists):
            return summary
        from eventlog.fast.copies import replace  # few texts are rejected

        return replace(summary, **texts, **lists)


# ------------------------------------------------------------------------------------------- of lines


def line_marks(lines: "Iterable[str]") -> str:
    """Mark each of these lines that has words; all marks in a single text."""
    return "".join(dict.fromkeys(_line_mark(text) for line in lines if (text := _line_text(line))))


def line_marks_in(receipt: str) -> set[str]:
    """List the marks of a receipt."""
    return {receipt[at : at + _DIGITS] for at in range(0, len(receipt), _DIGITS)}


def has_line_mark(line: str, found: "set[str]") -> bool:
    """Return whether a line has a mark that is among these."""
    text = _line_text(line)
    return text != "" and _line_mark(text) in found


def says_something(line: str) -> bool:
    """Return whether a rendered line has words of events: not a heading, which stands for all below it, nor a field."""
    return bool(line.strip()) and not line.startswith(("#", "**"))


def _line_mark(text: str) -> str:
    return ids.digest(text, _DIGITS // 2).hex()


def _line_text(line: str) -> str:
    """Remove what stands around the text of a rendered line: bullet, date, escapes, capitals, the end of a sentence."""
    text = " ".join(line.replace("\\", "").replace("‹", "<").split()).lstrip(_BULLETS)
    while text.startswith("[") and "]" in text:
        text = text.partition("]")[2].lstrip()
    return text.casefold().rstrip(_ENDS)
