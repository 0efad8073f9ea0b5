"""`spool/`: events of hooks that found the log locked, or could not write it; the next process appends them, once.

One file per event, `<ms>-<key>.json`: {"ns", "key", "within_ms", "event"}, what `append_once` was asked for and when.
Appending the event and removing its file are two steps: a process that dies in between leaves a file whose event the
next process finds in the log, by its id.

Imported inside agents' hooks: standard library only, as little of it as possible.
"""

from eventlog.fast import fastjson, os
from eventlog.format import timestamps
from eventlog.format.errors import EventLogError, InvalidEvent
from eventlog.format.ids import derived_tail
from eventlog.secrets import scrub_fields, without_erased
from eventlog.settings import cached
from eventlog.store.append_once import append_once
from eventlog.store.dayfile import path_of
from eventlog.store.files import is_locked, names_in, not_stored, read_regular, replace_file, sync_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.store import Store

_ENDING = ".json"
REFUSED = ".refused"  # no event the log would take
_LARGEST = 2 * fastjson.MAX_LINE


def leave(store: "Store", fields: "dict[str, object]", key: str, within_ms: "int | None", ns: int) -> None:
    """Write an event of that time to the spool, durably; raises NotStored, or InvalidEvent where no line can hold it.

    The file has its name before it is synced: a hook that runs out of time at a slow disk has saved it all the same.
    """
    cached.use_own_secrets(store)
    remaining = without_erased(store, scrub_fields(fields), derived_tail(key))
    if remaining is None:
        return
    data = fastjson.dumps({"ns": ns, "key": key, "within_ms": within_ms, "event": remaining})
    if len(data) > fastjson.MAX_LINE:
        raise InvalidEvent(f"the event is {len(data):,} bytes long", where=str(fields["type"]))
    path = f"{store.spool}/{ns // 1_000_000:013d}-{key[:16]}{_ENDING}"
    replace_file(path, data, durable=False)
    try:
        sync_file(path)
    except FileNotFoundError:  # taken in already
        return
    except OSError as error:
        raise not_stored(error, path) from error


def waiting(store: "Store", ending: str = _ENDING) -> "list[str]":
    """List the files of events that wait, oldest first; or those that are `REFUSED`."""
    return [f"{store.spool}/{name}" for name in sorted(names_in(store.spool)) if name.endswith(ending)]


def take_in(store: "Store") -> int:
    """Append spooled events where the log is free; return how many files were consumed. Never raises."""
    return sum(_take_in(store, path) for path in waiting(store))


def _take_in(store: "Store", path: str) -> bool:
    try:
        ns, key, within_ms, event = _read(path)
        if is_locked(path_of(store.log, timestamps.from_ns(ns)[:10])):
            return False  # a caller that answers a person does not wait
        append_once(store, event, key, within_ms=within_ms, clock=lambda: ns, late=True)
        os.unlink(path)
    except FileNotFoundError:  # another process was faster
        return True
    except (InvalidEvent, ValueError, LookupError, TypeError, OverflowError, RecursionError):
        try:
            os.replace(path, path.removesuffix(_ENDING) + REFUSED)
        except OSError:
            return False
    except (EventLogError, OSError):
        return False
    return True


def _read(path: str) -> "tuple[int, str, int | None, dict[str, object]]":
    """Parse a spooled line; raises OSError, ValueError, LookupError or TypeError."""
    data = fastjson.loads(read_regular(path, _LARGEST))
    if not isinstance(data, dict) or not isinstance(data["event"], dict):
        raise TypeError("not an event of the spool")
    within_ms = data["within_ms"]
    return int(data["ns"]), str(data["key"]), None if within_ms is None else int(within_ms), data["event"]
