"""The phases of long work: each has a name, and is told how much is done and how much there is in all."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeVar

_Item_co = TypeVar("_Item_co", covariant=True)

Progress = Callable[[int, int], None]  # done, and in all: 0 where that is not known
Phases = Callable[[str], Progress]  # called when a phase begins


class SizedItems(Sized, Iterable[_Item_co], Protocol[_Item_co]):
    """Things that can be counted before they are gone through."""


READING = "reading days"
Reporter = Callable[[], AbstractContextManager[Phases]]


def no_progress(_done: int, _all: int) -> None:
    """Tell nobody how much is done."""


def quiet(_phase: str) -> Progress:
    """Tell nobody."""
    return no_progress


def track(items: SizedItems[_Item_co], progress: Progress) -> Iterator[_Item_co]:
    """Go through items, telling after each how many are done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number, len(items))


_watch: ContextVar[Reporter] = ContextVar("watch")


def set_reporter(watch: Reporter) -> None:
    """Let whoever shows long work be told of the work that nobody has asked to be told of."""
    _watch.set(watch)


def report() -> AbstractContextManager[Phases]:
    """Begin long work: its phases are shown by whoever does that, if anybody."""
    watch = _watch.get(None)
    return nullcontext(quiet) if watch is None else watch()
