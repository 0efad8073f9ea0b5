"""The day files, read: lines -> events, each event once, in order, and every damage named.

Unreadable   a file that cannot be read (permission, a bad sector) or is no regular file is a damage like any other.
Replicas     `2026-02-20.laptop.jsonl` came from another machine; all files of a day are one day.
Duplicates   lines of one day with the same id are one event; should they differ, that of the log's own file counts:
             no copy from elsewhere changes what was said here. Else it is the byte-wise smaller one.
Foreign ids  the same id on two days is one event: the copy counts that lies on the day the id names, else the earliest.
             An id carries its time, so copies almost always lie in one day, where they are recognised for free. Only an
             id that names another day than its file's (`misdated`) can have a copy elsewhere; those alone are looked
             up. So no line written today can take the place of one of another day.
"""

import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from eventlog import store
from eventlog.fast.fastjson import MAX_LINE
from eventlog.format import ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.events import Event
from eventlog.format.ids import day_in_id
from eventlog.format.timestamps import order
from eventlog.log.lines import Damage, LogLine, decode_whole
from eventlog.store import is_own
from eventlog.store.files import open_regular, read, read_regular
from eventlog.store.index_lookup import lines_at, lines_with

DAMAGED = ".damaged"  # what the file ends with into which the damage of a day is moved
_MANY = 50  # ids, looked for one by one
_AT_ONCE = 1 << 18  # bytes that are read for a checksum: they fit the processor's cache

Holds = Callable[[str, Collection[str]], Collection[str]]  # date, ids -> those of them which that day has


class Day(NamedTuple):
    """The files of a UTC day, the log's own first, then replicas by name.

    `data` are their bytes, where somebody has brought them along: then nothing is read.
    """

    date: str
    files: tuple[str, ...]
    data: tuple[bytes, ...] | None = None

    def contents(self) -> Iterator[bytes | None]:
        """Yield the bytes of each file, None of an unreadable file; a careful reader reports why."""
        yield from map(read, self.files) if self.data is None else self.data

    def content_of(self, file: str) -> bytes:
        """Return the bytes of one file; none where it cannot be read."""
        found = read(file) if self.data is None else self.data[self.files.index(file)]
        return found or b""

    def unreadable(self) -> list[Damage]:
        """List the files that cannot be opened, without reading any; none of those whose bytes were brought along."""
        return [bad for file in self.files if self.data is None for bad in _unopened(file)]

    def entries(self, mentioning: Sequence[bytes] = ()) -> tuple[list[LogLine], list[Damage]]:
        """Read the day's events with their lines, each once, ordered by `(ts, id)`; and what is wrong with its files.

        With `mentioning` those of lines that hold one of these bytes, given in lower case; where such a line is
        damaged, or a line that does not hold them claims the same id, that is not noticed.
        """
        chosen: dict[str, LogLine] = {}
        damage: list[Damage] = []
        for found in self._mentioning(mentioning, in_any_case=True) if mentioning else self._lines():
            if isinstance(found, Damage):
                damage.append(found)
                continue
            other = chosen.setdefault(found.event.id, found)
            if other.line != found.line:
                chosen[found.event.id] = min(other, found, key=claim)
                reason = f"not the line of {other.file}:{other.number}, with the same id"
                damage.append(found.damage("conflict", reason))
        return sorted(chosen.values(), key=lambda entry: order(entry.event)), damage

    def entries_of(self, event_ids: Collection[str]) -> list[LogLine]:
        """Read the day's events with these ids, with their lines; look only at the bytes of all other lines."""
        ids = [event_id.encode("utf-8", "surrogatepass") for event_id in event_ids if day_in_id(event_id) == self.date]
        if len(ids) > _MANY:
            return [entry for entry in self.entries()[0] if entry.event.id in event_ids]
        return [entry for entry in each_once(self._mentioning(ids)) if entry.event.id in event_ids]

    def load(self) -> tuple[list[Event], list[Damage]]:
        """Read the day's events, each once, in no particular order, as fast as possible; and the damage.

        A file is decoded at once; whatever is unusual about it sends the day through `entries`.
        """
        events: list[Event] = []
        for data in self.contents():
            decoded = decode_whole(data, self.date)
            if decoded is None:
                break
            events += decoded
        else:
            if len({event.id for event in events}) == len(events):
                return events, []
        found, damage = self.entries()
        return [entry.event for entry in found], damage

    def load_mentioning(self, words: Sequence[bytes]) -> list[Event]:
        """Read the events of those lines that hold any of the words anywhere, in no particular order.

        What it costs depends on those lines; of all others only bytes are looked at. Damage is passed over, and where a
        line of another kind claims the same id, that is not noticed.
        """
        lines = [data[start:end] for data in self.contents() if data for start, end in lines_with(data, words)]
        decoded = decode_whole(b"".join(line + b"\n" for line in lines), self.date)
        if decoded is not None and len({event.id for event in decoded}) == len(decoded):
            return decoded
        return [entry.event for entry in each_once(self._mentioning(words))]

    def _lines(self) -> Iterator[LogLine | Damage]:
        """Read every line."""
        for file in self.files:
            if self.data is None:
                yield from scan(file, self.date)
            else:
                yield from _scan_bytes(file, self.content_of(file), self.date)

    def _mentioning(self, words: Sequence[bytes], *, in_any_case: bool = False) -> Iterator[LogLine]:
        """Read the lines that hold any of the words, without their numbers; pass over damage."""
        for file in self.files if words else ():
            data = self.content_of(file)
            for start, end in lines_with(data.lower() if in_any_case else data, words):
                found = LogLine.unread(data[start:end], file, 0, start).check(self.date)
                yield from (item for item in found if isinstance(item, LogLine))


