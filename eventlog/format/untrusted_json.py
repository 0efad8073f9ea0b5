"""JSON from outside - streams, transcripts, other programs' files - decoded in one place, the same on every Python.

How deep lists may lie in each other before a decoder gives up depends on the Python; here it is what the log takes.
"""

from typing import Any, TypeVar

import msgspec

from eventlog.fast.fastjson import MAX_DEPTH

_T = TypeVar("_T")


def decode(data: bytes | str, kind: type[_T] | Any = Any) -> Any:
    """Decode one JSON document of that type; raises ValueError, in plain words."""
    try:
        value = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(_in_words(error)) from error
    if _may_be_too_deep(data) and _is_too_deep(value):
        raise ValueError(_in_words(RecursionError()))
    return value


def object_in(data: bytes | str) -> dict[str, Any] | None:
    """Decode a JSON object; None where the data is anything else."""
    try:
        value = decode(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _in_words(error: Exception) -> str:
    from eventlog.format.error_text import of_json, of_value  # whoever decodes well needs no words

    reason = of_json(error)
    return of_value(reason) if isinstance(error, msgspec.ValidationError) else reason


def _may_be_too_deep(data: bytes | str) -> bool:
    if isinstance(data, str):
        return data.count("[") + data.count("{") > MAX_DEPTH
    return data.count(b"[") + data.count(b"{") > MAX_DEPTH


def _is_too_deep(value: object) -> bool:
    """Look at one level after the other: a function that calls itself would be what it guards against."""
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = [inner for inner in level if isinstance(inner, dict | list)]
        level = [inner for outer in containers for inner in (outer.values() if isinstance(outer, dict) else outer)]
        if not level:
            return False
    return any(isinstance(inner, dict | list) for inner in level)


def dig(record: Any, *names: str) -> Any:
    """The value under these names, None where there is no such place."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record
