"""The phases of long work: each has a name, and is told how much is done and how much there is in all."""

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Protocol, TypeVar

_Item_co = TypeVar("_Item_co", covariant=True)

Progress = Callable[[int, int], None]  # done, and in all: 0 where that is not known
Phases = Callable[[str], Progress]  # called when a phase begins


class SizedItems(Sized, Iterable[_Item_co], Protocol[_Item_co]):
    """Things that can be counted before they are gone through."""


def silent(_phase: str) -> Progress:
    """Tell nobody."""
    return lambda _done, _all: None


def told(items: SizedItems[_Item_co], progress: Progress) -> Iterator[_Item_co]:
    """Go through items, telling after each how many are done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number, len(items))