class ListedDays:
    """A day log of given days; the events `counted_elsewhere` are copies of other days' events."""

    def __init__(self, listed: list[Day], counted_elsewhere: Collection[str] = ()) -> None:
        self._listed = listed
        self._counted_elsewhere = frozenset(counted_elsewhere)

    def days(self, since: str = "", until: str = "~") -> list[Day]:
        """List the days that can hold events with `since <= ts <= until`, oldest first."""
        return [day for day in self._listed if since[:10] <= day.date <= until[:10]]

    def holding(self, _date: str, event_ids: Collection[str], until: str = "~") -> set[str]:
        """Return those of the ids that count elsewhere."""
        return {event_id for event_id in event_ids if event_id in self._counted_elsewhere and until == "~"}


def list_days(log_dir: str, since: str = "", until: str = "~") -> list[Day]:
    """List the days of the log within these dates, oldest first; files with other names are not part of it.

    What is named like a day file, but is a directory, FIFO, socket, device, or a link to one or to nothing, is listed:
    it is unreadable.
    """
    start = len(log_dir) + 1
    return by_date(path for path in _paths(log_dir) if since <= path[start : start + 10] <= until)


def by_date(paths: Iterable[str]) -> list[Day]:
    """Group files by the day in their names, oldest first; files with other names are not part of it."""
    found: dict[str, list[str]] = {}
    for path in paths:
        if day := _day_of(path):
            found.setdefault(day, []).append(path)
    ordered = ((day, sorted(files, key=lambda file: (not is_own(file), file))) for day, files in sorted(found.items()))
    return [Day(day, tuple(files)) for day, files in ordered]


def foreign_files(log_dir: str) -> list[str]:
    """List what else is in the log's directory, by other names; none of it is read. Damage set aside is ours."""
    others = (path for path in _paths(log_dir) if not _day_of(path))
    return sorted(path for path in others if not (path.endswith(DAMAGED) and _day_of(f"{path[: -len(DAMAGED)]}.jsonl")))


def unreadable(log_dir: str) -> list[Damage]:
    """List the files named like a day's that cannot be opened, without reading any."""
    return [bad for day in list_days(log_dir) for bad in day.unreadable()]


def what_is_missing(log_dir: str) -> str:
    """Describe which files of the log cannot be read: what is made of it lacks what they hold; "" where all can."""
    bad = unreadable(log_dir)
    more = f"; and {len(bad) - 1:,} files more" if len(bad) > 1 else ""
    return f"part of the log cannot be read: {bad[0].file}: {bad[0].reason}{more}" if bad else ""


def _unopened(file: str) -> Iterator[Damage]:
    try:
        os.close(open_regular(file))
    except OSError as error:
        yield Damage.of_file(file, system_reason(error)[0])


def claim(line: LogLine) -> tuple[bool, bytes]:
    """Order lines of one day that have the same id: the first of them counts."""
    return not is_own(line.file), line.line


