"""Lines of the log as they stand, by conversation or by id, without any library.

Only lines that begin as the log itself writes them are returned, from files of their own day, each id once. Anything
else is answered by None: the caller then asks `EventLog`.
"""

from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.format.ids import day_in_id
from eventlog.format.plain_events import is_event
from eventlog.store import index_lookup
from eventlog.store.index_lookup import lines_at, lines_having

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventlog.store import Store

_SEARCH_AT_MOST = 4 << 20  # bytes that are not in the index; for more of them, the careful reader renews it
_ID = len("019c7b12-8f00-7000-8000-000000000000")


def of_session(store: "Store", conversation_id: str) -> "list[bytes] | None":
    """Find the lines of a conversation, oldest first; None for none, or where it takes a closer look.

    Raises OSError.
    """
    try:
        found = list(lines_of(store, conversation_id))
    except ValueError:
        return None
    return _in_order(found, "conversation_id", conversation_id)


def lines_of(store: "Store", conversation_id: str) -> "Iterator[tuple[str, bytes]]":
    """Yield the lines that may be a conversation's, and the names of their files, in the order of the log.

    Raises OSError, or ValueError where too much of the log is not indexed, or a day file is no regular file.
    """
    indexed, offsets = index_lookup.look_up(store.cached("conversations.index"), conversation_id)
    searched = 0
    stamps = index_lookup.stamps_of(store.log, indexed)
    if len(stamps) < len(index_lookup.names_of(store.log, stamps)):
        raise ValueError("a day file is no regular file")
    for stamp in stamps:
        name, size = index_lookup.name_in(stamp), index_lookup.size_in(stamp)
        path = f"{store.log}/{name}"
        known, places = index_lookup.known_part(store.log, indexed, offsets, stamp)
        yield from ((name, line) for line in lines_at(path, places))
        if known < size:
            searched += size - known
            if searched > _SEARCH_AT_MOST:
                raise ValueError(f"{searched:,} bytes of the log are not indexed")
            yield from ((name, line) for line in lines_having(path, index_lookup.marks(conversation_id), known))


def named_in(lines: "Iterable[bytes]", conversation_id: str, what: str = "agent") -> str:
    """Read a field of the first line of a conversation that has it; "" for none."""
    for event in map(fastjson.object_in, lines):
        if event.get("conversation_id") == conversation_id and event.get(what):
            return str(event[what])
    return ""


def of_event(store: "Store", event_id: str) -> "list[bytes] | None":
    """Find the line of the event with that whole id, in the files of the day it names; answers like `of_session`."""
    if len(event_id) != _ID:
        return None
    mark, day = fastjson.text(event_id), day_in_id(event_id)
    names = [name for name in index_lookup.names_of(store.log) if name.startswith(day)]
    found = [(name, line) for name in names for line in lines_having(f"{store.log}/{name}", [mark])]
    return _in_order(found, "id", event_id)


def _in_order(found: "list[tuple[str, bytes]]", field: str, wanted: str) -> "list[bytes] | None":
    """Sort the lines whose event has that value by time; None for none, or an unusual line."""
    chosen: dict[str, tuple[str, str, bytes]] = {}
    for name, line in found:
        try:
            event = fastjson.loads(line)
        except ValueError:
            return None
        if not isinstance(event, dict) or event.get(field) != wanted:
            continue
        event_id, ts = str(event.get("id")), str(event.get("ts"))
        if event_id in chosen or not (_is_own_line(name, line, event_id, ts) and is_event(event, name[:10], line)):
            return None
        chosen[event_id] = (ts, event_id, line)
    return [line for _, _, line in sorted(chosen.values())] or None


def _is_own_line(name: str, line: bytes, event_id: str, ts: str) -> bool:
    """Check that a line begins as the log writes it, and that time, id and file name the same day."""
    if not line.startswith(f'{{"v":1,"id":"{event_id}","ts":"{ts}","type":"'.encode()) or len(ts) != timestamps.LENGTH:
        return False
    return line.endswith(b"}\n") and day_in_id(event_id) == ts[:10] == name[:10]
