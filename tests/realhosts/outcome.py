"""How a scenario ended."""

from typing import Literal, NamedTuple

Verdict = Literal["ok", "fails", "skipped"]


class Fails(AssertionError):
    """The behaviour is not there; the text says what happened instead."""


class Skipped(Exception):
    """The behaviour cannot be looked at here; the text says why."""


class Outcome(NamedTuple):
    """A verdict on one behaviour of one host, with a word on it: a figure, what happened instead, why not."""

    host: str
    scenario: str
    verdict: Verdict
    note: str
    seconds: float = 0.0
    failed_first: str = ""  # what happened at the first try, where this is the second


def expect(holds: object, otherwise: str) -> None:
    """Raise Fails with `otherwise` unless it holds."""
    if not holds:
        raise Fails(otherwise)
