"""Events as they are appended, to whatever day: a reader that waits for more."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from eventlog.app.query import EventFilter, fitting
from eventlog.fastjson import MAX_LINE
from eventlog.log import EventLog
from eventlog.log_line import LogLine, check_line, unread


class Follower:
    """Reads what is appended after it was made; `wanted` without ids."""

    def __init__(self, log: EventLog, wanted: EventFilter) -> None:
        self._log = log
        self._fits = fitting(log, wanted)
        self._ends = {file: _whole_lines(file) for day in log.days() for file in day.files}

    def after(self, found: Iterable[LogLine], wait: Callable[[], bool]) -> Iterator[LogLine]:
        """Yield what was found already, then each new event once, until `wait` between two looks returns False."""
        shown: set[str] = set()
        for entry in chain(found, self._appended(wait)):
            if entry.event.id not in shown:
                shown.add(entry.event.id)
                yield entry

    def _appended(self, wait: Callable[[], bool]) -> Iterator[LogLine]:
        while wait():
            files = [(file, day.date) for day in self._log.days() for file in day.files]
            new = [entry for file, day in files for entry in self._new_in(file, day)]
            yield from filter(self._fits, new)

    def _new_in(self, file: str, day: str) -> Iterator[LogLine]:
        """Read the whole lines beyond the last look; a file that is shorter than it was begins anew at its end."""
        start, end = self._ends.get(file, 0), _whole_lines(file)
        self._ends[file] = end
        if end <= start:
            return
        with suppress(OSError), Path(file).open("rb") as opened:
            opened.seek(start)
            for line in opened.read(end - start).removesuffix(b"\n").split(b"\n"):
                found = check_line(unread(line, file, 0, start or 1), day)
                yield from (entry for entry in found if isinstance(entry, LogLine))


def _whole_lines(file: str) -> int:
    """Find where the last whole line of a file ends; 0 where there is none, or no file."""
    with suppress(OSError), Path(file).open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - MAX_LINE))
        return size - len(opened.read().rpartition(b"\n")[2])
    return 0
