"""How far the tests look: a fixed, affordable part in `make test`, much further in `make fuzz` and `make trust`."""

import os

from hypothesis import settings

FUZZ = os.environ.get("TEST_EFFORT") == "fuzz"
_SCALE = float(os.environ.get("TEST_SCALE", "1"))  # of what fuzz effort asks for
EXAMPLES = max(10, round(200 * _SCALE))  # of a property, under fuzz effort
_asked: list[int] = []  # by the test that runs


def rounds(*, fixed: int, fuzz: int) -> int:
    """Choose how often a kill, a race or a law is tried."""
    number = max(fixed, round(fuzz * _SCALE)) if FUZZ else fixed
    return tried(number)


def stride(fixed: int) -> int:
    """Choose how many places lie from one that is tried to the next; fuzz effort tries each."""
    return 1 if FUZZ else fixed


def tried(number: int) -> int:
    """Note so many rounds of the test that runs; return their number."""
    _asked.append(number)
    return number


def seed() -> int:
    """Choose where random choices begin: at the same place every time, or anywhere."""
    return int.from_bytes(os.urandom(4)) if FUZZ else 0


def begin() -> None:
    """Forget what the test before asked for."""
    _asked.clear()


def played(function: object) -> int:
    """Count the rounds of the test that has run."""
    if hasattr(function, "hypothesis"):
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        return int((own or settings.default).max_examples)  # type: ignore[union-attr]
    return sum(_asked) or 1
