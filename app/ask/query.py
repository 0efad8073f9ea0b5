"""Events of the log by conversation, type, project, time and text."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.ask.text_filter import saying
from eventlog.app.naming.known_projects import about
from eventlog.app.progress import Progress, nobody
from eventlog.fast.fastjson import MAX_LINE
from eventlog.format.events import order
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine, check_line

Test = Callable[[LogLine], bool]


class EventFilter(Struct, frozen=True, kw_only=True):
    """Which events are asked for; every condition given must hold.

    `since` and `until` are timestamps of the log, both included. Each word of `text` must stand in what the event says,
    in any case, and `regex`, a regular expression, must match there; `project` and `agents` are as the log has them,
    `ids` whole.
    """

    session: str | None = None
    types: tuple[str, ...] = ()
    project: str | None = None
    agents: tuple[str, ...] = ()
    since: str = ""
    until: str = "~"
    text: str | None = None
    regex: str | None = None
    ids: tuple[str, ...] | None = None


def query(
    log: EventLog,
    wanted: EventFilter,
    *,
    limit: int | None = None,
    reverse: bool = False,
    progress: Progress = nobody,
) -> Iterable[LogLine]:
    """Find the events with their lines, oldest first; a line that cannot be read is passed over.

    With `reverse` newest first, and `limit` counts from the newest. Raises BadRequest for a `regex` that is none.
    """
    if reverse:
        return reversed(newest(log, wanted, limit, progress))
    return islice(_found(log, wanted, progress), limit)


def newest(log: EventLog, wanted: EventFilter, limit: int | None, progress: Progress = nobody) -> deque[LogLine]:
    """Find the newest events, oldest first; only as many days are read as that takes, or twice as many."""
    dates = [day.date for day in log.days(wanted.since, wanted.until)]
    reach = 1 if limit is not None else len(dates)
    while True:
        since = max(wanted.since, dates[-reach]) if reach < len(dates) else wanted.since
        found = deque(_found(log, replace(wanted, since=since), progress), maxlen=limit)
        if reach >= len(dates) or len(found) == limit:
            return found
        reach *= 2


def fitting(log: EventLog, wanted: EventFilter) -> Test:
    """Make the test of everything that is asked for."""
    tests = list(_tests(log, wanted))
    return lambda entry: all(test(entry) for test in tests)


def _found(log: EventLog, wanted: EventFilter, progress: Progress) -> Iterator[LogLine]:
    return filter(fitting(log, wanted), _source(log, wanted, progress))


def _source(log: EventLog, wanted: EventFilter, progress: Progress) -> Iterator[LogLine]:
    if wanted.ids is None and wanted.session is None:
        needles = saying(wanted.text, wanted.regex).needles
        return log.entries(wanted.since, wanted.until, mentioning=needles, progress=progress)
    if wanted.ids is None:
        return iter(log.session_entries(str(wanted.session)))
    return iter(sorted(log.find(wanted.ids).values(), key=lambda entry: order(entry.event)))


def _tests(log: EventLog, wanted: EventFilter) -> Iterator[Test]:
    yield lambda entry: wanted.since <= entry.event.ts <= wanted.until
    if wanted.session is not None:
        yield lambda entry: entry.event.conversation_id == wanted.session
    if wanted.types:
        yield lambda entry: entry.event.type in wanted.types
    if wanted.project:
        is_about = about(log.store, wanted.project)
        yield lambda entry: is_about(entry.event.project, entry.event.replica)
    if wanted.agents:
        yield lambda entry: entry.event.agent in wanted.agents
    if wanted.text or wanted.regex:
        fits = saying(wanted.text, wanted.regex).fits
        yield lambda entry: fits(entry.line)


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
                found = check_line(LogLine.unread(line, file, 0, start or 1), day)
                yield from (entry for entry in found if isinstance(entry, LogLine))


def _whole_lines(file: str) -> int:
    """Find where the last whole line of a file ends; 0 where there is none, or no file."""
    with suppress(OSError), Path(file).open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - MAX_LINE))
        return size - len(opened.read().rpartition(b"\n")[2])
    return 0
