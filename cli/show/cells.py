"""Widths as terminals have them: Chinese characters and most emoji take two cells, marks upon others none."""

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import category, east_asian_width

_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_OPENS, _CLOSES = "([{“‘（「『【《〈［｛", ")]},.;:!?”’，。、；：！？）」』】》〉］｝…"


def cells(text: str) -> int:
    """Count the cells a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, room: int) -> str:
    """Cut a text to so many cells; one that was cut ends in an ellipsis."""
    if cells(text) <= room:
        return text
    kept = next(end for end in range(len(text), -1, -1) if cells(text[:end]) < room or end == 0)
    return text[:kept].rstrip() + "…"


def padded(text: str, room: int) -> str:
    """Cut or fill a text to exactly so many cells."""
    shown = fit(text, room)
    return shown + " " * (room - cells(shown))


def wrapped(text: str, room: int) -> list[str]:
    """Break a text into lines of at most so many cells, between words or Han characters; a longer word stays whole."""
    return list(_lines(text, room)) or [""]


def _lines(text: str, room: int) -> Iterator[str]:
    line = ""
    for unit in _unit().findall(text):
        if line and cells(line) + cells(unit.rstrip()) > room:
            yield line.rstrip()
            line = ""
        line += unit
    if line.strip():
        yield line.rstrip()


@cache
def _unit() -> re.Pattern[str]:
    """Compile what a line is not broken within: a word, or one wide character with the punctuation that belongs to it.

    That takes 4 ms: who prints into a pipe breaks no lines.
    """
    opens, closes = re.escape(_OPENS), re.escape(_CLOSES)
    return re.compile(f"[{opens}]*[{_WIDE}][{closes}]* *|[^ {_WIDE}]+[{closes}]* *| +")


def _cells(char: str) -> int:
    return 0 if category(char) in {"Mn", "Me", "Cf"} else 1 + (east_asian_width(char) in "WF")
