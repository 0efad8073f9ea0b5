"""A day file with nothing unusual about it, decoded in one call: what makes replays fast; pure."""

import re
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Any

import msgspec

from eventlog.format import codec, timestamps
from eventlog.format.events import KNOWN, TYPES, VERSIONS, Event, HostEvent, SessionEnd
from eventlog.format.timestamps import LENGTH

_CURRENT = {(TYPES[name], version) for name, version in VERSIONS.items()}
_LARGEST = 1 << 63  # a number that a float field takes as well
_id_of, _ts_of = attrgetter("id"), attrgetter("ts")


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
    return events if len(events) == lines and _are_ordinary(events, day) else None


def _are_ordinary(events: list[Event], day: str) -> bool:
    """Tell whether all have an id, a time of that day and the current version; of a whole day at once, for speed."""
    if not timestamps.FIRST_DAY <= day <= timestamps.LAST_DAY:
        return False
    times = list(map(_ts_of, events))
    if set(map(len, times)) - {LENGTH} or not all(map(_id_of, events)):
        return False
    if not re.fullmatch(rf"(?:{day}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{{6}}Z)*", "".join(times), re.ASCII):
        return False
    return {(type(event), event.v) for event in events} <= _CURRENT and _are_in_range(events)


def _are_in_range(events: list[Event]) -> bool:
    """Tell whether no number is one that only the typed decoder takes; all others are bounded by their types."""
    payloads = [event.payload for event in events if type(event) is HostEvent]
    durations = [event.duration_ms or 0 for event in events if type(event) is SessionEnd]
    return max(map(abs, durations), default=0) < _LARGEST and (not payloads or codec.is_plain(payloads))
