"""A day, skimmed: of most events only what stands around them is decoded, all of those that say something; pure.

Four of five lines tell of a tool: a replay counts them, and nobody asks what is in them. So a line counts whose
envelope is whole, whatever else is wrong with it; `verify` looks into every line. A file is read in pieces, and whoever
takes them lets go of one before the next: a whole day does not fit the processor's cache, which doubles the time.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from io import BytesIO
from itertools import compress, filterfalse
from operator import attrgetter, lt, not_, or_
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from eventlog.format import timestamps
from eventlog.format.events import TYPES, AnyEvent, NonEmpty, SessionEnd
from eventlog.format.timestamps import LENGTH, is_timestamp

_ASKED = frozenset(name for name, cls in TYPES.items() if not cls.by_envelope)
_RECEIPT = "context_injected"  # one is asked of what was recalled, not of what a session started with
_PIECE = 128 << 10
_LARGEST = 1 << 63
_DIGITS, _SHAPE = bytes.maketrans(b"0123456789", b"0000000000"), b"0000-00-00T00:00:00.000000Z"
_id_of, _ts_of = attrgetter("id"), attrgetter("ts")


class Skimmed(Struct, kw_only=True, gc=False):
    """The envelope of an event, whatever its type; `name` and `trigger` are read where a type is not enough.

    Fields stand in the order in which lines have them: that is how they are found soonest.
    """

    v: Literal[1] = 1
    id: str = ""
    ts: str = ""
    after: str | None = None
    type: NonEmpty
    conversation_id: NonEmpty
    project: str | None = None
    agent: str | None = None
    subagent: str | None = None
    layer: Annotated[int, Meta(ge=1, le=4)] | None = None
    replica: str | None = None
    name: Any = None
    trigger: Any = None


class SkimmedEvents(NamedTuple):
    """Events of a day: of most the envelopes, those that say something whole; and the ids of all."""

    envelopes: list[Skimmed]
    said: list[AnyEvent]
    ids: list[str]


_envelopes = msgspec.json.Decoder(Skimmed)
_said: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    reduce(or_, [TYPES[name] for name in sorted({*_ASKED, _RECEIPT})])
)


def skim(files: Iterable[bytes | None], day: str, take: Callable[[SkimmedEvents], None]) -> bool:
    """Hand the events of an entirely ordinary day on, piece by piece; False for every other, of which none count."""
    ids: list[str] = []
    for data in files:
        if data is None or (data and data[-1:] != b"\n"):
            return False
        for lines in _pieces(data):
            found = _skimmed(lines, day)
            if found is None:
                return False
            take(found)
            ids += found.ids
            del lines, found  # before there are the next
    ids.sort()  # hardly any work: those of a file rise as its times do
    return all(map(lt, ["", *ids], ids))


def envelope_of(line: bytes, day: str) -> Skimmed | None:
    """Read the envelope of a line no reader understands; None where that is not whole, or where more is asked of it."""
    try:
        line.decode()
        found = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.id and found.type not in _ASKED and found.ts[:10] == day and is_timestamp(found.ts) else None


def _pieces(data: bytes) -> Iterator[list[bytes]]:
    return iter(partial(BytesIO(data).readlines, _PIECE), [])


def _skimmed(lines: list[bytes], day: str) -> SkimmedEvents | None:
    """Skim some lines; None where anything is odd about them."""
    try:
        for line in filterfalse(bytes.isascii, lines):
            line.decode()
        envelopes = list(map(_envelopes.decode, lines))
        is_asked = [one.type in _ASKED or (one.trigger is not None and _is_of_recall(one)) for one in envelopes]
        asked = b"".join(compress(lines, is_asked))
        said: list[AnyEvent] = _said.decode_lines(asked)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if b'"extra"' in asked or any(type(one) is SessionEnd and abs(one.duration_ms or 0) >= _LARGEST for one in said):
        return None
    if not _are_of(day, envelopes):
        return None
    return SkimmedEvents(list(compress(envelopes, map(not_, is_asked))), said, list(map(_id_of, envelopes)))


def _is_of_recall(one: Skimmed) -> bool:
    return one.type == _RECEIPT and one.trigger != "start"


def _are_of(day: str, envelopes: list[Skimmed]) -> bool:
    """Tell whether all have a time of that day: the first and the last do, and all say digits where these should be.

    As each begins with the day, each has the length of a time when all of them, one behind the other, look like times.
    """
    times = sorted(map(_ts_of, envelopes))
    if not timestamps.FIRST_DAY <= day <= timestamps.LAST_DAY or not f"{day}T" <= times[0] <= times[-1] < f"{day}T24":
        return False
    joined = "".join(times).encode("ascii", "replace")
    tens = joined[14::LENGTH] + joined[17::LENGTH]  # of minutes and of seconds
    return joined.translate(_DIGITS) == _SHAPE * len(times) and not tens.strip(b"012345")
