"""Fast scan of a day: of types that folds only count, just the envelope is decoded; pure.

Four of five lines report a tool: a replay counts them and reads nothing of their bodies. So such a line counts if its
envelope is valid, whatever else is wrong with it; `verify` decodes every line.
"""

from collections.abc import Callable, Iterable
from functools import partial, reduce
from io import BytesIO
from itertools import compress, filterfalse
from operator import attrgetter, lt, not_, or_
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from eventlog.format.events import TYPES, AnyEvent, NonEmpty
from eventlog.format.timestamps import is_timestamp
from eventlog.log.lines import are_ordinary

_FOLDED = frozenset(name for name, cls in TYPES.items() if not cls.by_envelope)
_RECEIPT = "context_injected"  # folds read that of a recall, and only count that of a session's start
_PIECE = 128 << 10
_id_of, _ts_of, _type_of = attrgetter("id"), attrgetter("ts"), attrgetter("type")


class Envelope(Struct, kw_only=True, gc=False):
    """The envelope of an event of any type; `name` and `trigger` are read where a type is not enough.

    Fields stand in the order in which lines have them: the decoder finds them fastest so.
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


class DayScan(NamedTuple):
    """A piece of a day: envelopes of the events that are only counted, all others whole, and the ids of all."""

    envelopes: list[Envelope]
    whole: list[AnyEvent]
    ids: list[str]


_envelopes = msgspec.json.Decoder(Envelope)
_whole: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    reduce(or_, [TYPES[name] for name in sorted({*_FOLDED, _RECEIPT})])
)


def scan_day(files: Iterable[bytes | None], day: str, take: Callable[[DayScan], None]) -> bool:
    """Pass on the events of a day whose every line is well-formed, in pieces; return False for other days.

    Pieces of a day that returns False are void.
    """
    ids: list[str] = []
    for data in files:
        if data is None or (data and data[-1:] != b"\n"):
            return False
        for lines in iter(partial(BytesIO(data).readlines, _PIECE), []):
            found = _scan_lines(lines, day)
            if found is None:
                return False
            take(found)
            ids += found.ids
            del lines, found  # a piece at a time fits the processor's cache: a whole day takes twice as long
    ids.sort()  # hardly any work: those of a file rise as its times do
    return all(map(lt, ["", *ids], ids))


def envelope_of(line: bytes, day: str) -> Envelope | None:
    """Read the envelope of a line no reader understands; None where that is damaged, or folds need more of the type."""
    try:
        line.decode()
        found = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.id and found.type not in _FOLDED and found.ts[:10] == day and is_timestamp(found.ts) else None


def _scan_lines(lines: list[bytes], day: str) -> DayScan | None:
    """Scan some lines; None where any is not well-formed."""
    try:
        for line in filterfalse(bytes.isascii, lines):
            line.decode()
        envelopes = list(map(_envelopes.decode, lines))
        types = list(map(_type_of, envelopes))
        is_folded = list(map(_FOLDED.__contains__, types))
        if _RECEIPT in types:
            is_folded = list(map(or_, is_folded, map(_is_of_recall, envelopes)))
        folded = b"".join(compress(lines, is_folded))
        whole: list[AnyEvent] = _whole.decode_lines(folded)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if b'"extra"' in folded or not are_ordinary(whole, map(_ts_of, envelopes), day):
        return None
    return DayScan(list(compress(envelopes, map(not_, is_folded))), whole, list(map(_id_of, envelopes)))


def _is_of_recall(event: Envelope) -> bool:
    return event.type == _RECEIPT and event.trigger not in (None, "start")
