"""The progress of long work: its phases have names, and count what is done of how much.

Whoever watches sets the default reporter; nobody hands a bar through the functions that do the work.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

_Item = TypeVar("_Item")

Progress = Callable[[int, int], None]  # done, and in all: 0 where that is not known
Reporter = Callable[[str], AbstractContextManager[Progress]]  # takes the name of a phase, which may be part of another

READING = "reading days"
default_reporter: ContextVar[Reporter] = ContextVar("reporter")


def no_progress(_done: int, _all: int) -> None:
    """Ignore how much is done."""


def report(phase: str) -> AbstractContextManager[Progress]:
    """Begin a phase of long work, with the default reporter where it is set."""
    reporter = default_reporter.get(None)
    return nullcontext(no_progress) if reporter is None else reporter(phase)


def track(items: Collection[_Item], phase: str) -> Iterator[_Item]:
    """Yield items, and report after each how many are done."""
    with report(phase) as progress:
        for number, item in enumerate(items, 1):
            yield item
            progress(number, len(items))
