"""Files as the log rendered them at any time: one replay for each time asked for; pure."""

from collections.abc import Callable
from pathlib import PurePath

from eventlog.projections.base import Document
from eventlog.projections.engine.day_book import EVERYTHING
from eventlog.projections.engine.replay import ReplayResult


class Renderings:
    """The replays of one log as of different times; `replay` makes one of the events with `ts` up to its argument."""

    def __init__(self, replay: Callable[[str], ReplayResult]) -> None:
        self._replay = replay
        self._made: dict[str, ReplayResult] = {}

    def at(self, ts: str | None) -> ReplayResult:
        """Replay up to a time, once; None: up to now."""
        until = ts or EVERYTHING
        if until not in self._made:
            self._made[until] = self._replay(until)
        return self._made[until]

    def document(self, path: str, ts: str | None) -> Document | None:
        """Return the document of this path as of a time; None where there was none."""
        return self.at(ts).document(path)

    def document_of(self, file: PurePath, ts: str | None) -> Document | None:
        """Return the document a file is a copy of, wherever it lies: that of the longest path the file's ends with."""
        return self.at(ts).document_of(file)
