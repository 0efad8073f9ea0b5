"""Append an event whose source may send it twice: double registrations, cross-loaded settings, retries.

The random part of its id is derived from the source's own key, so the second call is recognised by a search in the end
of the log, under the lock, whatever its time. Only a whole line counts: a fragment of a killed writer is no event, and
the retry replaces it. Before the answer "already there" that line is synced.

Imported inside agents' hooks: no codec, no validation; the caller builds events of the right shape.
"""

import eventlog
from eventlog.fast import fastjson, os
from eventlog.format import ids, timestamps
from eventlog.secrets import scrub_fields, without_erased
from eventlog.settings import cached
from eventlog.store.dayfile import DayFile, path_of
from eventlog.store.files import not_stored, pieces_of, sync_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from eventlog.format.payloads import Stamp
    from eventlog.store import Store

# calls without a key of their own are one when they come this close: two registrations were seen 0.7 s apart, and each
# is gone after 2 seconds; two starts of one conversation are further apart
SAME_CALL_MS = 3_000

_REMEMBERED_BYTES = 4 << 20  # how far back in the log a retry is recognised
_LAST_BYTES = 8 << 10  # in which a second registration of a hook finds the event of the first
_HOUR_NS = 3_600_000_000_000


def append_once(
    store: "Store",
    fields: "Mapping[str, object]",
    key: str,
    *,
    within_ms: int | None = None,
    sync: bool | None = None,
    clock: "Callable[[], int]" = timestamps.system_clock,
    late: bool = False,
    on_lock: "Callable[[], object] | None" = None,
) -> bool:
    """Append the event unless the log has an event with this key (not further away than `within_ms`, unless None).

    `fields` lack `v`, `id` and `ts`; `sync` None goes by the setting `fsync`. Tells whether the event is new; raises
    NotStored (which then carries the whole event as `lost`), or InvalidEvent where no reader would take it. An event
    that is `late` happened before others that are in the log: it keeps its time. One that a person had erased is not
    new, and not appended. `on_lock` is called where the wait for the lock is over, or none begins: the file is new.
    """
    cached.use_own_secrets(store)
    tail = ids.derived_tail(key)
    remaining = without_erased(store, scrub_fields(fields), tail)
    if remaining is None:
        return False
    sync = cached.wants_sync(store) if sync is None else sync
    event: dict[str, object] | None = None
    now = clock()
    try:
        while True:
            day = timestamps.from_ns(now)[:10]
            if on_lock and not os.path.exists(path_of(store.log, day)):
                on_lock()
            with DayFile(store.log, day, sync=sync) as file:
                if on_lock:
                    on_lock()
                now = clock()
                now, after = (now, "") if late else timestamps.follow(now, file.newest(timestamps.from_ns(now)))
                stamped = stamp(key, now)
                if stamped["ts"][:10] != day:  # midnight passed while waiting for the lock, or on a faster clock
                    continue
                if after:
                    stamped["after"] = after
                if _is_logged(file.last_pieces, tail, now, within_ms):
                    file.confirm()
                    return False
                before = timestamps.from_ns(now - _HOUR_NS)[:10]  # another day in the first hour of a day
                if before != day and _is_logged_in(path_of(store.log, before), tail, now, within_ms, sync=sync):
                    return False
                event = {**stamped, **remaining}
                file.append(_line(event))
            return True
    except eventlog.NotStored as error:
        error.lost = event
        raise


def append_live(
    store: "Store", fields: "Mapping[str, object]", is_wanted: "Callable[[dict[str, object]], bool]"
) -> str:
    """Append an event that happens now, and return its id; "" where a clock is wrong or midnight passes.

    Likewise where it is not wanted without its secrets, or texts of the store were erased. Raises as `append_once`.
    """
    cached.use_own_secrets(store)
    cleaned = scrub_fields(fields)
    if os.path.exists(store.redactions) or not is_wanted(cleaned):
        return ""
    day = timestamps.from_ns(timestamps.system_clock())[:10]
    with DayFile(store.log, day, sync=cached.wants_sync(store)) as file:
        now = timestamps.system_clock()
        now, after = timestamps.follow(now, file.newest(timestamps.from_ns(now)))
        ts = timestamps.from_ns(now)
        if after or ts[:10] != day:
            return ""
        event_id = ids.new(now // 1_000_000)
        file.append(_line({"v": 1, "id": event_id, "ts": ts, **cleaned}))
    return event_id


def stamp(key: str, now: int) -> "Stamp":
    """Make the stamp of an event with this key, appended now (nanoseconds)."""
    return {"v": 1, "id": ids.derived(now // 1_000_000, key), "ts": timestamps.from_ns(now)}


def _line(event: dict[str, object]) -> bytes:
    line = fastjson.dumps(event)
    if len(line) > fastjson.MAX_LINE:
        raise eventlog.InvalidEvent(f"the event is {len(line):,} bytes long", where=str(event["type"]))
    if reason := fastjson.refusal(event):
        raise eventlog.InvalidEvent(reason, where=str(event["type"]))
    return line + b"\n"


def _is_logged(last: "Callable[[int], Iterable[bytes]]", tail: str, now: int, within_ms: int | None) -> bool:
    """Return whether the last lines have an event whose id ends like this, not further away.

    Where the disk cannot read 4 MiB of them, only the last few kilobytes are searched.
    """
    for limit in (_REMEMBERED_BYTES, _LAST_BYTES):
        try:
            return any(_has(data, tail, now, within_ms) for data in last(limit))
        except OSError:
            continue
    return False


def _has(data: bytes, tail: str, now: int, within_ms: int | None) -> bool:
    mark = tail.encode() + b'"'
    at = data.find(mark)
    while at >= 0:
        if _is_near(data[max(0, at - ids.STAMP) : at], now, within_ms) and _is_whole(data, at, tail):
            return True
        at = data.find(mark, at + 1)
    return False


def _is_logged_in(path: str, tail: str, now: int, within_ms: int | None, *, sync: bool) -> bool:
    """Search a file that is not locked, and sync it where the event is found. Raises NotStored."""
    found = _is_logged(lambda limit: pieces_of(path, -limit), tail, now, within_ms)
    try:
        if found and sync:
            sync_file(path)
    except OSError as error:
        raise not_stored(error, path) from error
    return found


def _is_near(stamp: bytes, now: int, within_ms: int | None) -> bool:
    """Return whether an id is of a time not further away: the clock may have been set back since."""
    try:
        away = now // 1_000_000 - ids.time_ms(stamp.decode())
    except ValueError:
        return False
    return within_ms is None or abs(away) <= within_ms


def _is_whole(data: bytes, at: int, tail: str) -> bool:
    """Return whether the id stands in a line that is an event from its beginning to its end."""
    from eventlog.store.index_lookup import line_at

    start, end = line_at(data, at)
    try:
        event = fastjson.loads(data[start:end])
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("id") == data[at - ids.STAMP : at].decode() + tail
