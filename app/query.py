"""Events of the log by conversation, type, project, time and text."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.known_projects import about
from eventlog.app.phases import Progress, nobody
from eventlog.app.saying import saying
from eventlog.events import order
from eventlog.log import EventLog
from eventlog.log_line import LogLine

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
