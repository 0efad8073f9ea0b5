"""Decisions of people come from people's verbs."""

import json

import pytest

from eventlog.format import codec
from eventlog.format.errors import InvalidEvent
from eventlog.log.event_log import EventLog
from tests.support.command_line import call

RESERVED = pytest.mark.parametrize(
    "event",
    [
        {"type": "entry_resolved", "target": "x", "choice": "apply"},
        {"type": "entry_applied", "target": "x", "path": "p", "heading": "S", "level": 2, "digest": ""},
        {"type": "knowledge_edited", "key": {"path": "user", "heading": "S"}, "content": "x"},
        {"type": "rejected", "statement": "x"},
        {"type": "restored", "target": "x"},
    ],
    ids=lambda event: event["type"],
)


@RESERVED
def test_what_people_decide_is_not_said_by_append(tmp_path, event):
    store = tmp_path / "store"
    fields = {"conversation_id": "s", **event}
    kind = fields.pop("type")
    one = call("append", kind, "--json", json.dumps(fields), "--store", store)
    many = call("append", "--stdin", "--store", store, stdin=json.dumps(fields | {"type": kind}).encode())

    assert (2, 2) == (one.code, many.code)
    assert "is not for append" in one.err
    assert "is not for append" in many.err
    assert [] == list(EventLog(store).read())


@RESERVED
def test_nor_by_a_program(tmp_path, event):
    log = EventLog(tmp_path / "store")
    fields = {"conversation_id": "s", **event}

    for given in (fields, codec.from_fields(fields)):
        with pytest.raises(InvalidEvent, match="is not for append"):
            log.append(given)
        with pytest.raises(InvalidEvent, match="is not for append"):
            log.append_many([{"type": "fact", "conversation_id": "s", "content": "x"}, given])
    assert [] == list(log.read())
