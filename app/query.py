"""Events of the log by conversation, type, project, time and text."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import orjson
from msgspec import Struct

from eventlog import fastjson
from eventlog.log import EventLog
from eventlog.log_line import LogLine
from eventlog.project import project_root

_Test = Callable[[LogLine], bool]


class EventFilter(Struct, frozen=True, kw_only=True):
    """Which events are asked for; every condition given must hold.

    `since` and `until` are timestamps of the log, both included. `text` is looked for in the event's line, in any case;
    `project` is a path: the project's, or one in it. `id_prefix` is the beginning of an id.
    """

    session: str | None = None
    types: tuple[str, ...] = ()
    project: str | None = None
    agent: str | None = None
    since: str = ""
    until: str = "~"
    text: str | None = None
    id_prefix: str | None = None


def query(log: EventLog, wanted: EventFilter, *, limit: int | None = None, reverse: bool = False) -> Iterable[LogLine]:
    """Find the events with their lines, oldest first; a line that cannot be read is passed over.

    With `reverse` newest first, and `limit` counts from the newest.
    """
    tests = list(_tests(wanted))
    found = (entry for entry in _source(log, wanted) if all(test(entry) for test in tests))
    return reversed(deque(found, maxlen=limit)) if reverse else islice(found, limit)


def spellings(project: str) -> tuple[str, ...]:
    """Both names that events may have for the project a user means by a path: the path, and its repository."""
    return (project, project_root(project))


def _source(log: EventLog, wanted: EventFilter) -> Iterator[LogLine]:
    if wanted.session is None:
        return log.entries(wanted.since, wanted.until)
    entries = log.session_entries(wanted.session)
    return (entry for entry in entries if wanted.since <= entry.event.ts <= wanted.until)


def _tests(wanted: EventFilter) -> Iterator[_Test]:
    if wanted.types:
        yield lambda entry: entry.event.type in wanted.types
    if wanted.project:
        roots = spellings(wanted.project)
        yield lambda entry: entry.event.project in roots
    if wanted.agent:
        yield lambda entry: entry.event.agent == wanted.agent
    if wanted.id_prefix:
        prefix = wanted.id_prefix.lower()
        yield lambda entry: entry.event.id.startswith(prefix)
    if wanted.text:
        needle = orjson.dumps(wanted.text)[1:-1].decode().casefold()
        yield lambda entry: needle in _spelled(entry.line).casefold()


def _spelled(line: bytes) -> str:
    """Spell the line as the log does, where another writer has escaped what needs no escape."""
    plain = b"\\u" not in line and b"\\/" not in line
    return (line if plain else fastjson.dumps({"": fastjson.loads(line)})).decode(errors="replace")
