"""The outline of a past conversation: whose transcript it is, where it was, from when to when.

A room's `past` module names the folders and files a host keeps its transcripts in (`FOLDERS` below its directory,
`NAMES`), and draws the outline of one (`outline`).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eventlog import hosts
from eventlog.format import timestamps

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII)


class Outline(NamedTuple):
    """One transcript; times are timestamps of the log, texts are "" where nothing is told.

    `is_dated` is False where a host writes no times: they are then those of the file, which copying may change.
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
    """The first and the last of the times seen."""

    def __init__(self) -> None:
        self._first, self._last = "~", ""

    def see(self, value: object) -> None:
        """Take in a time as a host writes it; what is none is passed over."""
        if isinstance(value, str) and (value < self._first or value > self._last) and _TIME.fullmatch(value):
            self._first, self._last = min(value, self._first), max(value, self._last)

    def of(self, path: Path) -> tuple[str, str, bool]:
        """The first time, the last, and whether they were told; else the file's own."""
        try:
            if self._last:
                return timestamps.read(self._first), timestamps.read(self._last), True
        except ValueError:  # a day no calendar has
            pass
        written = timestamps.from_ns(path.stat().st_mtime_ns)
        return written, written, False


def transcripts(agent: str, place: Path) -> list[Path]:
    """List the transcripts in a host's directory, or in any folder of them, last written last; or the one file.

    Few days are open at a time when they are read in this order.
    """
    past = hosts.part(agent, "past")
    if past is None:
        return []
    if place.is_file():
        return [place]
    folders = [place / name for name in past.FOLDERS if (place / name).is_dir()]
    names = past.NAMES if folders else [name.rpartition("/")[2] for name in past.NAMES]
    found = {path for folder in folders or [place] for name in names for path in folder.rglob(name) if path.is_file()}
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, str(path)))


def outline(agent: str, path: Path, damaged: list[int]) -> Outline | None:
    """Draw the outline of a transcript, None where it is none; lines nobody can read are added to `damaged`.

    Raises OSError.
    """
    drawn: Outline | None = hosts.part(agent, "past").outline(path, damaged)
    return drawn


def first_text(*values: Any) -> str:
    """The first of these that is a text with something in it, else ""."""
    return next((value for value in values if isinstance(value, str) and value), "")


def directory_spelled(slug: str, root: Path = Path("/")) -> str:
    """Find the directory of this machine whose path is spelled so, all but letters and digits as `-`.

    "" where there is none. Several paths may be spelled alike: the first that exists is taken.
    """
    return next(_spelled(slug.removeprefix("-"), root), "")


def _spelled(rest: str, below: Path) -> Iterator[str]:
    try:
        names = sorted(entry.name for entry in below.iterdir() if entry.is_dir())
    except OSError:
        return
    for name in names:
        said = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
        if said == rest:
            yield str(below / name)
        elif rest.startswith(f"{said}-"):
            yield from _spelled(rest[len(said) + 1 :], below / name)
