"""The lines appended to the log since the last look that matter to a search.

Imported inside agents' hooks: standard library only.
"""

import sys

from eventlog.fast import fastjson
from eventlog.fast.fastjson import BOM
from eventlog.format.ids import day_in_id
from eventlog.format.plain_events import is_event
from eventlog.projections.search.findable import FINDABLE
from eventlog.store import day_of, index_lookup, is_own
from eventlog.store.files import read_regular
from eventlog.store.index_lookup import line_at, lines_with, name_in, size_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from sqlite3 import Connection

    from eventlog.store import Store
    from eventlog.store.index_lookup import FileStamp

    Seen = set[FileStamp]  # of day files, with the size of the whole lines that were seen
    Lines = list[dict[str, object]]
    # whether it came from another machine, the line, and the day of its file: "" once the line was checked
    Claim = tuple[bool, bytes, str]


WITHDRAWS = ("retraction", "rejected", "restored")
UNTIL_ERASED = "until erased"  # so long an index is behind a statement that is rejected
_TELLS = (*FINDABLE, "session_start", *WITHDRAWS)  # types of which anything follows for a search
_LONG = 1 << 20  # bytes
_ID_ENDS = len('{"v":1,"id":"019c7b12-8f00-7000-8000-000000000000"')  # in a line as the log writes it


class NotAppended(Exception):
    """The error that something else was done to the log than appending."""


class Appended:
    """The events that were appended, how much has been seen of which files now, and how many bytes were read for it."""

    def __init__(self, files: "list[FileStamp]", types: "Collection[str]") -> None:
        self.files = files
        self.is_all = True  # none of the files could not be read
        self.seen: Seen = set()
        self.read = 0
        self.lines: list[Claim] = []  # those that may be such events, the whole ones among them
        self._types = types
        self._events: Lines | None = None

    @classmethod
    def since(
        cls,
        store: "Store",
        seen: "Seen",
        limit: int,
        types: "Collection[str]" = _TELLS,
        before: str = "",
        files: "list[FileStamp] | None" = None,
    ) -> "Appended":
        """Read what was appended since; raises NotAppended, OSError, or ValueError where it is more than `limit` bytes.

        In the files of days `before` that day, nothing was; `files` are all as somebody has just found them. A file
        that cannot be read is passed over, and read once it can be.
        """
        stamps = index_lookup.stamps_of(store.log, seen, before) if files is None else [*files]
        found = cls(stamps, types)
        new, old = [stamp for stamp in stamps if stamp not in seen], seen.difference(stamps)
        grown = _grown(store.log, new, old)
        found.is_all = set(map(name_in, new)).issuperset(map(name_in, old))
        size = sum(size_in(stamp) - start for stamp, start in grown)
        if size > limit:
            raise ValueError(f"more than {limit:,} bytes were appended")
        lines_of = _search_for(types, size)
        for stamp, start in grown:
            name, _, rest = stamp.split(" ", 2)
            try:
                data = _whole_lines(f"{store.log}/{name}", start)
            except OSError:
                found.is_all = False
                stamps.remove(stamp)
                continue
            found.seen.add(f"{name} {start + len(data)} {rest}")  # of which so many bytes count
            found.read += len(data)
            is_copy = not is_own(name)
            lines = [data[begin:end] for begin, end in lines_of(data)]
            day = "" if size >= _LONG and _are_events(lines, day_of(name)) else day_of(name)
            found.lines += [(is_copy, line, day) for line in lines]
        return found

    def overwrote(self, seen: "Seen") -> bool:
        """Return whether a file of the same size as it was `seen` with has been written since: a copy put back."""
        then = dict(stamp.rsplit(" ", 3)[:2] for stamp in seen)
        return any(then.get(sized, written) != written for sized, written, *_ in (s.rsplit(" ", 3) for s in self.files))

    @property
    def events(self) -> "Lines":
        """The events, each once."""
        if self._events is None:
            self._events = [event for _, event in self.each_once()]
        return self._events

    def each_once(self) -> "Iterator[tuple[bytes, dict[str, object]]]":
        """Yield each event once, and its line, empty for another shape; keep no event: they take a lot of memory."""
        found = self._each(self.lines)
        first = {line[:_ID_ENDS] for _, line, _ in self.lines}
        if len(first) < len(self.lines) or any(is_copy for is_copy, _, _ in self.lines):
            yield from ((b"", event) for event in _each_once((claim, event) for claim, _, event in found))
        else:
            yield from ((line, event) for _, line, event in found)

    def _each(self, lines: "Iterable[Claim]") -> "Iterator[tuple[Claim, bytes, dict[str, object]]]":
        """Yield the events of lines, and each line, empty where that has an older shape; pass over damage."""
        for claim in lines:
            written = decode_line(claim[1])
            event = _current(written)
            if event.get("type") in self._types and (not claim[2] or is_event(event, claim[2], claim[1])):
                yield claim, claim[1] if event is written else b"", event


