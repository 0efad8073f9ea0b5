"""Check that the fields of a line are an event, as the codec does, without a library: for readers that hooks import.

The types are those that hooks and searches read the words of; of others the common fields are looked at. The rules are
those of `eventlog/format/events.py`, and the same lines pass both (`tests/log/test_plain_events.py`).
"""

from eventlog.fast import fastjson
from eventlog.format.timestamps import is_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rule = Callable[[object], bool]

_HEX = frozenset("0123456789abcdef")
_DIGEST = 64  # digits


def _is_text(value: object) -> bool:
    return value is None or type(value) is str


def _is_given(value: object) -> bool:
    return type(value) is str


def _is_full(value: object) -> bool:
    return type(value) is str and value != ""


def _says(value: object) -> bool:
    return type(value) is str and bool(value.strip())


def _are_texts(value: object) -> bool:
    return type(value) is list and all(type(text) is str for text in value)


def _is_digest(value: object) -> bool:
    return value is None or (type(value) is str and len(value) == _DIGEST and _HEX.issuperset(value))


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]  # a number by now


def _within(low: int, high: int) -> "Rule":
    return lambda value: type(value) is int and low <= value <= high


def _one_of(*choices: str | None) -> "Rule":
    return lambda value: value in choices


def _are_fixes(value: object) -> bool:
    return type(value) is list and all(
        isinstance(fix, dict) and fix.keys() == {"failure", "passed"} and all(map(_is_given, fix.values()))
        for fix in value
    )


def _texts(*names: str) -> "dict[str, Rule]":
    return dict.fromkeys(names, _is_text)


_COMMON: "dict[str, Rule]" = {
    "v": _within(1, (1 << 64) - 1),
    "id": _is_full,
    "conversation_id": _is_full,
    "layer": lambda value: value is None or (type(value) is int and value in range(1, 5)),
    "speaker": _one_of(None, "guessed"),
    "redacted": _is_digest,
    **_texts("after", "project", "agent", "subagent", "replica"),
}
_OF_TYPE: "dict[str, dict[str, Rule]]" = {
    "fact": {
        "content": _says,
        "memory_type": _one_of("W", "B", "O"),
        "confidence": _is_share,
        "importance": _within(1, 5),
        "scope": _one_of(None, "project", "user"),
        "entities": _are_texts,
        "replaces": _are_texts,
        "instead_of": _are_texts,
        **_texts("category", "key", "batch", "reason"),
    },
    "stage_summary": {
        "summary": _says,
        "scope": _one_of("stage", "session"),
        "topic": _is_given,
        **dict.fromkeys(("decisions", "todos", "done", "of_user"), _are_texts),
        **_texts("batch"),
    },
    "conversation_text": {
        "title": _is_given,
        "closing": _is_given,
        "prompts": _are_texts,
        "files": _are_texts,
        "fixes": _are_fixes,
    },
    "session_start": {
        "session_type": _one_of("main", "shared"),
        **_texts("source", "model", "git_branch", "git_commit", "transcript_path"),
    },
    "retraction": _texts("target", "conversation", "reason", "batch"),
    "rejected": {
        "statement": lambda value: value is None or _says(value),
        "salt": lambda value: value is None or (type(value) is str and _HEX.issuperset(value)),
        "digest": _is_digest,
        **_texts("target", "conversation", "batch", "source"),
    },
    "restored": {"target": _is_full, "deed": lambda value: type(value) is bool, **_texts("batch")},
}
_RULES = {name: {**_COMMON, **rules} for name, rules in _OF_TYPE.items()}
_NEEDED = {"fact": ("content",), "stage_summary": ("summary",), "restored": ("target",)}
_AIMS = {"retraction": ("target", "conversation"), "rejected": ("target", "statement", "conversation", "digest")}


def is_event(fields: "Mapping[str, object]", day: str, line: bytes) -> bool:
    """Return whether a line of that day's file is an event; its fields are in their newest shape."""
    name, ts = fields.get("type"), fields.get("ts")
    if not (type(name) is str and name and type(ts) is str and ts[:10] == day and is_timestamp(ts)):
        return False
    if not ("id" in fields and "conversation_id" in fields):
        return False
    rules = _RULES.get(name, _COMMON) if fields.get("v", 1) == 1 else _COMMON
    for field, value in fields.items():
        rule = rules.get(field)
        if not rule(value) if rule else fastjson.refusal(value, 1):
            return False
    if rules is not _COMMON and not _is_complete(name, fields):
        return False
    return not (b"\\ud" in line or b"\\uD" in line) or _has_whole_texts(fields)


def _is_complete(name: str, fields: "Mapping[str, object]") -> bool:
    """Return whether the type has what it needs, and one aim where it has aims."""
    if name == "rejected" and (fields.get("salt") is None) != (fields.get("digest") is None):
        return False
    aims = [aim for aim in _AIMS.get(name, ()) if fields.get(aim) is not None]
    return len(aims) == (name in _AIMS) and all(field in fields for field in _NEEDED.get(name, ()))


def _has_whole_texts(value: object) -> bool:
    """Return whether no text has half of a surrogate pair, which JSON can smuggle in."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    if isinstance(value, dict):
        return all(map(_has_whole_texts, value)) and all(map(_has_whole_texts, value.values()))
    return not isinstance(value, list) or all(map(_has_whole_texts, value))
