"""SQLite through its C module, for those who wait for it: a prompt.

All that module wants of `functools` is `lru_cache`, and loading the rest of it takes three times as long as loading
the module itself. Where nothing has loaded it yet, the C half of `lru_cache` stands in for a moment.
"""

import sys

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

__all__ = ["DatabaseError", "OperationalError", "connect"]
