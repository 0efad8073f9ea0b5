"""The progress of long work: its phases have names, and count what is done of how much."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

_Item = TypeVar("_Item")

Progress = Callable[[int, int], None]  # done, and in all: 0 where that is not known
Phases = Callable[[str], Progress]  # called when a phase begins


READING = "reading days"
Reporter = Callable[[], AbstractContextManager[Phases]]


def no_progress(_done: int, _all: int) -> None:
    """Ignore how much is done."""


def quiet(_phase: str) -> Progress:
    """Ignore the phase."""
    return no_progress


def track(items: Collection[_Item], progress: Progress) -> Iterator[_Item]:
    """Yield items, and report after each how many are done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number, len(items))


default_reporter: ContextVar[Reporter] = ContextVar("reporter")


def report() -> AbstractContextManager[Phases]:
    """Begin long work, with the default reporter where it is set."""
    reporter = default_reporter.get(None)
    return nullcontext(quiet) if reporter is None else reporter()
