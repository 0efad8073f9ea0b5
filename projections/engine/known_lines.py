"""The sources of a document's lines, kept when it was rendered: who asks for one line has nothing ranked once more.

They hold while the document is current, and of a file that says the same bytes.
"""

from typing import TYPE_CHECKING

import msgspec

from eventlog.format.ids import digest_of
from eventlog.projections.base import Document, Line, Sources

if TYPE_CHECKING:
    from eventlog.projections.engine.library import Library

_KIND = "behind"
_DIGEST = 16  # bytes


class _Behind(msgspec.Struct, array_like=True):
    """The digest of the document, and the sources of lines of it, by number."""

    digest: bytes
    lines: dict[int, Sources]


_behind = msgspec.msgpack.Decoder(_Behind)


def keep_lines(document: Document, library: "Library") -> Document:
    """Keep the sources of the lines that know them, and return the document."""
    lines = {number: line.known for number, line in enumerate(document.lines, 1) if line.known}
    library.keep(_KIND, document.path, msgspec.msgpack.encode(_Behind(digest_of(document.data, _DIGEST), lines)))
    return document


def kept_lines(path: str, data: bytes, library: "Library") -> dict[int, Line]:
    """Return those lines of the document at this path, by number; none where it is outdated, or says something else."""
    is_current = any(files and path in files for files in library.published.values())
    kept = library.kept(_KIND, path) if is_current else None
    known = _behind.decode(kept) if kept else None
    if known is None or known.digest != digest_of(data, _DIGEST):
        return {}
    texts = data.decode().split("\n")
    return {number: Line(texts[number - 1], *behind) for number, behind in known.lines.items()}
