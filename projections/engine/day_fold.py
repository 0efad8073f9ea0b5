"""The folded state of one day, and the cache that may keep it from one replay to the next."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from eventlog import stamps
from eventlog.damage import Damage
from eventlog.days import Day

States = dict[type[Any], Any]  # type of state -> state
DayFileStamp = tuple[str, int, int, int, int]


class DayFold(msgspec.Struct):
    """The states a day's events led to.

    `left_out` are copies of another day's events, `misdated` may have copies; `withheld` are withdrawn, and folded
    without their words.
    """

    states: States
    events: int
    damage: list[Damage]
    misdated: list[str]
    left_out: frozenset[str]
    withheld: frozenset[str] = frozenset()


class DayCache(Protocol):
    """Keeps folded days; its owner hands it in. It may forget any of them at any time."""

    @property
    def keeps(self) -> bool:
        """Tell whether anything given to it may be found again."""
        ...

    def find(self, day: Day, kinds: Collection[type[Any]]) -> DayFold | None:
        """Return the fold of exactly these files with states of these kinds; None where there is no good one."""

    def keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        """Keep the fold of files that bore these stamps before they were read; never raises."""

    def sweep(self, dates: Collection[str]) -> None:
        """Forget all days but these."""


class NoCache:
    """The cache that keeps nothing: every day is folded anew."""

    keeps: ClassVar[bool] = False

    def find(self, day: Day, kinds: Collection[type[Any]]) -> DayFold | None:
        """Find nothing."""

    def keep(self, day: Day, stamps: list[DayFileStamp], folded: DayFold) -> None:
        """Keep nothing."""

    def sweep(self, dates: Collection[str]) -> None:
        """Have nothing to forget."""


NO_CACHE = NoCache()


def stamps_of(day: Day) -> list[DayFileStamp]:
    """Return name, size, modification and change time, and inode of each of the day's files."""
    return [_stamp(Path(file)) for file in day.files]


def _stamp(file: Path) -> DayFileStamp:
    """Return name and stamp; of a file that is gone, a stamp no checkpoint has."""
    try:
        return file.name, *stamps.of(file.stat())
    except OSError:
        return file.name, *stamps.GONE
