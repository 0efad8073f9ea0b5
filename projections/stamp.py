"""Rendered Markdown files certify themselves: the last line tells of when and of what they are; pure.

    <!-- eventlog 2026-02-21T08:35:44.123456Z sha256:9f86d0… -->

The time is that of the newest event that has a say in the file: replaying the log as of it gives the same bytes. The
digest is of everything above the line and of that time: where it matches, no one has touched the file. In older
files it is of the text alone.
"""

import re
from collections.abc import Sequence

from eventlog.fast.sha import sha256
from eventlog.projections.base import Document, Line, Sources

_STAMP = re.compile(
    rb"<!-- eventlog (?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) sha256:(?P<digest>[0-9a-f]{64}) -->\n?\Z"
)
STAMP_BYTES = len("<!-- eventlog 2026-02-21T08:35:44.123456Z sha256: -->\n") + 64


def stamped(path: str, lines: Sequence[Line], newest: str) -> Document:
    """Add an empty line and the certifying line; their sources are those of the whole document."""

    def behind() -> Sources:
        told = [line.behind() for line in lines]
        events = dict.fromkeys(event for events, _ in told for event in events)
        return tuple(events), tuple(dict.fromkeys(one for _, conversations in told for one in conversations))

    above = Document(path, (*lines, Line("", find=behind)))
    stamp = f"<!-- eventlog {newest} sha256:{_digest(above.data + newest.encode())} -->"
    data = above.data + f"{stamp}\n".encode()
    return Document(path, (*above.lines, Line(stamp, find=behind)), data)


def stamped_at(data: bytes) -> str | None:
    """Return the time a rendered file carries, edited or not; None where it carries none."""
    match = _STAMP.search(data)
    return match["ts"].decode() if match else None


def is_stamp(line: str) -> bool:
    """Tell whether a line is the last one of a rendered file."""
    return _STAMP.fullmatch(line.encode()) is not None


def unstamped(document: Document) -> list[str]:
    """Take the lines of a rendered file without its stamp and the empty line above that."""
    lines = [line.text for line in document.lines]
    return lines[:-2] if lines and is_stamp(lines[-1]) else lines


def is_untouched(data: bytes) -> bool:
    """Tell whether the bytes are exactly what was once rendered."""
    match = _STAMP.search(data)
    if match is None:
        return False
    above = data[: match.start()]
    return match["digest"].decode() in (_digest(above + match["ts"]), _digest(above))


def _digest(data: bytes) -> str:
    return sha256(data)
