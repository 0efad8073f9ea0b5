"""Event <-> one line of the log, and old shapes of events lifted to the newest; JSON from outside; pure.

A step of `STEPS` is a pure function from the fields of version `v` of a type to those of `v + 1`; it never sees a file.
`v` grows only when a field is renamed or split; a changed meaning is a new type, and names on disk never change.
How deep lists may lie in each other before a decoder gives up depends on the Python; here it is what the log takes.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct, structs

from eventlog.fast import fastjson
from eventlog.fast.fastjson import MAX_DEPTH
from eventlog.format import ids, timestamps
from eventlog.format.errors import InvalidEvent, value_reason
from eventlog.format.events import (
    COMMON,
    KNOWN,
    TYPES,
    VERSIONS,
    Event,
    KnowledgeEdited,
    PlanEntry,
    PlanMeta,
    SectionKey,
    UnknownEvent,
)

Fields = dict[str, object]
Upcast = Callable[[Fields], Fields]

STEPS: Mapping[tuple[str, int], Upcast] = {}
_T = TypeVar("_T")

_APART_MS = 1000  # an id and a time taken one after the other
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_MISSING = r"Object missing required field `(?P<name>\w+)`(?: - at `\$\.?(?P<field>.*)`)?"
_WHERE = r"(?s)(?P<reason>.*?)(?: - at `\$\.?(?P<field>.*)`)?"

_NESTED: Mapping[type[Event], Mapping[str, type[Struct]]] = {
    PlanEntry: {"key": SectionKey, "meta": PlanMeta},
    KnowledgeEdited: {"key": SectionKey},
}

_DEFAULTS: Mapping[type[Struct], Fields] = {
    cls: {f.encode_name: msgspec.to_builtins(f.default) for f in structs.fields(cls) if f.default is not NODEFAULT}
    for cls in cast("tuple[type[Struct], ...]", (*KNOWN, UnknownEvent, SectionKey, PlanMeta))
}

NOT_AN_OBJECT, NOT_JSON = "not a JSON object", "not JSON: "
_TOO_DEEP = "lists or objects lie too deep in each other"


def encode(event: Event) -> bytes:
    """Encode the event's line, without the newline; raises InvalidEvent where it is too long or not JSON."""
    try:
        line = fastjson.dumps(to_fields(event))
    except ValueError as error:
        raise InvalidEvent(str(error), where=event.type) from error
    if len(line) > fastjson.MAX_LINE:
        what = f"the event is {len(line):,} bytes long, the log takes {fastjson.MAX_LINE:,} at most"
        raise InvalidEvent(what, where=event.type, hint="store long text in a file and say where it is")
    return line


def decode(line: bytes) -> Event:
    """Decode the event of a line, in its newest shape; raises InvalidEvent."""
    event = from_fields(_parse(line))
    if not (event.id and event.ts):
        raise InvalidEvent("missing", where="ts" if event.id else "id")
    return event


def from_fields(data_fields: Mapping[str, Any]) -> Event:
    """Build the typed event of a JSON object; what its type does not know stays in `extra`. Raises InvalidEvent."""
    fields = upcast(dict(data_fields))
    name = fields.pop("type", None)
    if not isinstance(name, str) or not name:
        raise InvalidEvent("every event has a type, a non-empty string", where="type")
    if name in TYPES and fields.get("v", 1) == VERSIONS[name]:
        return _known(TYPES[name], fields)
    own, extra = _split(fields, COMMON)
    return _convert({**own, "?": name, "extra": extra}, UnknownEvent)


