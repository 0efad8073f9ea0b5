"""One live event from a source that may tell us twice: double registrations, cross-loaded settings, retries.

The id's random part is derived from the source's own key, so the second telling is recognised by a search in the end
of the log, under the lock, whatever its time.

Imported inside agents' hooks: no codec, no validation; the caller builds events of the right shape.
"""

import os
import time

from eventlog import ids, timestamps, wire
from eventlog.dayfile import DayFile, path_of
from eventlog.errors import InvalidEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED_BYTES = 4 << 20  # how far back in the log a retry is recognised
_HOUR_NS = 3_600_000_000_000


def append_once(
    log_dir: str,
    fields: dict[str, object],
    key: str,
    *,
    within_ms: int | None = None,
    sync: bool = True,
    clock: "Callable[[], int]" = time.time_ns,
) -> bool:
    """Append the event unless one with this key is there (not older than `within_ms`, where given).

    `fields` lack `v`, `id` and `ts`. Tells whether the event is new; raises NotStored, or InvalidEvent where the line
    would be too long.
    """
    tail = ids.derived_tail(key).encode()
    while True:
        day = timestamps.from_ns(clock())[:10]
        with DayFile(log_dir, day, sync=sync) as file:
            now = clock()
            ts = timestamps.from_ns(now)
            if ts[:10] != day:  # midnight passed while waiting for the lock
                continue
            oldest = now // 1_000_000 - within_ms if within_ms is not None else 0
            if _knows(file.tail(_REMEMBERED_BYTES), tail, oldest) or _knows(_yesterday(log_dir, now), tail, oldest):
                return False
            event_id = ids.derived(now // 1_000_000, key)
            file.append(_line({"v": 1, "id": event_id, "ts": ts, **fields}))
            return True


def _line(event: dict[str, object]) -> bytes:
    line = wire.dumps(event)
    if len(line) > wire.MAX_LINE:
        raise InvalidEvent(f"the event is {len(line):,} bytes long", where=str(event["type"]))
    return line + b"\n"


def _knows(data: bytes, tail: bytes, oldest_ms: int) -> bool:
    """Whether the newest id that ends like this is young enough."""
    at = data.rfind(tail + b'"')
    if at < 0:
        return False
    try:
        return ids.time_ms(data[at - 13 : at].decode()) >= oldest_ms
    except ValueError:
        return False


def _yesterday(log_dir: str, now: int) -> bytes:
    """The end of the day before, in the first hour of a day."""
    before = timestamps.from_ns(now - _HOUR_NS)[:10]
    if before == timestamps.from_ns(now)[:10]:
        return b""
    try:
        with open(path_of(log_dir, before), "rb") as opened:
            opened.seek(max(0, os.fstat(opened.fileno()).st_size - _REMEMBERED_BYTES))
            return opened.read()
    except OSError:
        return b""
