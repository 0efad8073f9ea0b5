"""`cache/hook-errors.log`: what hooks could not do, one JSON line each; imported only when one fails.

A full disk takes no note. For that there is `cache/hook-errors.spare`: a few kilobytes that are on the disk already,
overwritten in place by lines that say in short what happened, until they are full of them; and what is lost is counted.
"""

import re
import time
from contextlib import suppress
from stat import S_ISREG
from typing import NamedTuple

from eventlog.fast import fastjson, os
from eventlog.format import timestamps
from eventlog.hooks import spare
from eventlog.secrets import beginning, scrub_fields, without_secrets
from eventlog.store import Store
from eventlog.store.files import append_bounded, make_dirs, read_regular

_LARGEST = 1 << 20  # bytes; then the file is started anew and the old one kept as `.1`
_KEPT_OF_PAYLOAD = 4096
_LARGEST_EVENT = 1 << 16  # bytes
_SHORT = 200  # characters of an error, where there is no room for more
_ADDRESS = re.compile(r'("user_email"\s*:\s*")(?:[^"\\]|\\.)*')


class Lost(NamedTuple):
    """Events that nothing could keep: how many, when the first and the last was lost, and where that is counted."""

    events: int
    first_ns: int
    last_ns: int
    counters: tuple[str, ...]


def path_of(store: Store) -> str:
    """Where failures are noted."""
    return store.cached("hook-errors.log")


def note(store: Store, error: BaseException, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Add a failure and what it lost: the event, or the beginning of a payload that became none; never raises.

    Where that cannot be kept, it is counted.
    """
    said: dict[str, object] = {
        "ts": timestamps.from_ns(time.time_ns()),
        "agent": agent,
        "error": without_secrets(f"{type(error).__name__}: {error}"),
    }
    try:
        make_dirs(store.cache)
        append_bounded(path_of(store), fastjson.dumps(said | _kept(lost)), _LARGEST)
    except OSError:
        if lost:
            with suppress(OSError):
                spare.count(store)
        with suppress(OSError):
            spare.write(store, fastjson.dumps({**said, "error": str(said["error"])[:_SHORT]}))


def _kept(lost: "bytes | dict[str, object]") -> "dict[str, object]":
    """An event is kept as one: `eventlog append --stdin` takes it when the log can be written again."""
    if isinstance(lost, dict):
        line = fastjson.dumps(lost)
        return {"event": scrub_fields(lost)} if len(line) <= _LARGEST_EVENT else {"payload": _beginning(line)}
    return {"payload": _beginning(lost)}


def _beginning(data: bytes) -> str:
    text = data[: 4 * _KEPT_OF_PAYLOAD].decode("utf-8", "replace")
    return beginning(_ADDRESS.sub(r"\1…", text), _KEPT_OF_PAYLOAD)


def noted(store: Store) -> "list[dict[str, object]]":
    """The failures noted since the file was started, oldest first; none where there is no file."""
    return [
        failure
        for path in (path_of(store), store.spare)
        for failure in map(fastjson.object_in, _lines(path))
        if failure
    ]


def lost(store: Store) -> "Lost | None":
    """Tell how many events nothing could keep, and when; None where there is none, or nobody could count."""
    found = []
    for path in spare.counters(store):
        with suppress(OSError):
            counted = os.stat(path)
            if S_ISREG(counted.st_mode) and counted.st_size:
                found.append(Lost(counted.st_size, counted.st_mtime_ns, counted.st_ctime_ns, (path,)))
    if not found:
        return None
    return Lost(
        sum(one.events for one in found),
        min(one.first_ns for one in found),
        max(one.last_ns for one in found),
        tuple(path for one in found for path in one.counters),
    )


def _lines(path: str) -> list[bytes]:
    try:
        return read_regular(path).splitlines()
    except OSError:
        return []