def to_fields(event: Event) -> Fields:
    """Build the JSON object of an event: common fields first, then its own, then the unknown fields."""
    try:
        own: dict[str, Any] = msgspec.to_builtins(event)
    except (TypeError, RecursionError) as error:
        raise InvalidEvent(f"not JSON: {error}", where=event.type) from error
    extra = own.pop("extra", {})
    own.pop("?", None)
    for name, part in _NESTED.get(type(event), {}).items():
        own |= {name: _without_defaults(part, own[name])} if name in own else {}
    own = _without_defaults(type(event), own)
    own.update(v=event.v, type=event.type)
    fields = {name: own.pop(name) for name in COMMON if name in own} | own
    for name, value in extra.items():  # also a level down, in the `key` and `meta` of a plan entry
        present = fields.get(name)
        fields[name] = {**present, **value} if isinstance(present, dict) and isinstance(value, dict) else value
    return fields


def check(event: Event) -> Event:
    """Build the event as a reader of the log will see it; raises InvalidEvent for what types alone cannot refuse.

    Its time may be given in any RFC 3339 form; the log has one.
    """
    checked = from_fields(_parse(encode(event)))
    if not checked.conversation_id.strip():
        raise InvalidEvent("must not be blank", where="conversation_id")
    for field in ("ts", "after"):
        if (text := getattr(checked, field)) and not timestamps.is_timestamp(text):
            checked = structs.replace(checked, **{field: _read_time(text, field)})
    if checked.id and not _ID.fullmatch(checked.id):
        raise InvalidEvent(f"{checked.id!r} is not a canonical lower-case UUIDv7", where="id")
    if checked.id and not checked.ts:
        raise InvalidEvent("missing: an event that has its id has its time", where="ts")
    if checked.id and abs(ids.time_ms(checked.id) - timestamps.to_ms(checked.ts)) > _APART_MS:
        hint = "leave the id out: it is then derived from what the event says"
        raise InvalidEvent(f"{checked.id} names another time than {checked.ts}", where="id", hint=hint)
    return checked


def refuse_reserved(event: Event) -> Event:
    """Return the event if any program may append it; raises InvalidEvent, naming the verb it comes from."""
    if event.comes_from:
        what = f"{event.type} is not for append: it tells of a person's decision, or of a file"
        raise InvalidEvent(what, where="type", hint=f"it comes from {event.comes_from}")
    return event


def _read_time(text: str, field: str) -> str:
    try:
        return timestamps.read(text)
    except ValueError as error:
        hint = "write it like 2026-02-21T08:35:44Z or 2026-02-21T16:35:44+08:00"
        raise InvalidEvent(str(error), where=field, hint=hint) from error


def content_id(event: Event) -> str:
    """Derive the id of an event that has its own time from its content, so that sent twice it is a single event."""
    return ids.derived(timestamps.to_ms(event.ts), content_of(event))


def content_of(event: Event) -> str:
    """Serialise the content of an event canonically: equal content gives equal text, in any order of its fields."""
    fields = {name: value for name, value in to_fields(event).items() if name not in ("id", "v")}

    import json  # only who derives an id needs it

    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _without_defaults(cls: type[Struct], fields: Fields) -> Fields:
    """Drop the fields that equal their default; msgspec drops only values that are the very default object."""
    defaults = _DEFAULTS.get(cls, {})
    return {name: value for name, value in fields.items() if name not in defaults or value != defaults[name]}


def _parse(line: bytes) -> Fields:
    try:
        fields = decode_json(line)
    except ValueError as error:
        raise InvalidEvent(f"{NOT_JSON}{error}") from error
    if not isinstance(fields, dict):
        raise InvalidEvent(NOT_AN_OBJECT)
    if not is_plain(fields):
        found = ((name, reason) for name, value in fields.items() if (reason := fastjson.refusal(value, 1)))
        name, reason = next(found, ("event", "not a value the log takes"))
        raise InvalidEvent(reason, where=name)
    return fields


def is_plain(value: object) -> bool:
    """Return whether the log takes the numbers in a decoded JSON value, and its depth, as `fastjson.refusal` does."""
    import orjson  # brings `dataclasses` and `inspect` along, which a session would wait for

    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    return True


