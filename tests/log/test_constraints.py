"""Every constraint of every field: the error names the field and the reason."""

from typing import Any

import pytest

from eventlog.format import codec
from eventlog.format.errors import InvalidEvent

KEY = {"heading": "H", "path": "user"}
MINIMAL: dict[str, dict[str, Any]] = {
    "session_start": {},
    "fact": {"content": "x"},
    "stage_summary": {"summary": "x"},
    "plan_entry": {"key": KEY},
    "session_end": {},
    "turn_end": {},
    "save_requested": {"trigger": "stop"},
    "retraction": {"target": "t"},
    "entry_applied": {"target": "t", "path": "p", "heading": "H", "level": 2, "digest": "d"},
    "entry_resolved": {"target": "t", "choice": "apply"},
    "knowledge_edited": {"key": KEY},
    "context_injected": {"digest": "d", "chars": 1},
    "host_event": {"name": "n"},
}

REQUIRED = [(name, field) for name, fields in MINIMAL.items() for field in fields if name != "retraction"]

WRONG = [
    ("fact", "content", "", "must not be blank"),
    ("fact", "content", " \n\t\u3000", "must not be blank"),
    ("fact", "content", 7, "must be text, not a whole number"),
    ("fact", "content", None, "must be text, not null"),
    ("fact", "memory_type", "X", "must be one of W, B, O"),
    ("fact", "memory_type", "w", "must be one of W, B, O"),
    ("fact", "entities", "one", "must be a list, not text"),
    ("fact", "entities[1]", ["one", 2], "must be text, not a whole number"),
    ("fact", "confidence", -0.1, "must be at least 0"),
    ("fact", "confidence", 1.1, "must be at most 1"),
    ("fact", "confidence", float("nan"), "must be at least 0"),
    ("fact", "confidence", "high", "must be a number, not text"),
    ("fact", "importance", 0, "must be at least 1"),
    ("fact", "importance", 6, "must be at most 5"),
    ("fact", "importance", 2.5, "must be a whole number, not a fraction"),
    ("fact", "importance", True, "must be a whole number, not true or false"),
    ("fact", "category", 1, "must be text, not a whole number"),
    ("fact", "key", 1, "must be text, not a whole number"),
    ("fact", "scope", "world", "must be one of project, user"),
    ("stage_summary", "summary", " ", "must not be blank"),
    ("stage_summary", "scope", "user", "must be one of stage, session"),
    ("stage_summary", "topic", None, "must be text, not null"),
    ("stage_summary", "decisions[0]", [1], "must be text, not a whole number"),
    ("stage_summary", "todos", "x", "must be a list, not text"),
    ("session_start", "session_type", "private", "must be one of main, shared"),
    ("session_start", "source", 1, "must be text, not a whole number"),
    ("session_end", "duration_ms", "1", "must be a number, not text"),
    ("plan_entry", "key", "user", "must be an object, not text"),
    ("plan_entry", "key", {"heading": "H"}, "exactly one of path and url must be given"),
    ("plan_entry", "key", {**KEY, "url": "u"}, "exactly one of path and url must be given"),
    ("plan_entry", "key.heading", {"path": "user"}, "missing"),
    ("plan_entry", "key.heading", {**KEY, "heading": " "}, "must not be blank"),
    ("plan_entry", "key.level", {**KEY, "level": 0}, "must be at least 1"),
    ("plan_entry", "key.level", {**KEY, "level": 7}, "must be at most 6"),
    ("plan_entry", "operation", "append", "must be one of no-op, update, clear, delete"),
    ("plan_entry", "content", 1, "must be text, not a whole number"),
    ("plan_entry", "meta.confidence", {"confidence": 2}, "must be at most 1"),
    ("plan_entry", "meta.reason", {"reason": 2}, "must be text, not a whole number"),
    ("save_requested", "trigger", "never", "must be one of stop, pre_compact"),
    ("entry_applied", "target", "", "must not be empty"),
    ("entry_applied", "level", 7, "must be at most 6"),
    ("entry_resolved", "target", "", "must not be empty"),
    ("entry_resolved", "choice", "maybe", "must be one of apply, discard, edited"),
    ("knowledge_edited", "operation", None, "must be one of no-op, update, clear, delete"),
    ("context_injected", "chars", "1", "must be a whole number, not text"),
    ("context_injected", "sources[0]", [1], "must be text, not a whole number"),
    ("host_event", "payload", [], "must be an object, not a list"),
]

WRONG_EVERYWHERE = [
    ("conversation_id", "", "must not be empty"),
    ("conversation_id", 7, "must be text, not a whole number"),
    ("id", None, "must be text, not null"),
    ("ts", 1771662944, "must be text, not a whole number"),
    ("project", 1, "must be text, not a whole number"),
    ("agent", 1, "must be text, not a whole number"),
    ("subagent", [], "must be text, not a list"),
    ("layer", 0, "must be at least 1"),
    ("layer", 5, "must be at most 4"),
]


def refusal(name, **fields):
    with pytest.raises(InvalidEvent) as caught:
        codec.from_fields({"type": name, "conversation_id": "c", **MINIMAL.get(name, {}), **fields})
    return caught.value.where, caught.value.what


@pytest.mark.parametrize("name", MINIMAL)
def test_the_required_fields_are_enough(name):
    assert name == codec.from_fields({"type": name, "conversation_id": "c", **MINIMAL[name]}).type


@pytest.mark.parametrize(("name", "missing"), [*REQUIRED, *((name, "conversation_id") for name in [*MINIMAL, "dream"])])
def test_a_required_field_that_is_missing_is_named(name, missing):
    fields = {"type": name, "conversation_id": "c", **MINIMAL.get(name, {})}
    del fields[missing]

    with pytest.raises(InvalidEvent, match=f"^{missing}: missing$"):
        codec.from_fields(fields)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "where", "value", "reason"), WRONG)
def test_a_wrong_value_is_refused_with_field_and_reason(name, where, value, reason):
    field = where.partition(".")[0].partition("[")[0]

    assert (where, reason) == refusal(name, **{field: value})


@pytest.mark.parametrize("name", ["fact", "turn_end", "dream"])
@pytest.mark.parametrize(("where", "value", "reason"), WRONG_EVERYWHERE)
def test_the_common_fields_are_checked_for_every_type(name, where, value, reason):
    assert (where, reason) == refusal(name, **{where: value})


@pytest.mark.parametrize("fields", [{"target": None}, {"target": "t", "conversation": "c"}])
def test_a_retraction_has_exactly_one_aim(fields):
    assert ("event", "exactly one of target and conversation must be given") == refusal("retraction", **fields)
