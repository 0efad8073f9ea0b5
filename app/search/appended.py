"""The lines appended to the log since the last look that matter to a search.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import fastjson, os
from eventlog.projections.search.findable import FINDABLE
from eventlog.store import index_lookup, is_own
from eventlog.store.files import open_regular
from eventlog.store.index_lookup import inode_in, lines_with, name_in, size_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

    from eventlog.store import Store
    from eventlog.store.index_lookup import FileStamp

    Seen = set[FileStamp]  # of day files, with the size of the whole lines that were seen
    Lines = list[dict[str, object]]


WITHDRAWS = ("retraction", "rejected", "restored")
_TELLS = (*FINDABLE, "session_start", *WITHDRAWS)  # types of which anything follows for a search


class NotAppended(Exception):
    """The error that something else was done to the log than appending."""


class Appended:
    """The events that were appended, how much has been seen of which files now, and how many bytes were read for it."""

    def __init__(self, files: "list[FileStamp]") -> None:
        self.files = files
        self.events: Lines = []
        self.copied: Lines = []  # those of them that came from elsewhere
        self.seen: Seen = set()
        self.read = 0


def appended(store: "Store", seen: "Seen", most: int, types: "Collection[str]" = _TELLS) -> Appended:
    """Read what was appended since; raises NotAppended, OSError, or ValueError where it is more than `most` bytes."""
    stamps = index_lookup.stamps_of(store.log, seen)
    found = Appended(stamps)
    marks = [f'"{name}"'.encode() for name in types]
    grown = _grown([stamp for stamp in stamps if stamp not in seen], seen.difference(stamps))
    if sum(size_in(stamp) - start for stamp, start in grown) > most:
        raise ValueError(f"more than {most:,} bytes were appended")
    claims: list[tuple[bool, bytes]] = []  # of each event: whether it came from elsewhere, and its line
    for stamp, start in grown:
        data = _whole_lines(f"{store.log}/{name_in(stamp)}", start)
        found.seen.add(index_lookup.with_size(stamp, start + len(data)))
        found.read += len(data)
        for begin, end in lines_with(data, marks):
            event = _current(fastjson.object_in(data[begin:end]))
            if event.get("type") in types and event.get("id") and event.get("ts"):
                found.events.append(event)
                claims.append((not is_own(name_in(stamp)), data[begin:end]))
    if any(is_copy for is_copy, _ in claims):
        found.copied = [event for event, (is_copy, _) in zip(found.events, claims, strict=True) if is_copy]
        found.events = _each_once(found.events, claims)
    return found


def _each_once(events: "Lines", claims: "list[tuple[bool, bytes]]") -> "Lines":
    """Keep of lines with the same id the line that counts, by the rule of `days.claim`."""
    counting: dict[tuple[object, str], tuple[tuple[bool, bytes], dict[str, object]]] = {}
    for event, claim in zip(events, claims, strict=True):
        about = event["id"], str(event["ts"])[:10]
        if about not in counting or claim < counting[about][0]:
            counting[about] = claim, event
    return [event for _, event in counting.values()]


def _current(event: dict[str, object]) -> dict[str, object]:
    """Lift an event of an older shape, as every reader of the log does."""
    if event.get("v", 1) == 1 and event.get("memory_type") != "S":
        return event
    from eventlog.format.codec import upcast

    return upcast(event)


def _grown(now: "list[FileStamp]", then: "Seen") -> "list[tuple[FileStamp, int]]":
    """Pair each file that is new or grew with the bytes of it that were seen, of those that differ from before.

    Raises NotAppended for everything else that can happen to one.
    """
    before = {name_in(stamp): stamp for stamp in then}
    grown = []
    for stamp in now:
        old = before.pop(name_in(stamp), "")
        start = size_in(old) if old else 0
        if old and (inode_in(old) != inode_in(stamp) or size_in(stamp) < start):
            raise NotAppended(name_in(stamp))
        if not old or size_in(stamp) > start:
            grown.append((stamp, start))
    if before:
        raise NotAppended("a file is gone")
    return grown


def _whole_lines(path: str, start: int) -> bytes:
    """Read from there to the last end of a line."""
    with os.fdopen(open_regular(path), "rb") as opened:
        opened.seek(start)
        data = opened.read()
    return data[: data.rfind(b"\n") + 1]


def seen_in(database: "Connection") -> "Seen":
    """Read how much of the log an index has seen."""
    (stamps,) = database.execute("SELECT group_concat(stamp, char(10)) FROM seen").fetchone()
    return set(stamps.split("\n")) if stamps else set()
