"""A file, and a line of it, as people name them: `FILE:LINE`, `PROJECT/FILE`."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_FILE_LINE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?", re.ASCII | re.DOTALL)

_IN_PROJECT = re.compile(r"projects/(.+)-[0-9a-f]{6}/(.+)", re.DOTALL)


class FileLine(NamedTuple):
    """A file as it was named, and the number of the line of it that is meant; None for all of them."""

    file: str
    line: int | None


def file_line(said: str) -> FileLine:
    """Take what was said apart: `FILE` or `FILE:LINE`."""
    match = _FILE_LINE.fullmatch(said)
    return FileLine(match["file"], int(match["line"]) if match["line"] else None) if match else FileLine(said, None)


def with_project_named(said: str, paths: Iterable[str]) -> list[str]:
    """Find the paths that this means: `shop/MEMORY.md` or `projects/shop/MEMORY.md` for `projects/shop-957ed0/…`."""
    wanted = said.removeprefix("projects/")
    return [path for path in paths if _IN_PROJECT.fullmatch(path) and _IN_PROJECT.sub(r"\1/\2", path) == wanted]


def is_file_line(said: str) -> bool:
    """Tell whether this is `FILE:LINE`."""
    return file_line(said).line is not None