def _search_for(types: "Collection[str]", size: int) -> "Callable[[bytes], Iterable[tuple[int, int]]]":
    """Return the search for lines that may be of these types; a long log is read once for all of them."""
    marks = [f'"{name}"'.encode() for name in types]
    if size < _LONG:
        return lambda data: lines_with(data, marks)
    import re  # not for a tail: it takes longer to import
    from contextlib import suppress

    with suppress(ImportError):  # hooks see no site-packages
        import orjson  # noqa: F401 - for `decode_line`

    named = re.compile(rb'"type"[ \t\r]*:[ \t\r]*(?:%s)' % b"|".join(map(re.escape, marks)))

    def lines(data: bytes) -> "Iterator[tuple[int, int]]":
        end = -1
        for found in named.finditer(data):
            if found.start() > end:
                start, end = line_at(data, found.start())
                yield len(BOM) if start == 0 and data.startswith(BOM) else start, end

    return lines


def _are_events(lines: "Sequence[bytes]", day: str) -> bool:
    """Return whether all lines are events of the day, where the library that reads them at once is at hand."""
    try:
        from eventlog.log.lines import decode_whole
    except ImportError:
        return False
    return decode_whole(b"".join(line + b"\n" for line in lines), day) is not None


def decode_line(line: bytes) -> dict[str, object]:
    """Decode a line, by orjson where that is imported: it takes a third of the time."""
    orjson = sys.modules.get("orjson")
    if orjson:
        try:
            found = orjson.loads(line)
        except ValueError:  # the other takes more
            pass
        else:
            return found if isinstance(found, dict) else {}
    return fastjson.object_in(line)


def _each_once(found: "Iterable[tuple[Claim, dict[str, object]]]") -> "Lines":
    """Keep of lines with the same id the line that counts: that of the day it names, then as `days.claim` has it."""
    counting: dict[str, tuple[tuple[bool, str, Claim], dict[str, object]]] = {}
    for claim, event in found:
        event_id, day = str(event["id"]), str(event["ts"])[:10]
        order = day != day_in_id(event_id), day, claim
        if event_id not in counting or order < counting[event_id][0]:
            counting[event_id] = order, event
    return [event for _, event in counting.values()]


def _current(event: dict[str, object]) -> dict[str, object]:
    """Lift an event of an older shape, as every reader of the log does; reduce a newer event to its common fields."""
    if event.get("v", 1) == 1 and event.get("memory_type") != "S":
        return event
    from eventlog.format.codec import upcast
    from eventlog.format.events import COMMON, VERSIONS

    lifted = upcast(event)
    if lifted.get("v", 1) == VERSIONS.get(str(lifted.get("type"))):
        return lifted
    return {name: lifted[name] for name in COMMON if name in lifted}


def _grown(log_dir: str, now: "list[FileStamp]", then: "Seen") -> "list[tuple[FileStamp, int]]":
    """Pair each file that is new or grew with the bytes of it that were seen, of those that differ from before.

    What cannot be read now stays as it was seen. Raises NotAppended for everything else that can happen to a file.
    """
    before = {name_in(stamp): stamp for stamp in then}
    grown = []
    for stamp in now:
        old = before.pop(name_in(stamp), "")
        start = size_in(old) if old else 0  # behind the last space is the inode
        if old and (old.rpartition(" ")[2] != stamp.rpartition(" ")[2] or size_in(stamp) < start):
            raise NotAppended(name_in(stamp))
        if not old or size_in(stamp) > start:
            grown.append((stamp, start))
    if not before.keys() <= set(index_lookup.names_of(log_dir) if before else ()):
        raise NotAppended("a file is gone")
    return grown


def _whole_lines(path: str, start: int) -> bytes:
    """Read from there to the last end of a line; raises NotAppended where no line begins there."""
    data = read_regular(path, start=max(0, start - 1))
    if start and data[:1] != b"\n":
        raise NotAppended(path)
    return data[start > 0 : data.rfind(b"\n") + 1]


def seen_in(database: "Connection", since: str = "") -> "Seen":
    """Read how much of the log an index has seen, of the days `since` then."""
    sql = "SELECT group_concat(stamp, char(10)) FROM seen WHERE name >= ?"
    (stamps,) = database.execute(sql, (since,)).fetchone()
    return set(stamps.split("\n")) if stamps else set()