def _known(cls: type[Event], fields: Fields) -> Event:
    own, extra = _split(fields, [name for name in cls.__struct_fields__ if name != "extra"])
    for name, part in _NESTED.get(cls, {}).items():
        if isinstance(whole := own.get(name), dict):
            own[name], rest = _split(whole, part.__struct_fields__)
            extra |= {name: rest} if rest else {}
    return _convert({**own, "extra": extra}, cls)


def _split(fields: Fields, names: Collection[str]) -> tuple[Fields, Fields]:
    """Split fields into those with these names, and all others."""
    own = {name: value for name, value in fields.items() if name in names}
    return own, {name: value for name, value in fields.items() if name not in names}


def _convert(fields: Fields, cls: type[Event]) -> Event:
    try:
        return msgspec.convert(fields, cls)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise invalid(error, cls) from None


def invalid(error: Exception, cls: type[Struct]) -> InvalidEvent:
    """Split msgspec's ``Expected `float` <= 1.0 - at `$.confidence` `` into a field of `cls` and a reason."""
    missing = re.fullmatch(_MISSING, str(error))
    if missing:
        return InvalidEvent("missing", where=".".join(filter(None, missing.group("field", "name"))))
    match = re.fullmatch(_WHERE, str(error))
    assert match is not None
    field = match["field"] or "event"
    return InvalidEvent(value_reason(match["reason"], get_type_hints(cls).get(field)), where=field)


def upcast(fields: Fields, steps: Mapping[tuple[str, int], Upcast] = STEPS) -> Fields:
    """Upgrade the fields of an event to its newest shape; do not change the argument."""
    version = fields.get("v", 1)
    while isinstance(version, int) and (step := steps.get((str(fields.get("type")), version))):
        version += 1
        fields = {**step(fields), "v": version}
    if fields.get("type") != "fact" or fields.get("memory_type") != "S":
        return fields
    # so earlier memory tools saved stage summaries, which never count among facts
    rest = {name: value for name, value in fields.items() if name not in ("memory_type", "content", "scope")}
    return {**rest, "type": "stage_summary", "summary": fields.get("content")}


def decode_json(data: bytes | str, kind: type[_T] | Any = Any) -> Any:
    """Decode one JSON document of that type; raises ValueError, in plain words."""
    try:
        value = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(_json_reason(error, data)) from error
    opened = data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")
    if opened > MAX_DEPTH and _is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def json_of(data: bytes | str | None, kind: type[_T]) -> _T | None:
    """Decode a JSON document of that type; None where there is no data, or it is anything else."""
    try:
        found: _T = decode_json(data or b"", kind)
    except ValueError:
        return None
    return found


def json_object(data: bytes | str) -> dict[str, Any] | None:
    """Decode a JSON object; None where the data is anything else."""
    value: object = json_of(data, Any)  # a check of the type takes longer than to decode
    return value if isinstance(value, dict) else None


def dig(record: Any, *names: str) -> Any:
    """Return the value under these names; None where the record has no such place."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _is_too_deep(value: object) -> bool:
    """Return whether a value is nested too deeply, level by level: a recursive check would overflow the stack."""
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = [inner for inner in level if isinstance(inner, dict | list)]
        level = [inner for outer in containers for inner in (outer.values() if isinstance(outer, dict) else outer)]
        if not level:
            return False
    return any(isinstance(inner, dict | list) for inner in level)


def _json_reason(error: Exception, data: bytes | str) -> str:
    """Explain why a text is no JSON, or not of its type."""
    if isinstance(data, bytes):
        try:
            data.decode()
        except UnicodeDecodeError as bad:  # each version of msgspec says it in its own way
            if bad.reason != "unexpected end of data":
                return f"byte 0x{data[bad.start]:02x} at offset {bad.start} is not UTF-8"
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    if isinstance(error, msgspec.ValidationError):
        return value_reason(str(error))
    return str(error).removeprefix("JSON is malformed: ").replace("Input data was truncated", "it breaks off")
