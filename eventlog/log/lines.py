"""Lines of a day file: the event each holds, or its damage; and whole files decoded at once.

Recovery     a damaged line costs only itself: it is reported with file, line and offset, and everything else is read.
Pending      a last line without `\\n` is a write under way (or one that died): an event if it is whole, else nothing.
Speed        a file with nothing unusual about it goes to the decoder as a whole (`decode_whole`): a sixth of the time.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Any, Literal, NamedTuple

import msgspec

from eventlog.fast.fastjson import BOM, MAX_LINE
from eventlog.format import codec, timestamps
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import KNOWN, TYPES, VERSIONS, Event, HostEvent, SessionEnd
from eventlog.format.timestamps import FIRST_DAY, LAST_DAY, LENGTH

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
    "altered",  # not as it was sealed
    "missing",
    "inserted",
    "swapped",
]

_UNREAD = Event(conversation_id="?")
_CURRENT = {(TYPES[name], version) for name, version in VERSIONS.items()}
_DIGITS, _SHAPE = bytes.maketrans(b"0123456789", b"0000000000"), b"0000-00-00T00:00:00.000000Z"
_LARGEST = 1 << 63  # a number that a float field takes as well
_id_of, _ts_of = attrgetter("id"), attrgetter("ts")


class Damage(msgspec.Struct, frozen=True):
    """A defect of one line: where it is (line from 1, offset in bytes from 0), its kind, and why.

    Line 0 is the whole file.
    """

    file: str
    line: int
    offset: int
    kind: DamageKind
    reason: str

    @classmethod
    def of_file(cls, file: str, reason: str) -> "Damage":
        """Make the damage of a whole file that cannot be read."""
        return cls(file, 0, 0, "unreadable", reason)

    @property
    def place(self) -> str:
        """Name file, line and byte for people."""
        return f"{self.file}:{self.line} (byte {self.offset})" if self.line else self.file


class LogLine(NamedTuple):
    """An event and the line it was read from."""

    event: Event
    line: bytes
    file: str
    number: int
    offset: int

    @classmethod
    def unread(cls, line: bytes, file: str, number: int, offset: int) -> "LogLine":
        """Make a line whose event is still to be decoded."""
        return cls(_UNREAD, line, file, number, offset)

    @property
    def replica(self) -> str | None:
        """The machine of the event, else of its file; None for this machine."""
        return (
            self.event.replica or self.file.rpartition("/")[2][len("2026-02-20.") : -len("jsonl")].rstrip(".") or None
        )

    def damage(self, kind: DamageKind, reason: str) -> Damage:
        """Make the damage of this line."""
        return Damage(self.file, self.number, self.offset, kind, reason)

    def check(self, day: str, *, whole: bool = True) -> Iterator["LogLine | Damage"]:
        """Decode a line of that day's file: its event, or its damage, or both; `whole` if it ends in a newline."""
        read = self
        if read.offset == 0 and read.line.startswith(BOM):
            yield read.damage("bom", "a byte order mark before the first line; the line itself is read")
            read = read._replace(line=read.line[len(BOM) :], offset=len(BOM))
        if len(read.line) > MAX_LINE:
            yield read.damage("too-long", f"{len(read.line):,} bytes; the log takes {MAX_LINE:,} at most")
        try:
            event = codec.decode(read.line)
        except InvalidEvent as error:
            yield _diagnose(read, error, whole=whole)
            return
        if not timestamps.is_timestamp(event.ts):
            yield read.damage("invalid", f"ts: {event.ts!r} is not a time of the log")
        elif event.ts[:10] != day:
            yield read.damage("wrong-day", f"an event of {event.ts[:10]}")
        else:
            yield read._replace(event=event)


def _diagnose(read: LogLine, error: InvalidEvent, *, whole: bool) -> Damage:
    if not whole:
        return read.damage("pending", "an unfinished last line; the next append isolates it")
    if not read.line.strip():
        return read.damage("blank", "an empty line")
    try:
        read.line.decode()
    except UnicodeDecodeError as bad:
        return read.damage("not-utf8", f"byte 0x{read.line[bad.start]:02x} at offset {read.offset + bad.start}")
    if error.where:
        return read.damage("invalid", str(error))
    if error.what == codec.NOT_AN_OBJECT:
        return read.damage("not-object", error.what)
    return read.damage("not-json", error.what.removeprefix(codec.NOT_JSON))


@cache
def _typed() -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(reduce(or_, KNOWN))


def decode_whole(data: bytes | None, day: str) -> list[Event] | None:
    """Decode all events of an entirely ordinary file, else None; None for None.

    The decoder takes any white space between events and within them. No `}` is followed by `{` inside of JSON: where
    each newline is between the two, and there are as many events as lines, every line is one event.
    """
    if not data:
        return None if data is None else []
    lines = data.count(b"\n")
    if data[:1] != b"{" or data[-2:] != b"}\n" or data.count(b"}\n{") != lines - 1 or b'"extra"' in data:
        return None
    try:
        events: list[Event] = _typed().decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if len(events) != lines or not all(map(_id_of, events)) or {(type(event), event.v) for event in events} - _CURRENT:
        return None
    return events if are_ordinary(events, map(_ts_of, events), day) else None


def are_ordinary(events: Sequence[Event], times: Iterable[str], day: str) -> bool:
    """Return whether the times are of that day, and the untyped decoder takes every number; the types bound all others.

    All at once, for speed. The first and the last time begin with the day, so all do; so each has the length of a time
    where all of them, one behind the other, have digits in the places of digits.
    """
    ordered = sorted(times)
    if not FIRST_DAY <= day <= LAST_DAY or not f"{day}T" <= ordered[0] <= ordered[-1] < f"{day}T24":
        return False
    joined = "".join(ordered).encode("ascii", "replace")
    tens = joined[14::LENGTH] + joined[17::LENGTH]  # of minutes and of seconds
    if joined.translate(_DIGITS) != _SHAPE * len(ordered) or tens.strip(b"012345"):
        return False
    payloads = [event.payload for event in events if type(event) is HostEvent]
    durations = [event.duration_ms or 0 for event in events if type(event) is SessionEnd]
    return max(map(abs, durations), default=0) < _LARGEST and (not payloads or codec.is_plain(payloads))
