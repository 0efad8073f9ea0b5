"""How far the tests look: a fixed, affordable part in `make test`, much further in `make fuzz`."""

import os

FUZZ = os.environ.get("TEST_EFFORT") == "fuzz"


def rounds(*, fixed: int, fuzz: int) -> int:
    """Choose how often a kill, a race or a law is tried."""
    return fuzz if FUZZ else fixed


def seed() -> int:
    """Choose where random choices begin: at the same place every time, or anywhere."""
    return int.from_bytes(os.urandom(4)) if FUZZ else 0
