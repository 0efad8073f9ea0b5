"""Events of the log by conversation, type, project, time and text; and why there are none."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, time, tzinfo
from itertools import chain, islice
from typing import Any, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.moments import zone_of
from eventlog.app.naming.names import INSTALL
from eventlog.app.progress import Progress, no_progress
from eventlog.fast import fastjson
from eventlog.fast.fastjson import MAX_LINE
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN
from eventlog.format.text import encodable
from eventlog.format.timestamps import order
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.store.files import open_regular, read_regular

Test = Callable[[LogLine], bool]


class EventFilter(Struct, frozen=True, kw_only=True):
    """The conditions for events; every condition given must hold.

    `since` and `until` are timestamps of the log, both included. Each word of `text` must stand in what the event says,
    in any case, and `regex`, a regular expression, must match there; `project` and `agents` are as the log has them,
    `ids` whole.
    """

    session: str | None = None
    types: tuple[str, ...] = ()
    project: str | None = None
    with_decisions: bool = False  # with a project: also what a person decided, which is of no project
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
    progress: Progress = no_progress,
) -> Iterable[LogLine]:
    """Find the events with their lines, oldest first; a line that cannot be read is passed over.

    With `reverse` newest first, and `limit` counts from the newest. Raises BadRequest for a `regex` that is none.
    """
    if reverse:
        return reversed(_newest(log, wanted, limit, progress))
    return islice(_found(log, wanted, progress), limit)


def _newest(log: EventLog, wanted: EventFilter, limit: int | None, progress: Progress) -> deque[LogLine]:
    """Find the newest events, oldest first; only as many days are read as that takes, or twice as many."""
    dates = [day.date for day in log.days(wanted.since, wanted.until)]
    reach = 1 if limit is not None else len(dates)
    while True:
        since = max(wanted.since, dates[-reach]) if reach < len(dates) else wanted.since
        found = deque(_found(log, replace(wanted, since=since), progress), maxlen=limit)
        if reach >= len(dates) or len(found) == limit:
            return found
        reach *= 2


def _fitting(log: EventLog, wanted: EventFilter) -> Test:
    """Make the test of everything that is asked for."""
    tests = list(_tests(log, wanted))
    return lambda entry: all(test(entry) for test in tests)


def _found(log: EventLog, wanted: EventFilter, progress: Progress) -> Iterator[LogLine]:
    entries: Iterable[LogLine]
    if wanted.ids is not None:
        entries = sorted(log.find(wanted.ids).values(), key=lambda entry: order(entry.event))
    elif wanted.session is not None:
        entries = log.session_entries(wanted.session)
    else:
        types = [orjson.dumps(kind).lower() for kind in wanted.types]
        needles = saying(wanted.text, wanted.regex).needles or ((*types, *_ESCAPES) if types else ())
        entries = log.entries(wanted.since, wanted.until, mentioning=needles, progress=progress)
    return filter(_fitting(log, wanted), entries)


def _tests(log: EventLog, wanted: EventFilter) -> Iterator[Test]:
    yield lambda entry: wanted.since <= entry.event.ts <= wanted.until
    if wanted.session is not None:
        yield lambda entry: entry.event.conversation_id == wanted.session
    if wanted.types:
        yield lambda entry: entry.event.type in wanted.types
    if wanted.project:
        is_about = KnownProjects(log.store).about(wanted.project)
        yield (
            lambda entry: (
                is_about(entry.event.project, entry.replica)
                or (wanted.with_decisions and entry.event.project is None and entry.event.agent == HUMAN)
            )
        )
    if wanted.agents:
        yield lambda entry: entry.event.agent in wanted.agents
    if wanted.text or wanted.regex:
        fits = saying(wanted.text, wanted.regex).fits
        yield lambda entry: fits(entry.line)


class Follower:
    """Reads what is appended after it was made; `wanted` without ids."""

    def __init__(self, log: EventLog, wanted: EventFilter) -> None:
        self._log = log
        self._fits = _fitting(log, wanted)
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
        """Read the whole lines beyond the last look; start at the end of a file that is shorter than it was."""
        start, end = self._ends.get(file, 0), _whole_lines(file)
        self._ends[file] = end
        if end <= start:
            return
        with suppress(OSError):
            for line in read_regular(file, end - start, start).removesuffix(b"\n").split(b"\n"):
                found = LogLine.unread(line, file, 0, start or 1).check(day)
                yield from (entry for entry in found if isinstance(entry, LogLine))


def _whole_lines(file: str) -> int:
    """Find where the last whole line of a file ends; 0 where there is none, or no file."""
    with suppress(OSError), os.fdopen(open_regular(file), "rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - MAX_LINE))
        return size - len(opened.read().rpartition(b"\n")[2])
    return 0


_UNSAID = frozenset(("v", "id", "ts", "type", "conversation_id", "project", "agent", "subagent", "replica"))
# escapes another writer may have used, and what is an ASCII letter only once it is in lower case: such lines are read
_ESCAPES = (b"\\u", b"\\/")
_DISGUISES = (*_ESCAPES, "\u212a".encode(), "\u0130".encode())


class _TextFilter(NamedTuple):
    """A test of lines, and bytes of which every passing line has some, once its ASCII letters are in lower case.

    No such bytes where none can be named: then any line may pass.
    """

    fits: Callable[[bytes], bool]
    needles: tuple[bytes, ...]


def saying(text: str | None, pattern: str | None) -> _TextFilter:
    """Make the test for all words of a text, in any case and order, and for a regular expression; raises BadRequest."""
    words = encodable(text or "").lower().split()
    try:
        matches = re.compile(pattern, re.IGNORECASE | re.MULTILINE).search if pattern else None
    except re.error as error:
        raise BadRequest(
            f"{pattern!r} is no regular expression: {error}", hint="--grep looks for plain words"
        ) from error

    def fits(line: bytes) -> bool:
        fields: dict[str, object] = fastjson.loads(line)  # type: ignore[assignment]  # a line of the log is an object
        joined = "\n".join(text for name in fields if name not in _UNSAID for text in texts_in(fields[name]))
        lower = joined.lower()
        return all(word in lower for word in words) and (matches is None or matches(joined) is not None)

    # of words that have the same bytes in any text, but for their ASCII letters
    certain = [word for word in words if all(char.isascii() or char.upper() == char for char in word)]
    spelled = [orjson.dumps(word)[1:-1] for word in certain]
    return _TextFilter(fits, (max(spelled, key=len), *_DISGUISES) if spelled else ())


def texts_in(value: object, *, with_names: bool = False) -> Iterator[str]:
    """Yield every text in a decoded JSON value, in order; the names of its fields on request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        if with_names and isinstance(value, dict):
            yield from value
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part, with_names=with_names)


