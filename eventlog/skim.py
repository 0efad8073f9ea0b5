"""A day, skimmed: of most events only what stands around them is decoded, all of those that say something; pure.

Four of five lines tell of a tool: a replay counts them, and nobody asks what is in them. So a line counts whose
envelope is whole, whatever else is wrong with it; `verify` looks into every line. A file is read in pieces, and whoever
takes them lets go of one before the next: a whole day does not fit the processor's cache, which doubles the time.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import compress
from operator import attrgetter, itemgetter, not_, or_
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from eventlog import timestamps
from eventlog.codec import is_timestamp
from eventlog.events import TYPES, AnyEvent, NonEmpty, SessionEnd
from eventlog.timestamps import LENGTH

_ASKED = frozenset(
    (
        "fact", "stage_summary", "session_end", "save_requested", "retraction", "rejected", "restored", "plan_entry",
        "entry_applied", "entry_resolved", "knowledge_edited", "project_seen", "project_joined",
    )
)  # fmt: skip
_RECEIPT = "context_injected"  # one is asked of what was recalled, not of what a session started with
_PIECE = 128 << 10
_LARGEST = 1 << 63
_DIGITS, _SHAPE = bytes.maketrans(b"0123456789", b"0000000000"), b"0000-00-00T00:00:00.000000Z"
_id_of, _ts_of, _version_of = attrgetter("id"), attrgetter("ts"), attrgetter("v")
_first, _last = itemgetter(0), itemgetter(-1)


class Skimmed(Struct, gc=False):
    """The envelope of an event, whatever its type; `name` and `trigger` are read where a type is not enough."""

    type: NonEmpty
    conversation_id: NonEmpty
    v: Annotated[int, Meta(ge=1)] = 1
    id: str = ""
    ts: str = ""
    project: str | None = None
    agent: str | None = None
    subagent: str | None = None
    layer: Annotated[int, Meta(ge=1, le=4)] | None = None
    replica: str | None = None
    name: Any = None
    trigger: Any = None


class SkimmedEvents(NamedTuple):
    """Events of a day: those that say something whole, and of all others the envelopes."""

    envelopes: list[Skimmed]
    said: list[AnyEvent]

    @property
    def ids(self) -> list[str]:
        """List the ids of all events."""
        return [*map(_id_of, self.envelopes), *map(_id_of, self.said)]


_envelopes = msgspec.json.Decoder(Skimmed)
_said: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    reduce(or_, [TYPES[name] for name in sorted({*_ASKED, _RECEIPT})])
)


def skim(files: Iterable[bytes | None], day: str, take: Callable[[SkimmedEvents], None]) -> bool:
    """Hand the events of an entirely ordinary day on, piece by piece; False for every other, of which none count."""
    ids: set[str] = set()
    for data in files:
        if data is None or (data and data[-1:] != b"\n"):
            return False
        if not all(_is_handed_on(piece, day, ids, take) for piece in _pieces(data)):
            return False
    return "" not in ids


def envelope_of(line: bytes, day: str) -> Skimmed | None:
    """Read the envelope of a line no reader understands; None where that is not whole, or where more is asked of it."""
    try:
        line.decode()
        found = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    counts = found.id and found.ts[:10] == day and is_timestamp(found.ts) and found.type not in _ASKED and found.v == 1
    return found if counts else None


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + _PIECE, len(data) - 1)) + 1
        yield data[start:end]
        start = end


def _is_handed_on(piece: bytes, day: str, ids: set[str], take: Callable[[SkimmedEvents], None]) -> bool:
    """Hand on some lines, whose ids are added to those before; False where anything is odd about them."""
    try:
        found = _skimmed(piece, day)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError):
        return False
    if found is None:
        return False
    count = len(ids) + len(found.envelopes) + len(found.said)
    ids.update(found.ids)
    if len(ids) != count:
        return False
    take(found)
    return True


def _skimmed(piece: bytes, day: str) -> SkimmedEvents | None:
    """Skim some lines; None, or an error, where anything is odd about them.

    Every line begins with `{` and ends with `}`, which inside of JSON are never neighbours: each is one event.
    """
    lines = piece.split(b"\n")[:-1]
    if set(map(_first, lines)) != {ord("{")} or set(map(_last, lines)) != {ord("}")}:
        return None
    if not piece.isascii():
        piece.decode()
    envelopes = _envelopes.decode_lines(piece)
    if len(envelopes) != len(lines) or set(map(_version_of, envelopes)) != {1} or not _are_of(day, envelopes):
        return None
    is_asked = [one.type in _ASKED or (one.trigger is not None and _is_of_recall(one)) for one in envelopes]
    asked = b"\n".join(compress(lines, is_asked))
    said: list[AnyEvent] = _said.decode_lines(asked)
    if b'"extra"' in asked or any(type(one) is SessionEnd and abs(one.duration_ms or 0) >= _LARGEST for one in said):
        return None
    return SkimmedEvents(list(compress(envelopes, map(not_, is_asked))), said)


def _is_of_recall(one: Skimmed) -> bool:
    return one.type == _RECEIPT and one.trigger != "start"


def _are_of(day: str, envelopes: list[Skimmed]) -> bool:
    """Tell whether all have a time of that day: the first and the last do, and all say digits where these should be.

    As each begins with the day, each has the length of a time when all of them, one behind the other, look like times.
    """
    times = list(map(_ts_of, envelopes))
    if (
        not timestamps.FIRST_DAY <= day <= timestamps.LAST_DAY
        or not f"{day}T" <= min(times) <= max(times) < f"{day}T24"
    ):
        return False
    joined = "".join(times)
    shape = joined.encode().translate(_DIGITS) if joined.isascii() else b""
    return shape == _SHAPE * len(times) and max(joined[14::LENGTH]) <= "5" >= max(joined[17::LENGTH])
