"""What a search takes for an event is what every reader of the log takes for one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast import fastjson
from eventlog.format.events import TYPES
from eventlog.format.plain_events import _OF_TYPE, is_event
from eventlog.log.lines import LogLine
from tests.support.builders import DAY, at
from tests.support.effort import stride

DIGEST = "0f" * 32
OWN: dict[str, dict[str, object]] = {
    "fact": {
        "content": "The heron nests", "memory_type": "B", "entities": ["heron"], "confidence": 0.5, "importance": 5,
        "category": "decision", "key": "heron", "scope": "project", "replaces": ["x"], "batch": "b", "reason": "r",
    },
    "stage_summary": {
        "summary": "Built it", "scope": "session", "topic": "t", "decisions": ["d"], "todos": ["t"], "done": ["e"],
        "of_user": ["d"], "batch": "b",
    },
    "conversation_text": {
        "title": "t", "prompts": ["p"], "closing": "c", "files": ["f"], "fixes": [{"failure": "f", "passed": "p"}],
    },
    "session_start": {
        "source": "clear", "session_type": "shared", "model": "m", "git_branch": "b", "git_commit": "c",
        "transcript_path": "p",
    },
    "retraction": {"target": "t", "reason": "r", "batch": "b"},
    "rejected": {"batch": "b", "salt": "0f", "digest": DIGEST, "source": "s"},
    "restored": {"target": "t", "batch": "b", "deed": True},
}  # fmt: skip
COMMON: dict[str, object] = {
    "v": 1, "id": "019c7b12-8f00-7000-8000-000000000000", "ts": at(1), "after": at(2), "conversation_id": "c",
    "project": "/p", "agent": "a", "subagent": "s", "layer": 1, "replica": "r", "speaker": "guessed",
    "redacted": DIGEST,
}  # fmt: skip
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 8), st.sampled_from([2**63, 2**64, -(2**63) - 1, 0.5, 1.0, 7.5, -0.0]),
    st.sampled_from(["", " ", "x", "\u2003", "main", "W", "S", "user", "stage", "guessed", DIGEST, at(3), "\ud800", "\x1f"]),
    st.lists(st.sampled_from(["x", "", 1, None, "\udc00"]), max_size=2),
    st.sampled_from([{}, {"failure": "f"}, [{"failure": "f", "passed": "p"}], [{"failure": "f", "passed": 1}]]),
)  # fmt: skip


def fields_of(name):
    return {**COMMON, "type": name, **OWN[name]}


def agree(line):
    """Whether both readers take the line, of a type that a search reads."""
    fields = fastjson.object_in(line)
    read = [found for found in LogLine.unread(line, f"{DAY}.jsonl", 1, 1).check(DAY) if isinstance(found, LogLine)]
    known = [found for found in read if found.event.type in OWN]
    if fields.get("type") in OWN and fields.get("memory_type") != "S":
        assert bool(read) == is_event(fields, DAY, line), line
    return bool(known)


def test_every_field_of_the_types_has_its_rule():
    for name, rules in _OF_TYPE.items():
        own = {field for field in TYPES[name].__struct_fields__ if field not in {*COMMON, "extra"}}
        assert own == rules.keys()


@pytest.mark.parametrize("name", OWN)
def test_a_line_as_the_log_writes_it_is_an_event(name):
    assert agree(json.dumps(fields_of(name)).encode())
    for field in OWN[name]:
        agree(json.dumps({key: value for key, value in fields_of(name).items() if key != field}).encode())


@given(st.sampled_from(sorted(OWN)), st.data())
def test_other_values_in_its_fields_are_taken_by_both_or_by_neither(name, data):
    fields = fields_of(name)
    names = [*fields, "target", "statement", "conversation", "mood"]
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(set(names) - {"type"})), VALUES, max_size=2))
    agree(json.dumps({**fields, **changed}).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_a_flipped_bit_is_damage_to_both_or_to_neither(name):
    line = json.dumps(fields_of(name), separators=(",", ":")).encode()
    for position in range(0, len(line), stride(3)):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[position] ^= 1 << bit
            agree(bytes(flipped))
