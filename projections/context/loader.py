"""Reads people's files: confined to a root, and text only.

Check      every symbolic link followed, it must lie in its root, and be a regular file (a pipe would never end).
Read       at most a mebibyte; what is not UTF-8, or holds a NUL, never reaches a prompt.

Imported inside agents' hooks: standard library only.
"""

from _codecs import utf_8_decode

from eventlog.fast.fastjson import BOM
from eventlog.store.shared_files import NotConfined, read_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 1 << 20  # bytes read of a file; no budget is anywhere near


class Unreadable(Exception):
    """A file is there, and not to be read; the message says why."""


def read(path: "Path | str", root: "Path | str") -> str:
    """Return the text of a file below `root`; raises FileNotFoundError, OSError, or Unreadable."""
    try:
        data = read_below(root, path, _LONGEST)
    except NotConfined as error:
        raise Unreadable(str(error)) from error
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
