"""The lines of the log that were appended since somebody looked, and say anything to a search.

Imported inside agents' hooks: standard library only.
"""

from eventlog import fastjson, index_lookup
from eventlog.files import open_regular
from eventlog.lean import os
from eventlog.linescan import lines_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventlog.index_lookup import FileStamp
    from eventlog.store import Store

    Seen = dict[str, tuple[int, int]]  # name of a day file -> inode, and bytes of whole lines seen
    Lines = list[dict[str, object]]


class NotAppended(Exception):
    """Something else was done to the log than appending."""


class Appended:
    """The events that were appended, how much has been seen of which files now, and how many bytes were read for it."""

    def __init__(self, files: "list[FileStamp]") -> None:
        self.files = files
        self.events: Lines = []
        self.seen: Seen = {}
        self.read = 0


def appended(store: "Store", seen: "Seen", types: "Iterable[str]", most: int) -> Appended:
    """Read what was appended since; raises NotAppended, OSError, or ValueError where it is more than `most` bytes."""
    there = index_lookup.stamps_of(store.log, seen)
    if seen.keys() - {stamp[0] for stamp in there}:
        raise NotAppended("a file is gone")
    marks = [f'"{name}"'.encode() for name in types]
    wanted = frozenset(types)
    found = Appended(there)
    todo = [stamp for stamp in there if _differs(stamp, seen)]
    if sum(stamp[1] - seen.get(stamp[0], (0, 0))[1] for stamp in todo) > most:
        raise ValueError(f"more than {most:,} bytes were appended")
    for stamp in todo:
        name, start = stamp[0], seen.get(stamp[0], (0, 0))[1]
        data = _whole_lines(f"{store.log}/{name}", start)
        found.seen[name] = stamp[4], start + len(data)
        found.read += len(data)
        for begin, end in lines_with(data, marks):
            event = _current(fastjson.object_in(data[begin:end]))
            if event.get("type") in wanted and event.get("id") and event.get("ts"):
                found.events.append(event)
    return found


def _current(event: dict[str, object]) -> dict[str, object]:
    """Lift an event of an older shape, as every reader of the log does."""
    if event.get("v", 1) == 1 and event.get("memory_type") != "S":
        return event
    from eventlog.upcast import upcast

    return upcast(event)


def _differs(stamp: "FileStamp", seen: "Seen") -> bool:
    """Tell whether a file grew or is new; raises NotAppended for everything else that can happen to one."""
    name, size, *_, inode = stamp
    if name not in seen:
        return True
    known, length = seen[name]
    if known != inode or size < length:
        raise NotAppended(name)
    return size > length


def _whole_lines(path: str, start: int) -> bytes:
    """Read from there to the last end of a line."""
    with os.fdopen(open_regular(path), "rb") as opened:
        opened.seek(start)
        data = opened.read()
    return data[: data.rfind(b"\n") + 1]
