"""The progress of long work: its phases have names, and count what is done of how much."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeVar

_Item_co = TypeVar("_Item_co", covariant=True)

Progress = Callable[[int, int], None]  # done, and in all: 0 where that is not known
Phases = Callable[[str], Progress]  # called when a phase begins


class _SizedItems(Sized, Iterable[_Item_co], Protocol[_Item_co]):
    """Items that can be counted first."""


READING = "reading days"
Reporter = Callable[[], AbstractContextManager[Phases]]


def no_progress(_done: int, _all: int) -> None:
    """Ignore how much is done."""


def quiet(_phase: str) -> Progress:
    """Ignore the phase."""
    return no_progress


def track(items: _SizedItems[_Item_co], progress: Progress) -> Iterator[_Item_co]:
    """Yield items, and report after each how many are done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number, len(items))


default_reporter: ContextVar[Reporter] = ContextVar("reporter")


def report() -> AbstractContextManager[Phases]:
    """Begin long work, with the default reporter where it is set."""
    reporter = default_reporter.get(None)
    return nullcontext(quiet) if reporter is None else reporter()
