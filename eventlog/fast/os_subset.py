"""The part of `os` and `os.path` that hooks need: the system calls of its C core, and a few paths of text.

Gain: `import os` takes 1.15 times a bare start of Python, `import posix` 1.00 times.

Whatever else is asked for is `os`'s, imported then. For POSIX, imported as `from eventlog.fast import os` only.
"""

import posix
import sys
from builtins import open as fdopen  # `io` is not loaded yet where Python 3.14 starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

globals().update({**vars(posix), **globals()})  # as `from posix import *`, which takes ten times as long

__all__ = ["fdopen"]  # and the others

_KIND, _DIRECTORY, _FILE, _LINK = 0o170000, 0o040000, 0o100000, 0o120000  # as `_stat` has them (inode(7))
name, devnull, pathsep, SEEK_SET, O_BINARY = "posix", "/dev/null", ":", 0, 0
path = sys.modules[__name__]


def _environ() -> "Mapping[str, str]":
    raw: Mapping[bytes, bytes] = posix.environ
    encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    return {variable.decode(encoding, errors): value.decode(encoding, errors) for variable, value in raw.items()}


environ = _variables = _environ()


def exists(path: str) -> bool:
    """Return whether the path leads to anything."""
    return _mode(path) >= 0


def isdir(path: str) -> bool:
    """Return whether the path leads to a directory."""
    return _mode(path) & _KIND == _DIRECTORY


def isfile(path: str) -> bool:
    """Return whether the path leads to a regular file."""
    return _mode(path) & _KIND == _FILE


def isabs(path: str) -> bool:
    """Return whether the path begins at the root."""
    return path.startswith("/")


def basename(path: str) -> str:
    """Return what follows the last slash."""
    return path[path.rfind("/") + 1 :]


def dirname(path: str) -> str:
    """Return what comes before the last slashes; of the root, the root."""
    head = path[: path.rfind("/") + 1]
    return head.rstrip("/") or head


def join(path: str, *more: str) -> str:
    """Join paths, each below the last; start again at a path from the root."""
    for part in more:
        path = part if part.startswith("/") or not path else f"{path}{'' if path.endswith('/') else '/'}{part}"
    return path


def normpath(path: str) -> str:
    """Normalise a path: no `.`, no `..`, no double slashes."""
    spelled: str = posix._path_normpath(path)  # type: ignore[attr-defined]  # noqa: SLF001 - what posixpath takes
    return spelled or "."


def abspath(path: str) -> str:
    """Complete a path from the root."""
    return normpath(path if path.startswith("/") else join(posix.getcwd(), path))


def realpath(path: str) -> str:
    """Follow every symbolic link; where there is none, no module is loaded for it."""
    spelled = abspath(path)
    above = spelled
    while above != "/":
        try:
            is_link = posix.lstat(above).st_mode & _KIND == _LINK
        except (OSError, ValueError):
            is_link = False
        if is_link:
            import posixpath

            return posixpath.realpath(path)
        above = dirname(above)
    return spelled


def expanduser(path: str) -> str:
    """Put the home directory for `~`."""
    if not path.startswith("~"):
        return path
    home = _variables.get("HOME", "").rstrip("/")
    if home and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    import posixpath

    return posixpath.expanduser(path)


def _mode(path: str) -> int:
    try:
        return posix.stat(path).st_mode
    except (OSError, ValueError):
        return -1


def __getattr__(name: str) -> object:
    import os

    return getattr(os if hasattr(os, name) else os.path, name)
