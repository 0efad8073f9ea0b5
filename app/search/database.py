"""The databases in `cache/`: how SQLite is loaded, when a database is of no use, and how it is deleted.

Two files    `knowledge.db` is written by one replay, in one transaction of seconds; meanwhile prompts read and write
             `search.sqlite`. In one file SQLite refuses these prompts; with a write-ahead log it still refuses
             their writes, and withdrawn words stay in that log while anybody reads.
One rule     a database is of no use where it is damaged, has another format, or is of another program: who has time
             makes it anew. A prompt has none, and reads what another program has made in the same format.
Loading      by SQLite's C module, as a prompt waits. All that module wants of `functools` is `lru_cache`, and loading
             the rest takes three times as long as the module itself: a stand-in is there while it is loaded.
"""

import sys

from eventlog.fast import os
from eventlog.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Statements = Callable[[str], object]


def _with_stand_in() -> bool:
    """Load SQLite's C module; False where this Python has no such halves."""
    try:
        from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]
    except ImportError:
        return False

    def lru_cache(maxsize: int) -> "Callable[[Statements], Statements]":
        return lambda function: _lru_cache_wrapper(function, maxsize, False, tuple)

    stand_in = type(sys)("functools")
    stand_in.lru_cache = lru_cache  # type: ignore[attr-defined]
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3  # noqa: F401 - it keeps what it was given
    except (ImportError, AttributeError):
        return False
    finally:
        del sys.modules["functools"]
    return True


# `os` is in every process but a hook: there, others may be importing at this moment
_is_lean = "os" not in sys.modules and "functools" not in sys.modules and _with_stand_in()

from _sqlite3 import DatabaseError, OperationalError, connect  # noqa: E402

__all__ = ["DatabaseError", "OperationalError", "connect", "create_private", "delete", "delete_damaged", "is_damage"]

_PASSING = ("locked", "busy", "readonly", "unable to open", "full", "disk I/O")  # another try may go well


def is_damage(error: DatabaseError) -> bool:
    """Return whether the database itself is at fault, and not its surroundings."""
    return not any(word in str(error) for word in _PASSING)


def create_private(path: str) -> None:
    """Create the file of a database, private to the user, unless it exists. Raises OSError."""
    if not os.path.isfile(path):
        delete(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, files.MODE_PRIVATE))


def delete(path: str) -> None:
    """Delete a database or what is in its place, and first the journal of a killed writer: it is not for the next."""
    files.remove(f"{path}-journal")
    files.remove(path)
    if os.path.isdir(path):
        from shutil import rmtree  # hooks find no directory there

        rmtree(path, ignore_errors=True)


def delete_damaged(path: str, error: Exception) -> None:
    """Delete a database where an error shows that it is damaged."""
    if isinstance(error, DatabaseError) and not isinstance(error, OperationalError) and is_damage(error):
        delete(path)
