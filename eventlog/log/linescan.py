"""Lines that hold certain bytes, or lie where an index says; all others are not looked at.

Imported inside agents' hooks: os only.
"""

from eventlog.fast import os
from eventlog.fast.fastjson import BOM
from eventlog.store.files import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def line_at(data: bytes, at: int) -> tuple[int, int]:
    """Find start and end, without its line break, of the line around an offset."""
    start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    return start, len(data) if end < 0 else end


def lines_with(data: bytes, words: "Iterable[bytes]") -> "Iterator[tuple[int, int]]":
    """Find start and end of each line that holds any of the words, once, in no particular order.

    A byte order mark before the first line is not part of it.
    """
    starts: set[int] = set()
    for word in words:
        at = data.find(word)
        while at >= 0:
            start, end = line_at(data, at)
            if start not in starts:
                starts.add(start)
                yield len(BOM) if start == 0 and data.startswith(BOM) else start, end
            at = data.find(word, end)


def lines_at(path: str, offsets: "Sequence[int]") -> "Iterator[bytes]":
    """Read the lines of a file that start at these offsets, in the order given, with their ends; raises OSError.

    Where there are none, it is not opened.
    """
    if not offsets:
        return
    with os.fdopen(open_regular(path), "rb") as opened:
        for offset in offsets:
            opened.seek(offset)
            yield opened.readline()


def last_lines_with(data: bytes, word: bytes) -> "Iterator[tuple[int, int]]":
    """Find start and end of each line that holds the word, the last one first."""
    at = data.rfind(word)
    while at >= 0:
        start, end = line_at(data, at)
        yield start, end
        at = data.rfind(word, 0, start)
