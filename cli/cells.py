"""Widths as terminals have them: Chinese characters and most emoji take two cells, combining marks none."""

from unicodedata import combining, east_asian_width


def cells(text: str) -> int:
    """Count the cells a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, room: int) -> str:
    """Cut a text to so many cells; one that was cut ends in an ellipsis."""
    if cells(text) <= room:
        return text
    kept = next(end for end in range(len(text), -1, -1) if cells(text[:end]) < room)
    return text[:kept].rstrip() + "…"


def padded(text: str, room: int) -> str:
    """Cut or fill a text to exactly so many cells."""
    shown = fit(text, room)
    return shown + " " * (room - cells(shown))


def _cells(char: str) -> int:
    return 0 if combining(char) else 1 + (east_asian_width(char) in "WF")
