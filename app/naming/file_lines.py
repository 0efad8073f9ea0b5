"""A line of a file as people name it: `FILE:LINE`."""

import re
from typing import NamedTuple

_FILE_LINE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?", re.ASCII | re.DOTALL)


class FileLine(NamedTuple):
    """A file as it was named, and the number of the line of it that is meant; None for all of them."""

    file: str
    line: int | None


def file_line(said: str) -> FileLine:
    """Take what was said apart: `FILE` or `FILE:LINE`."""
    match = _FILE_LINE.fullmatch(said)
    return FileLine(match["file"], int(match["line"]) if match["line"] else None) if match else FileLine(said, None)


def is_file_line(said: str) -> bool:
    """Tell whether this is `FILE:LINE`."""
    return file_line(said).line is not None
