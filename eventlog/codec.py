"""Event <-> one line of the log; pure."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from eventlog import ids, timestamps, wire
from eventlog.errors import InvalidEvent
from eventlog.events import COMMON, TYPES, VERSIONS, Event, UnknownEvent
from eventlog.upcast import Fields, upcast

_TS = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z", re.ASCII)
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_MISSING = re.compile(r"Object missing required field `(?P<name>\w+)`(?: - at `\$\.?(?P<field>.*)`)?")
_WHERE = re.compile(r"(?P<reason>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)


def encode(event: Event) -> bytes:
    """The event's line, without the newline; raises InvalidEvent where it is too long or not JSON."""
    try:
        line = wire.dumps(to_fields(event))
    except ValueError as error:
        raise InvalidEvent(str(error), where=event.type) from error
    if len(line) > wire.MAX_LINE:
        raise InvalidEvent(
            f"the event is {len(line):,} bytes long, the log takes {wire.MAX_LINE:,} at most",
            where=event.type,
            hint="store long text in a file and say where it is",
        )
    return line


def decode(line: bytes) -> Event:
    """The event of a line, in its newest shape; raises InvalidEvent."""
    try:
        fields = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidEvent(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InvalidEvent("not a JSON object")
    event = from_fields(fields)
    if not (event.id and event.ts):
        raise InvalidEvent("missing", where="ts" if event.id else "id")
    return event


def from_fields(given: Mapping[str, Any]) -> Event:
    """The typed event of a JSON object; what its type does not know stays in `extra`. Raises InvalidEvent."""
    fields = upcast(dict(given))
    name = fields.pop("type", None)
    if not isinstance(name, str) or not name:
        raise InvalidEvent("every event has a type, a non-empty string", where="type")
    if fields.get("v", 1) != VERSIONS.get(name):
        return _unknown(name, fields)
    return _convert(fields, TYPES[name])


def to_fields(event: Event) -> Fields:
    """The JSON object of an event: common fields first, then its own, then the unknown ones."""
    known: dict[str, Any] = msgspec.to_builtins(event)
    extra = known.pop("extra", {})
    known.pop("?", None)
    known.update(v=event.v, type=event.type)
    first = {name: known.pop(name) for name in COMMON if name in known}
    return {**first, **known, **extra}


def check(event: Event) -> Event:
    """Refuse what the types alone cannot: times, ids and constructor arguments; returns the event."""
    checked = from_fields(to_fields(event))
    if event.ts and not is_timestamp(event.ts):
        raise InvalidEvent(
            f"{event.ts!r} is not a UTC time with six fraction digits",
            where="ts",
            hint="write it like 2026-02-21T08:35:44.123456Z",
        )
    if event.id and not _ID.fullmatch(event.id):
        raise InvalidEvent(f"{event.id!r} is not a canonical lower-case UUIDv7", where="id")
    if event.id and not event.ts:
        raise InvalidEvent("missing: an event that has its id has its time", where="ts")
    return checked


def content_id(event: Event) -> str:
    """The id of an event that came with its own time: derived from everything it says, so twice is once."""
    fields = {name: value for name, value in to_fields(event).items() if name not in ("id", "v")}
    text = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return ids.derived(timestamps.to_ms(event.ts), text)


def is_timestamp(text: str) -> bool:
    """Whether `text` is a time as the log writes it, of a day that exists."""
    if not _TS.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _convert(fields: Fields, cls: type[Event]) -> Event:
    known = {name: value for name, value in fields.items() if name in cls.__struct_fields__ and name != "extra"}
    known["extra"] = {name: value for name, value in fields.items() if name not in known}
    try:
        return msgspec.convert(known, cls)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None


def _unknown(name: str, fields: Fields) -> Event:
    known = {key: value for key, value in fields.items() if key in COMMON}
    extra = {key: value for key, value in fields.items() if key not in COMMON}
    try:
        return msgspec.convert({**known, "?": name, "extra": extra}, UnknownEvent)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: msgspec.ValidationError) -> InvalidEvent:
    """msgspec's ``Expected `float` <= 1.0 - at `$.confidence` `` as a field and a reason."""
    missing = _MISSING.fullmatch(str(error))
    if missing:
        return InvalidEvent("missing", where=".".join(filter(None, missing.group("field", "name"))))
    match = _WHERE.fullmatch(str(error))
    assert match is not None
    return InvalidEvent(_in_words(match["reason"]), where=match["field"] or "event")


def _in_words(reason: str) -> str:
    if reason.endswith(r"matching regex '\\S'"):
        return "must not be blank"
    return reason[:1].lower() + reason[1:]
