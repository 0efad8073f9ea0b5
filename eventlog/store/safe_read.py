"""Files of people, confined to a root: every symbolic link is followed, and only regular files are read."""

import os
from pathlib import Path
from stat import S_ISREG

from eventlog.store.files import READ


class NotConfined(Exception):
    """A path that leads out of its root, or to no regular file; the message says which, without naming the path."""


def real_path(path: Path, root: Path) -> Path:
    """Follow every symbolic link of a path; raises NotConfined where it leads out of `root`.

    Links in a circle are taken as they are, unlike by `Path.resolve`: opening them fails.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise NotConfined(f"leads out of {root}, to {real}")
    return real


def check_kind(mode: int) -> None:
    """Raise NotConfined for all but regular files: a pipe would never end."""
    if not S_ISREG(mode):
        raise NotConfined("is not a regular file")


def read_below(root: Path, path: Path, longest: int) -> bytes:
    """Read the first `longest` bytes of a file below `root`; raises NotConfined or OSError."""
    fd = os.open(real_path(path, root), READ)
    try:
        with os.fdopen(fd, "rb", closefd=False) as opened:
            check_kind(os.fstat(fd).st_mode)
            return opened.read(longest)
    finally:  # of a directory, too, which no file can be made of
        os.close(fd)
