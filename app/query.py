"""Events of the log by conversation, type, project, time and text."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import orjson
from msgspec import Struct

from eventlog import fastjson
from eventlog.app.known_projects import about
from eventlog.events import order
from eventlog.log import EventLog
from eventlog.log_line import LogLine

_Test = Callable[[LogLine], bool]


class EventFilter(Struct, frozen=True, kw_only=True):
    """Which events are asked for; every condition given must hold.

    `since` and `until` are timestamps of the log, both included. `text` is looked for in the event's line, in any case;
    `project` and `agents` are as the log has them, `ids` whole.
    """

    session: str | None = None
    types: tuple[str, ...] = ()
    project: str | None = None
    agents: tuple[str, ...] = ()
    since: str = ""
    until: str = "~"
    text: str | None = None
    ids: tuple[str, ...] | None = None


def query(log: EventLog, wanted: EventFilter, *, limit: int | None = None, reverse: bool = False) -> Iterable[LogLine]:
    """Find the events with their lines, oldest first; a line that cannot be read is passed over.

    With `reverse` newest first, and `limit` counts from the newest.
    """
    tests = list(_tests(log, wanted))
    found = (entry for entry in _source(log, wanted) if all(test(entry) for test in tests))
    return reversed(deque(found, maxlen=limit)) if reverse else islice(found, limit)


def _source(log: EventLog, wanted: EventFilter) -> Iterator[LogLine]:
    if wanted.ids is None and wanted.session is None:
        return log.entries(wanted.since, wanted.until)
    if wanted.ids is None:
        entries = log.session_entries(str(wanted.session))
    else:
        entries = sorted(log.find(wanted.ids).values(), key=lambda entry: order(entry.event))
    return (entry for entry in entries if wanted.since <= entry.event.ts <= wanted.until)


def _tests(log: EventLog, wanted: EventFilter) -> Iterator[_Test]:
    if wanted.session is not None:
        yield lambda entry: entry.event.conversation_id == wanted.session
    if wanted.types:
        yield lambda entry: entry.event.type in wanted.types
    if wanted.project:
        is_about = about(log.store, wanted.project)
        yield lambda entry: is_about(entry.event.project, entry.event.replica)
    if wanted.agents:
        yield lambda entry: entry.event.agent in wanted.agents
    if wanted.text:
        needle = orjson.dumps(wanted.text)[1:-1].decode().casefold()
        yield lambda entry: needle in _spelled(entry.line).casefold()


def _spelled(line: bytes) -> str:
    """Spell the line as the log does, where another writer has escaped what needs no escape."""
    plain = b"\\u" not in line and b"\\/" not in line
    return (line if plain else fastjson.dumps({"": fastjson.loads(line)})).decode(errors="replace")
