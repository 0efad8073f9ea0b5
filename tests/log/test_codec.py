import json

import msgspec
import pytest
from hypothesis import given

from eventlog.fast import fastjson
from eventlog.format import codec
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import Fact, SessionEnd, UnknownEvent
from tests.support.builders import contents, fact
from tests.support.strategies import any_event, stored_events


@pytest.mark.slow
@given(any_event)
def test_an_event_survives_the_way_to_fields_and_back(event):
    assert event == codec.from_fields(codec.to_fields(event))


@pytest.mark.slow
@given(stored_events())
def test_a_stored_event_survives_the_way_to_its_line_and_back(event):
    assert event == codec.decode(codec.encode(event))


@given(stored_events())
def test_a_line_read_and_written_again_is_the_same_line(event):
    assert codec.encode(event) == codec.encode(codec.decode(codec.encode(event)))


@given(stored_events())
def test_a_line_starts_with_version_id_time_and_type(event):
    assert ["v", "id", "ts", "type"] == list(json.loads(codec.encode(event)))[:4]


@given(any_event)
def test_what_is_checked_once_stays_as_it_is(event):
    assert codec.check(event) == codec.check(codec.check(event))


@given(stored_events())
def test_the_derived_id_depends_on_nothing_but_what_the_event_says(event):
    other = msgspec.structs.replace(event, id="")

    assert codec.content_id(event) == codec.content_id(other)


def test_the_derived_id_depends_on_everything_the_event_says():
    plain = codec.from_fields(fact())
    others = [
        codec.from_fields(fact(**{name: value}))
        for name, value in [("content", "x"), ("conversation_id", "d"), ("layer", 2), ("unknown", 1), ("project", "/p")]
    ]

    assert len(others) + 1 == len({codec.content_id(event) for event in [plain, *others]})


def test_the_derived_id_does_not_depend_on_the_order_of_fields():
    fields = fact(b=1, a=2)
    reversed_fields = dict(reversed(fields.items()))

    assert codec.content_id(codec.from_fields(fields)) == codec.content_id(codec.from_fields(reversed_fields))


def test_unknown_fields_are_kept_beside_the_known_ones():
    event = codec.from_fields(fact(mood="calm", extra={"extra": 1}))

    assert {"mood": "calm", "extra": {"extra": 1}} == event.extra
    assert fact(mood="calm", extra={"extra": 1}) == codec.to_fields(event)


def test_unknown_fields_within_a_plan_entry_are_kept():
    fields = {
        "v": 1, "type": "plan_entry", "conversation_id": "c", "content": "text",
        "key": {"heading": "H", "path": "user", "anchor": "h"}, "meta": {"confidence": 0.5, "model": "m"},
    }  # fmt: skip
    event = codec.from_fields(fields)

    assert fields == codec.to_fields(event)
    assert {"meta": {"model": "m"}, "key": {"anchor": "h"}} == event.extra


def test_an_unknown_type_is_kept_with_all_its_fields():
    fields = {"v": 3, "type": "dream", "conversation_id": "c", "layer": 2, "extra": [1], "?": "!", "content": None}
    event = codec.from_fields(fields)

    assert isinstance(event, UnknownEvent)
    assert fields == codec.to_fields(event)


@pytest.mark.parametrize("version", [None, 0, -1, "1", 1.5, True, [1]])
@pytest.mark.parametrize("name", ["fact", "dream"])
def test_a_version_is_a_whole_number_from_one(version, name):
    with pytest.raises(InvalidEvent, match=r"^v: "):
        codec.from_fields(fact(v=version, type=name))


@pytest.mark.parametrize("name", [None, "", 7, ["fact"], {"fact": 1}])
def test_every_event_has_a_type(name):
    with pytest.raises(InvalidEvent, match=r"^type: every event has a type"):
        codec.from_fields(fact(type=name))


@pytest.mark.parametrize("line", [b"null", b"[]", b"7", b'"fact"', b"true"])
def test_a_line_that_is_not_an_object_is_no_event(line):
    with pytest.raises(InvalidEvent, match="not a JSON object"):
        codec.decode(line)


@pytest.mark.parametrize(
    "line", [b"", b"{", b"{1:2}", b"\xff", b'{"a":"\xff"}', b"[" * 100_000, b'{"a":NaN}', b"{} {}"]
)
def test_a_line_that_is_not_json_is_no_event(line):
    with pytest.raises(InvalidEvent, match="not JSON"):
        codec.decode(line)


@pytest.mark.parametrize("name", ["id", "ts", "type", "conversation_id", "content"])
def test_a_line_without_a_required_field_names_it(name):
    fields = {key: value for key, value in fact().items() if key != name}

    with pytest.raises(InvalidEvent, match=f"^{name}: "):
        codec.decode(fastjson.dumps(fields))


def test_an_event_of_a_mebibyte_is_the_longest():
    room = fastjson.MAX_LINE - len(codec.encode(Fact(conversation_id="c", content="x"))) + 1
    longest = Fact(conversation_id="c", content="x" * room)

    assert len(codec.encode(longest)) == fastjson.MAX_LINE
    with pytest.raises(InvalidEvent, match=r"^fact: the event is 1,048,577 bytes long, the log takes 1,048,576"):
        codec.encode(Fact(conversation_id="c", content="x" * (room + 1)))


def test_half_a_surrogate_pair_is_replaced_and_the_rest_kept():
    assert ["a\ufffdb"] == contents([codec.check(Fact(conversation_id="c", content="a\ud83db"))])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_json_is_refused(number):
    with pytest.raises(InvalidEvent, match="JSON"):
        codec.check(SessionEnd(conversation_id="c", duration_ms=number))


@pytest.mark.parametrize("value", [object(), {(1, 2): 3}, [[object]]])
def test_an_unknown_field_that_is_not_json_is_refused(value):
    with pytest.raises(InvalidEvent, match=r"unsupported|keys must be"):
        codec.check(Fact(conversation_id="c", content="x", extra={"a": value}))


def test_an_unknown_field_that_holds_itself_is_refused():
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(InvalidEvent, match="JSON"):
        codec.check(Fact(conversation_id="c", content="x", extra={"a": endless}))


def test_an_unknown_field_cannot_smuggle_in_what_is_refused_openly():
    with pytest.raises(InvalidEvent, match=r"^ts: "):
        codec.check(Fact(conversation_id="c", content="x", extra={"ts": "../../../etc"}))


def test_a_blank_conversation_is_refused_at_the_door_and_read_from_logs_that_have_it():
    blank = codec.from_fields({"type": "turn_end", "conversation_id": " \u3000"})

    with pytest.raises(InvalidEvent, match=r"^conversation_id: must not be blank$"):
        codec.check(blank)


def test_an_event_with_an_id_has_its_time():
    with pytest.raises(InvalidEvent, match=r"^ts: missing"):
        codec.check(codec.from_fields({**fact(), "ts": ""}))


def test_a_wrong_time_comes_with_a_hint():
    with pytest.raises(InvalidEvent, match=r"^ts: ") as caught:
        codec.check(codec.from_fields(fact(ts="yesterday")))

    assert "write it like 2026-02-21T08:35:44Z or 2026-02-21T16:35:44+08:00" == caught.value.hint


def test_a_default_said_aloud_makes_no_other_event():
    key = {"heading": "H", "path": "user"}
    quiet = {"type": "plan_entry", "conversation_id": "c", "key": key}
    loud = {**quiet, "meta": {"confidence": float("0.9"), "reason": None}, "key": {**key, "level": 2}}

    assert codec.encode(codec.from_fields(quiet)) == codec.encode(codec.from_fields(loud))
