"""The day files, read: lines -> events, each event once, in order, and every damage named.

Recovery     a damaged line costs only itself: it is reported with file, line and offset, and everything else is read.
Pending      a last line without `\\n` is a write under way (or one that died): an event if it is whole, else nothing.
Unreadable   a file that cannot be read (permission, a bad sector) or is no regular file is a damage like any other.
Replicas     `2026-02-20.laptop.jsonl` came from another machine; all files of a day are one day.
Duplicates   lines of one day with the same id are one event; should they differ, the byte-wise smaller line counts.
             The same id on two days is the business of eventlog/cross_day.py.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from eventlog import codec, store
from eventlog.errors import InvalidEvent
from eventlog.events import Event, order
from eventlog.fastjson import BOM, MAX_LINE
from eventlog.files import open_regular, read_regular
from eventlog.linescan import lines_with
from eventlog.ordinary_file import decode_whole

DamageKind = Literal[
    "bom",
    "blank",
    "not-utf8",
    "not-json",
    "not-object",
    "invalid",  # JSON, but not an event of this format
    "wrong-day",
    "too-long",
    "conflict",  # with another line of the same id
    "unreadable",  # the whole file
    "pending",  # unfinished, perhaps being written at this moment
    "torn",  # unfinished for good
]

_UNREAD = Event(conversation_id="?")


class Damage(msgspec.Struct, frozen=True):
    """One thing wrong with one line: where it is (line from 1, offset in bytes from 0), what kind, and why.

    Line 0 is the whole file.
    """

    file: str
    line: int
    offset: int
    kind: DamageKind
    reason: str

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.file}:{self.line} (byte {self.offset})" if self.line else self.file


class LogLine(NamedTuple):
    """An event and the line it was read from."""

    event: Event
    line: bytes
    file: str
    number: int
    offset: int


class Day(NamedTuple):
    """All files of one UTC day, the log's own first, then replicas by name."""

    date: str
    files: tuple[str, ...]


def list_days(log_dir: str) -> list[Day]:
    """The days of the log, oldest first; files with other names are not part of it."""
    found: dict[str, list[str]] = {}
    for path, regular in _files(log_dir):
        if regular and (day := day_of(path)):
            found.setdefault(day, []).append(path)
    return [Day(day, tuple(sorted(files, key=_own_first))) for day, files in sorted(found.items())]


def foreign_files(log_dir: str) -> list[str]:
    """List what else is in the log's directory, by other names: it is never read."""
    return sorted(path for path, _ in _files(log_dir) if not day_of(path))


def irregular(log_dir: str) -> list[Damage]:
    """List what is named like a day file, but is a directory, FIFO, socket, device, or a link to one or to nothing."""
    found = sorted(path for path, regular in _files(log_dir) if not regular and day_of(path))
    return [_unreadable(path, "not a regular file") for path in found]


def unreadable(log_dir: str) -> list[Damage]:
    """List the files named like a day's that cannot be opened, without reading any."""
    return irregular(log_dir) + [bad for day in list_days(log_dir) for file in day.files for bad in _unopened(file)]


def _unopened(file: str) -> Iterator[Damage]:
    try:
        os.close(open_regular(file))
    except OSError as error:
        yield _unreadable(file, error.strerror)


def entries(day: Day) -> tuple[list[LogLine], list[Damage]]:
    """The day's events with their lines, each once, ordered by `(ts, id)`; and everything wrong with its files."""
    kept: dict[str, LogLine] = {}
    damage: list[Damage] = []
    for found in (item for file in day.files for item in scan(file, day.date)):
        if isinstance(found, Damage):
            damage.append(found)
            continue
        other = kept.setdefault(found.event.id, found)
        if other.line != found.line:
            kept[found.event.id] = min(other, found, key=lambda entry: entry.line)
            damage.append(_damage(found, "conflict", f"not the line of {other.file}:{other.number}, with the same id"))
    return sorted(kept.values(), key=lambda entry: order(entry.event)), damage


def load(day: Day) -> tuple[list[Event], list[Damage]]:
    """The day's events, each once, in no particular order, as fast as they can be had; and the damage.

    A file is decoded in one call; whatever is unusual about it sends the day through `entries`.
    """
    events: list[Event] = []
    for file in day.files:
        decoded = decode_whole(read(file), day.date)
        if decoded is None:
            break
        events += decoded
    else:
        if len({event.id for event in events}) == len(events):
            return events, []
    found, damage = entries(day)
    return [entry.event for entry in found], damage


