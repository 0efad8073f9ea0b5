"""Rendered Markdown files certify themselves: the last line tells of when and of what they are; pure.

    <!-- eventlog 2026-02-21T08:35:44.123456Z sha256:9f86d0… -->

The time is that of the newest event that has a say in the file: replaying the log as of it gives the same bytes. The
digest is of everything above the line and of that time: where it matches, no one has touched the file. In older
files it is of the text alone.
"""

import hashlib
import re
from collections.abc import Sequence

from eventlog.projections.base import Document, Line

_STAMP = re.compile(
    rb"<!-- eventlog (?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) sha256:(?P<digest>[0-9a-f]{64}) -->\n?\Z"
)
STAMP_BYTES = len("<!-- eventlog 2026-02-21T08:35:44.123456Z sha256: -->\n") + 64


def stamped(path: str, lines: Sequence[Line], newest: str) -> Document:
    """Add an empty line and the certifying line; their sources are those of the whole document."""
    events = tuple(dict.fromkeys(event for line in lines for event in line.sources))
    conversations = tuple(dict.fromkeys(conversation for line in lines for conversation in line.conversations))
    above = (*lines, Line("", events, conversations))
    digest = _digest(Document(path, above).data + newest.encode())
    return Document(path, (*above, Line(f"<!-- eventlog {newest} sha256:{digest} -->", events, conversations)))


def stamped_at(data: bytes) -> str | None:
    """Return the time a rendered file carries, edited or not; None where it carries none."""
    match = _STAMP.search(data)
    return match["ts"].decode() if match else None


def is_stamp(line: str) -> bool:
    """Tell whether a line is the last one of a rendered file."""
    return _STAMP.fullmatch(line.encode()) is not None


def is_untouched(data: bytes) -> bool:
    """Tell whether the bytes are exactly what was once rendered."""
    match = _STAMP.search(data)
    if match is None:
        return False
    above = data[: match.start()]
    return match["digest"].decode() in (_digest(above + match["ts"]), _digest(above))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