_MATCHED = {"grep", "regex"}  # alone, they say no more than that there is something else
_TIMES = {"since", "until"}
_OPTIONS = {"types": "type", "agents": "agent"}  # of a condition whose option has another name
Fits = Callable[[Mapping[str, Any]], bool]


def why_empty(log: EventLog, noun: str, conditions: Mapping[str, object], fits: Fits | None = None) -> tuple[str, str]:
    """Explain why nothing matches these conditions, by name, in the words a user gave them in; and what to do, or "".

    `fits` tells whether there is anything for fewer or other conditions: what is near is looked for with it.
    """
    if not log.days():
        return f"nothing has happened yet in {log.store.root}", INSTALL
    options = {name: value for name, value in conditions.items() if value}
    if not options:
        return f"no {noun} yet", INSTALL
    zone = zone_of(log.store)
    near = list(_near(options, fits, zone)) if fits else []
    hint = f"there are some {' or '.join(near)}" if near else ""
    return f"no {noun} fits {_words(options, zone)}", hint


def _near(options: Mapping[str, object], fits: Fits, zone: tzinfo) -> Iterator[str]:
    """Name the conditions without which something fits, and the words that occur alone."""
    for name, value in options.items() if len(options) > 1 or not _MATCHED & options.keys() else ():
        if fits({other: options[other] for other in options if other != name}):
            yield "with --all-projects" if name == "project" else f"without {_words({name: value}, zone)}"
    words = str(options.get("grep") or "").split()
    for word in words if len(words) > 1 else ():
        if fits({**options, "grep": word}):
            yield f"with {_words({'grep': word}, zone)}"


def _words(options: Mapping[str, object], zone: tzinfo) -> str:
    return " ".join(f"--{_OPTIONS.get(name, name)} {_as_word(name, value, zone)}" for name, value in options.items())


def _as_word(name: str, value: object, zone: tzinfo) -> str:
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if name in _TIMES:
        at = datetime.fromisoformat(text).astimezone(zone)
        text = f"{at:%Y-%m-%d}" if at.time() in (time.min, time.max) else f"{at:%Y-%m-%d %H:%M}"
    return repr(text) if " " in text else text