def each_once(found: Iterable[LogLine], claim: Callable[[LogLine], Any] = claim) -> list[LogLine]:
    """Choose of lines with the same id the line that counts."""
    chosen: dict[str, LogLine] = {}
    for line in found:
        other = chosen.setdefault(line.event.id, line)
        if other is not line:
            chosen[line.event.id] = min(other, line, key=claim)
    return list(chosen.values())


def scan(file: str, day: str) -> Iterator[LogLine | Damage]:
    """Read every line of a file, in its order: the event it holds, or its damage, or both."""
    try:
        data = read_regular(file)
    except OSError as error:
        yield Damage.of_file(file, system_reason(error)[0])
        return
    yield from _scan_bytes(file, data, day)


def _scan_bytes(file: str, data: bytes, day: str) -> Iterator[LogLine | Damage]:
    """Read every line of the bytes of a file."""
    offset = 0
    pieces: Sequence[bytes] = data.split(b"\n")
    events = decode_whole(data, day) if max(map(len, pieces)) <= MAX_LINE else None
    for number, piece in enumerate(pieces, 1):
        whole = number < len(pieces)
        if piece or whole:
            line = LogLine.unread(piece, file, number, offset)
            yield from line.check(day, whole=whole) if events is None else (line._replace(event=events[number - 1]),)
        offset += len(piece) + 1


def read_after(file: str, size: int, checksum: int) -> bytes | None:
    """Read what follows the first bytes of a file; None where those have another checksum, or it cannot be read."""
    found, remaining = 0, size
    try:
        with os.fdopen(open_regular(file), "rb", buffering=0) as opened:
            while remaining and (data := opened.read(min(remaining, _AT_ONCE))):
                found, remaining = zlib.crc32(data, found), remaining - len(data)
            return opened.read() if (found, remaining) == (checksum, 0) else None
    except OSError:
        return None


def entries_at(file: str, offsets: Sequence[int]) -> Iterator[LogLine]:
    """Read the events of the lines that start at these offsets, those that are still there, in the order given.

    Raises OSError.
    """
    day, lines = _day_of(file), list(lines_at(file, offsets))
    events = decode_whole(b"".join(lines), day) if all(lines) else None
    for number, (offset, line) in enumerate(zip(offsets, lines, strict=True)):
        read = LogLine.unread(line.removesuffix(b"\n"), file, 0, offset)
        found = read.check(day) if events is None else (read._replace(event=events[number]),)
        yield from (item for item in found if isinstance(item, LogLine))


def _paths(log_dir: str) -> list[str]:
    """List every path.

    A log has a file for every day it is old; starting sessions list it, so no paths are made of names. Raises OSError
    where it cannot be listed, or a link leads to none: it may lie on a disk that is not there.
    """
    try:
        return [f"{log_dir}/{name}" for name in os.listdir(log_dir)]  # noqa: PTH208
    except FileNotFoundError:
        if os.path.islink(log_dir):  # noqa: PTH114 - a path is a text here
            raise
        return []


def _day_of(file: str) -> str:
    """Return the day in a file's name, in any directory; "" where it is not the name of a day file."""
    return store.day_of(file.rpartition("/")[2])


def misdated(day: str, event_ids: Collection[str]) -> list[str]:
    """List those ids that name another day, in the order given."""
    start = timestamps.to_ms(f"{day}T00:00:00.000000Z")
    low, high = ids.prefix(start), ids.prefix(start + 86_400_000)
    ordered = sorted(event_ids)  # hardly any work: they rise as times do
    if not ordered or (low <= ordered[0] and ordered[-1] < high):
        return []
    return [event_id for event_id in event_ids if not low <= event_id < high]


class DuplicateFilter:
    """A filter that is fed the days in order, and finds which of a day's ids another day's event has.

    `holds(day, ids)` answers which of those ids that day of the log has; it is asked for misdated ids only.
    """

    def __init__(self, holds: Holds) -> None:
        self._holds = holds
        self._seen: set[str] = set()

    def of(self, found: Iterable[str]) -> frozenset[str]:
        """Find those of the next day's misdated ids that do not count there."""
        found = set(found)
        copies = found & self._seen
        by_home: dict[str, set[str]] = {}
        for event_id in found - copies:
            by_home.setdefault(day_in_id(event_id), set()).add(event_id)
        for home, candidates in by_home.items():
            copies |= candidates & set(self._holds(home, candidates))
        self._seen |= found
        return frozenset(copies)
