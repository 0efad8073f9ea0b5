"""Reads people's files: confined to a root, and text only.

Check      every symbolic link followed, it must lie in its root, and be a regular file (a pipe would never end).
Read       at most a mebibyte; what is not UTF-8, or holds a NUL, never reaches a prompt.
"""

import os
import stat
from codecs import utf_8_decode
from pathlib import Path

from eventlog.fastjson import BOM

_LONGEST = 1 << 20  # bytes read of a file; no budget is anywhere near
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Unreadable(Exception):
    """A file is there, and not to be read; the message says why."""


def read(path: Path, root: Path) -> str:
    """Return the text of a file below `root`; raises FileNotFoundError, OSError, or Unreadable."""
    real = Path(os.path.realpath(path))  # unlike Path.resolve, it takes links in a circle as they are
    if not real.is_relative_to(os.path.realpath(root)):
        raise Unreadable(f"leads out of {root}, to {real}")
    fd = os.open(real, _READ)
    with os.fdopen(fd, "rb") as opened:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unreadable("is not a regular file")
        data = opened.read(_LONGEST)
    return _text_of(data).replace("\r\n", "\n")


def _text_of(data: bytes) -> str:
    """Decode the bytes; what is no text is not for a prompt. Raises Unreadable."""
    try:
        text, _ = utf_8_decode(data.removeprefix(BOM), "strict", len(data) < _LONGEST)
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8: byte {error.start} cannot be read") from error
    if "\0" in text:
        raise Unreadable(f"is not text: it holds a NUL, at character {text.index(chr(0))}")
    return text
