"""JSON from outside is refused in plain words, never with a traceback, and the same on every Python."""

import pytest

from eventlog.fast.fastjson import MAX_DEPTH
from eventlog.format import codec


def nested(levels, brackets="[]"):
    return brackets[0] * levels + brackets[1] * levels


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 300, 1000, 2000, 3000, 20_000, 200_000])
@pytest.mark.parametrize("wrap", ["{}", '{{"a":1,"deep":{}}}', '[1,{},"]]]"]'])
def test_what_lies_too_deep_is_refused_whatever_the_depth(levels, wrap):
    with pytest.raises(ValueError, match="too deep in each other"):
        codec.decode_json(wrap.format(nested(levels)))


def test_what_lies_as_deep_as_the_log_takes_is_read_and_brackets_in_texts_are_not_counted():
    assert codec.decode_json(nested(MAX_DEPTH)) is not None
    assert codec.json_object(f'{{"a":"{"[{" * 5000}"}}'.encode()) == {"a": "[{" * 5000}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a":', "it breaks off"),
        (b'{"a":"\xe4\xbd', "it breaks off"),
        (b'{"a":"\xff"}', "byte 0xff at offset 6 is not UTF-8"),
        (b"[1] 2", "trailing characters"),
        ("\ud800", "surrogates not allowed"),
    ],
)
def test_what_is_no_json_is_refused_in_plain_words(data, reason):
    with pytest.raises(ValueError, match=reason):
        codec.decode_json(data)


def test_another_type_is_refused():
    with pytest.raises(ValueError, match="must be an object, not a list"):
        codec.decode_json(b"[]", dict)
    assert codec.json_object(b"[]") is None
