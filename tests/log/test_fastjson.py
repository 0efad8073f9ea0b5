import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast import fastjson
from tests.support.strategies import json_values, text

objects = st.dictionaries(text, json_values, max_size=4)
any_text = st.text(st.characters(), max_size=20)  # halves of surrogate pairs too


@given(objects)
def test_what_is_written_is_read_back(fields):
    assert fields == fastjson.loads(fastjson.dumps(fields))


@given(objects)
def test_the_bytes_are_those_of_the_public_module(fields):
    assert json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() == fastjson.dumps(fields)


@given(objects)
def test_an_object_is_one_line(fields):
    assert b"\n" not in fastjson.dumps(fields)


@given(any_text)
def test_half_a_surrogate_pair_costs_only_itself(string):
    kept = string.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    assert {"text": kept} == fastjson.loads(fastjson.dumps({"text": string}))


def test_keys_stay_in_the_order_given():
    assert b'{"b":1,"a":2}' == fastjson.dumps({"b": 1, "a": 2})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_json_is_not_written(number):
    with pytest.raises(ValueError, match="JSON"):
        fastjson.dumps({"a": [number]})


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"-Infinity", b'{"a":NaN}', b"1e999", b"-1e999"])
def test_a_number_that_is_not_json_is_not_read(text):
    with pytest.raises(ValueError, match="not JSON"):
        fastjson.loads(text)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {(1, 2): 3}])
def test_a_value_json_does_not_have_is_refused(value):
    with pytest.raises(ValueError, match=r"JSON type|keys must be"):
        fastjson.dumps({"a": value})


def test_a_value_that_holds_itself_is_refused():
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(ValueError, match="nested too deeply"):
        fastjson.dumps({"a": endless})


def test_a_hostile_depth_is_refused():
    with pytest.raises(ValueError, match="nested too deeply"):
        fastjson.loads(b"[" * 1_000_000)


@pytest.mark.parametrize(
    "text", [b"", b" ", b"{", b'{"a"}', b"{'a':1}", b'"a', b'"\n"', b'"\xff"', b"{} {}", b"\xfe\xff"]
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError):
        fastjson.loads(text)


@pytest.mark.parametrize("data", [b'\xef\xbb\xbf{"a":1}', b' \t\r\n{"a":1}\r\n'])
def test_a_byte_order_mark_and_white_space_around_are_tolerated(data):
    assert {"a": 1} == fastjson.loads(data)


@given(objects)
def test_without_the_private_entry_points_the_bytes_are_the_same(fields):
    def absent(*_):
        raise ImportError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("_json.make_encoder", absent)
        patch.setattr("_json.make_scanner", absent)
        encode, scan = fastjson._encoder(), fastjson._scanner()

    assert fastjson.dumps(fields) == "".join(encode(fields, 0)).encode()
    assert (fields, len(fastjson.dumps(fields).decode())) == scan(fastjson.dumps(fields).decode(), 0)