def load_mentioning(day: Day, words: Sequence[bytes]) -> list[Event]:
    """The events of those lines that hold any of the words anywhere, in no particular order.

    What it costs depends on those lines; of all others only bytes are looked at. Damage is passed over, and where a
    line of another kind claims the same id, that is not noticed.
    """
    kept: dict[str, LogLine] = {}
    for file in day.files:
        data = read(file) or b""
        lines = [data[start:end] for start, end in lines_with(data, words)]
        decoded = decode_whole(b"".join(line + b"\n" for line in lines), day.date)
        if decoded is not None and len(day.files) == 1 and len({event.id for event in decoded}) == len(decoded):
            return decoded
        for line in lines:
            for found in _check_line(LogLine(_UNREAD, line, file, 0, 1), day.date, whole=True):
                if isinstance(found, LogLine):
                    other = kept.setdefault(found.event.id, found)
                    kept[found.event.id] = min(other, found, key=lambda entry: entry.line)
    return [entry.event for entry in kept.values()]


def scan(file: str, day: str) -> Iterator[LogLine | Damage]:
    """Read every line of a file, in its order: the event it holds, or its damage, or both."""
    try:
        data = read_regular(file)
    except OSError as error:
        yield _unreadable(file, error.strerror)
        return
    for number, offset, line, whole in _lines(data):
        yield from _check_line(LogLine(_UNREAD, line, file, number, offset), day, whole=whole)


def read(file: str) -> bytes | None:
    """Read all of a file, None where that fails; a careful reader says why."""
    try:
        return read_regular(file)
    except OSError:
        return None


def _unreadable(file: str, reason: str | None) -> Damage:
    return Damage(file, 0, 0, "unreadable", reason or "cannot be read")


def entries_at(file: str, offsets: Iterable[int]) -> Iterator[LogLine]:
    """The events of the lines that start at these offsets, those that are still there, in the order given.

    Raises OSError.
    """
    day = day_of(file)
    with os.fdopen(open_regular(file), "rb") as opened:
        for offset in offsets:
            opened.seek(offset)
            read = LogLine(_UNREAD, opened.readline().removesuffix(b"\n"), file, 0, offset)
            yield from (found for found in _check_line(read, day, whole=True) if isinstance(found, LogLine))


def _check_line(read: LogLine, day: str, *, whole: bool) -> Iterator[LogLine | Damage]:
    if read.offset == 0 and read.line.startswith(BOM):
        yield _damage(read, "bom", "a byte order mark before the first line; the line itself is read")
        read = read._replace(line=read.line[len(BOM) :], offset=len(BOM))
    if len(read.line) > MAX_LINE:
        yield _damage(read, "too-long", f"{len(read.line):,} bytes; the log takes {MAX_LINE:,} at most")
    try:
        event = codec.decode(read.line)
    except InvalidEvent as error:
        yield _diagnose(read, error, whole=whole)
        return
    if not codec.is_timestamp(event.ts):
        yield _damage(read, "invalid", f"ts: {event.ts!r} is not a time of the log")
    elif event.ts[:10] != day:
        yield _damage(read, "wrong-day", f"an event of {event.ts[:10]}")
    else:
        yield read._replace(event=event)


def _diagnose(read: LogLine, error: InvalidEvent, *, whole: bool) -> Damage:
    if not whole:
        return _damage(read, "pending", "an unfinished last line; the next append isolates it")
    if not read.line.strip():
        return _damage(read, "blank", "an empty line")
    try:
        read.line.decode()
    except UnicodeDecodeError as bad:
        return _damage(read, "not-utf8", f"byte 0x{read.line[bad.start]:02x} at offset {read.offset + bad.start}")
    if error.where:
        return _damage(read, "invalid", str(error))
    return _damage(read, "not-object" if error.what == codec.NOT_AN_OBJECT else "not-json", error.what)


def _damage(read: LogLine, kind: DamageKind, reason: str) -> Damage:
    return Damage(read.file, read.number, read.offset, kind, reason)


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    """Number from 1, offset, bytes without the newline, and whether there was one."""
    offset = 0
    pieces: Sequence[bytes] = data.split(b"\n")
    for number, piece in enumerate(pieces, 1):
        whole = number < len(pieces)
        if piece or whole:
            yield number, offset, piece, whole
        offset += len(piece) + 1


def _own_first(file: str) -> tuple[bool, str]:
    return len(file.rpartition("/")[2]) > len("2026-02-20.jsonl"), file


def _files(log_dir: str) -> list[tuple[str, bool]]:
    """List every path, and whether it is, or leads to, a regular file.

    A log has a file for every day it is old; starting sessions list it, so no paths are made of names.
    """
    try:
        with os.scandir(log_dir) as entries:
            return [(f"{log_dir}/{entry.name}", is_regular(entry)) for entry in entries]
    except FileNotFoundError:
        return []


def is_regular(entry: "os.DirEntry[str]") -> bool:
    """Tell whether it is, or leads to, a regular file."""
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself, a bad sector
        return False


def day_of(file: str) -> str:
    """The day a file's name says, whatever its directory; "" where it is not the name of a day file."""
    return store.day_of(file.rpartition("/")[2])
