"""`cache/hook-errors.log`: failures of hooks, a JSON line each; imported only when a hook fails.

A full disk takes no note. There short lines go into `cache/hook-errors.spare`, a few kilobytes that are on the disk
already, as long as they fit; and lost events are counted.
"""

import re
import time
from contextlib import suppress
from typing import NamedTuple

from eventlog.fast import fastjson, os
from eventlog.format import timestamps
from eventlog.hooks import disk_reserve
from eventlog.secrets import scrub_beginning, scrub_fields, scrub_text
from eventlog.store import Store
from eventlog.store.files import append_bounded, is_regular, make_dirs, read

_LARGEST = 1 << 20  # bytes; then a new file is started, and the old file becomes `.1`
_PAYLOAD_CHARS = 4096
_LARGEST_EVENT = 1 << 16  # bytes
_SHORT = 200  # characters of an error in the reserve
_ADDRESS = re.compile(r'("user_email"\s*:\s*")(?:[^"\\]|\\.)*')


class Lost(NamedTuple):
    """Lost events: their number, the time of the first and the last, and the files that count them."""

    events: int
    first_ns: int
    last_ns: int
    counters: tuple[str, ...]


def note(store: Store, error: BaseException, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Note a failure with the event it lost, or the beginning of the payload; never raises.

    A lost event that cannot be noted is counted.
    """
    failure: dict[str, object] = {
        "ts": timestamps.from_ns(time.time_ns()),
        "agent": agent,
        "error": scrub_text(f"{type(error).__name__}: {error}"),
    }
    try:
        make_dirs(store.cache, durable=False)
        append_bounded(store.cached("hook-errors.log"), fastjson.dumps(failure | _lost_fields(lost)), _LARGEST)
    except OSError:
        if lost:
            with suppress(OSError):
                disk_reserve.count(store)
        with suppress(OSError):
            disk_reserve.write(store, fastjson.dumps({**failure, "error": str(failure["error"])[:_SHORT]}))


def _lost_fields(lost: "bytes | dict[str, object]") -> "dict[str, object]":
    """Return the lost event itself: `eventlog append --stdin` takes it when the log can be written again."""
    if isinstance(lost, dict):
        line = fastjson.dumps(lost)
        return {"event": scrub_fields(lost)} if len(line) <= _LARGEST_EVENT else {"payload": _beginning(line)}
    return {"payload": _beginning(lost)}


def _beginning(data: bytes) -> str:
    text = data[: 4 * _PAYLOAD_CHARS].decode("utf-8", "replace")
    return scrub_beginning(_ADDRESS.sub(r"\1…", text), _PAYLOAD_CHARS)


def failures(store: Store) -> "list[dict[str, object]]":
    """List the failures in the log, oldest first; none without a file."""
    noted = (read(path) or b"" for path in (store.cached("hook-errors.log"), store.spare))
    return [failure for data in noted for failure in map(fastjson.object_in, data.splitlines()) if failure]


def lost(store: Store) -> "Lost | None":
    """Return the lost events as far as they were counted; None for none."""
    found = {}
    for path in store.lost:
        with suppress(OSError):
            counted = os.stat(path)
            if is_regular(counted) and counted.st_size:
                found[path] = counted.st_size, counted.st_mtime_ns, counted.st_ctime_ns
    if not found:
        return None
    events, first, last = zip(*found.values(), strict=True)
    return Lost(sum(events), min(first), max(last), tuple(found))
