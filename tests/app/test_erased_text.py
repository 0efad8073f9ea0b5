"""A text is found in every spelling, and what stands around it stays."""

import base64
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.app.write.erasing.erased_text import SHORTEST, Needles, folded

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(lambda one: len(folded(one)) >= SHORTEST)
AROUND = st.text("abc \n", max_size=5)


def escaped(text):
    return json.dumps(text)[1:-1]


@pytest.mark.parametrize("dress", [str, str.upper, str.casefold, escaped, lambda one: escaped(escaped(one))])
@given(TEXTS, AROUND, AROUND)
@example("\\u0041bcd", "", "")
@example("a\\nb\nc", "", "")
@example("İstanbul", "", "")
@example('"quo"', "a", "b")
@example("000\x08", "", "")
def test_a_text_is_found_however_it_is_written(dress, text, before, after):
    needles = Needles([text], 1)
    left = needles.without(before + dress(text) + after)
    assert "[redacted:1]" in left
    assert not needles.are_in(left)


@given(TEXTS.filter(lambda one: len(one.encode()) >= 6), AROUND, AROUND)
def test_a_text_is_found_in_base64_whatever_stands_around_it(text, before, after):
    coded = base64.b64encode((before + text + after).encode()).decode()
    assert "in [redacted:1]." == Needles([text], 1).without(f"in {coded}.")


@given(TEXTS, st.text(max_size=60))
def test_a_text_without_it_stays_the_same(text, other):
    needles = Needles([text], 1)
    if not needles.are_in(other):
        assert other == needles.without(other)


def test_it_ends_where_a_text_is_part_of_what_stands_in_its_place():
    assert "a [redacted:1] b" == Needles(["redacted"], 1).without("a redacted b")
