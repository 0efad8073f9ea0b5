"""The head of a past session: whose transcript it is, where it ran, from when to when.

A room's `past` module names the folders and files of a host's transcripts (`FOLDERS` below its directory, `NAMES`),
reads the head of a transcript (`past_session`), and its steps (`steps`).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.format import timestamps

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII)


class PastSession(NamedTuple):
    """A transcript's head; times are timestamps of the log, texts "" where the host writes none.

    `is_dated` is False where a host writes no times: they are then the file's, which copying may change.
    """

    conversation: str
    started: str
    ended: str
    where: str = ""
    subagent: str = ""
    model: str = ""
    branch: str = ""
    commit: str = ""
    is_dated: bool = True


class Span:
    """The first and the last time of a transcript."""

    def __init__(self) -> None:
        self._first, self._last = "~", ""

    def see(self, value: object) -> None:
        """Add a time as a host writes it; skip any other value."""
        if isinstance(value, str) and (value < self._first or value > self._last) and _TIME.fullmatch(value):
            self._first, self._last = min(value, self._first), max(value, self._last)

    def of(self, path: Path) -> tuple[str, str, bool]:
        """Return the first time, the last, and True; else the file's time, twice, and False."""
        try:
            if self._last:
                return timestamps.read(self._first), timestamps.read(self._last), True
        except ValueError:  # a day no calendar has
            pass
        written = timestamps.from_ns(path.stat().st_mtime_ns)
        return written, written, False


def first_text(*values: Any) -> str:
    """Return the first of these that is a non-empty text, else ""."""
    return next((value for value in values if isinstance(value, str) and value), "")


def directory_spelled(slug: str, root: Path = Path("/")) -> str:
    """Find the directory of this machine with this slug: its path, with `-` for all but letters and digits.

    "" for none. Several paths may have the same slug: the first that exists is returned.
    """
    return next(_spelled(slug.removeprefix("-"), root), "")


def _spelled(rest: str, below: Path) -> Iterator[str]:
    try:
        names = sorted(entry.name for entry in below.iterdir() if entry.is_dir())
    except OSError:
        return
    for name in names:
        spelled = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
        if spelled == rest:
            yield str(below / name)
        elif rest.startswith(f"{spelled}-"):
            yield from _spelled(rest[len(spelled) + 1 :], below / name)
