"""Marks of lines: by them a receipt tells which texts a session was given, whichever event says them.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = 6  # of a mark
_BULLETS = "-*+ "
_ENDS = ".!。！ "


def marks(lines: "Iterable[str]") -> str:
    """Mark each of these lines that says anything; all marks in one text."""
    return "".join(dict.fromkeys(_mark(said) for line in lines if (said := _said(line))))


def marked(told: str) -> set[str]:
    """List the marks of a receipt."""
    return {told[at : at + _DIGITS] for at in range(0, len(told), _DIGITS)}


def is_among(text: str, told: "set[str]") -> bool:
    """Tell whether a text has one of these marks."""
    said = _said(text)
    return said != "" and _mark(said) in told


def says_something(line: str) -> bool:
    """Tell whether a rendered line has words of events: not a heading, which stands for all below it, nor a field."""
    return bool(line.strip()) and not line.startswith(("#", "**"))


def _mark(said: str) -> str:
    return ids.digest(said, _DIGITS // 2).hex()


def _said(line: str) -> str:
    """Take away what a told line has around its text: bullet, date, escapes, capitals, the end of a sentence."""
    text = " ".join(line.replace("\\", "").replace("‹", "<").split()).lstrip(_BULLETS)
    while text.startswith("[") and "]" in text:
        text = text.partition("]")[2].lstrip()
    return text.casefold().rstrip(_ENDS)
