"""One line of a day file: the event it holds, or its damage.

Recovery     a damaged line costs only itself: it is reported with file, line and offset, and everything else is read.
Pending      a last line without `\\n` is a write under way (or one that died): an event if it is whole, else nothing.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eventlog.fast.fastjson import BOM, MAX_LINE
from eventlog.format import codec, timestamps
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import Event
from eventlog.log.damage import Damage, DamageKind

_UNREAD = Event(conversation_id="?")


class LogLine(NamedTuple):
    """An event and the line it was read from."""

    event: Event
    line: bytes
    file: str
    number: int
    offset: int


def unread(line: bytes, file: str, number: int, offset: int) -> LogLine:
    """Make a line whose event is still to be decoded."""
    return LogLine(_UNREAD, line, file, number, offset)


def check_line(read: LogLine, day: str, *, whole: bool = True) -> Iterator[LogLine | Damage]:
    """Decode a line of that day's file: its event, or its damage, or both; `whole` if it ends in a newline."""
    if read.offset == 0 and read.line.startswith(BOM):
        yield damage_at(read, "bom", "a byte order mark before the first line; the line itself is read")
        read = read._replace(line=read.line[len(BOM) :], offset=len(BOM))
    if len(read.line) > MAX_LINE:
        yield damage_at(read, "too-long", f"{len(read.line):,} bytes; the log takes {MAX_LINE:,} at most")
    try:
        event = codec.decode(read.line)
    except InvalidEvent as error:
        yield _diagnose(read, error, whole=whole)
        return
    if not timestamps.is_timestamp(event.ts):
        yield damage_at(read, "invalid", f"ts: {event.ts!r} is not a time of the log")
    elif event.ts[:10] != day:
        yield damage_at(read, "wrong-day", f"an event of {event.ts[:10]}")
    else:
        yield read._replace(event=event)


def _diagnose(read: LogLine, error: InvalidEvent, *, whole: bool) -> Damage:
    if not whole:
        return damage_at(read, "pending", "an unfinished last line; the next append isolates it")
    if not read.line.strip():
        return damage_at(read, "blank", "an empty line")
    try:
        read.line.decode()
    except UnicodeDecodeError as bad:
        return damage_at(read, "not-utf8", f"byte 0x{read.line[bad.start]:02x} at offset {read.offset + bad.start}")
    if error.where:
        return damage_at(read, "invalid", str(error))
    if error.what == codec.NOT_AN_OBJECT:
        return damage_at(read, "not-object", error.what)
    return damage_at(read, "not-json", error.what.removeprefix(codec.NOT_JSON))


def damage_at(read: LogLine, kind: DamageKind, reason: str) -> Damage:
    """Make the damage of a line."""
    return Damage(read.file, read.number, read.offset, kind, reason)


def split_lines(data: bytes, file: str) -> Iterator[tuple[LogLine, bool]]:
    """Split a file's bytes into lines without their newlines, undecoded, each with whether it had one."""
    offset = 0
    pieces: Sequence[bytes] = data.split(b"\n")
    for number, piece in enumerate(pieces, 1):
        whole = number < len(pieces)
        if piece or whole:
            yield unread(piece, file, number, offset), whole
        offset += len(piece) + 1
