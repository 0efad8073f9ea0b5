"""A text is found in every spelling, and what stands around it stays."""

import base64
import html
import json
import unicodedata
import urllib.parse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.app.write.erasing import erased_text
from eventlog.app.write.erasing.erased_text import SHORTEST, Needles, folded

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(lambda one: len(folded(one)) >= SHORTEST)
AROUND = st.text("abc \n", max_size=5)


def escaped(text):
    return json.dumps(text)[1:-1]


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "dress",
    [urllib.parse.quote, urllib.parse.quote_plus, lambda one: urllib.parse.quote(one, safe=""), html.escape,
     lambda one: html.escape(one, quote=False), lambda one: html.escape(one).replace("&#x27;", "&#39;"), lambda one: unicodedata.normalize("NFD", one),
     "\u200b".join, lambda one: json.dumps("\u00ad".join(one))[1:-1]],
)  # fmt: skip
@pytest.mark.parametrize("text", ["p&ss <wörd>/7", "it's ünï", "ünï"])
def test_a_text_is_found_in_an_address_in_html_and_in_other_forms_of_its_letters(dress, text):
    assert "a=[redacted:1]&b" == Needles([f"{text} x"], 1).without(f"a={dress(f'{text} x')}&b")


@pytest.mark.parametrize("form", ["&#{:d};", "&#x{:x};", "&#X{:04X};", "\\u0026#{:d};"])
@pytest.mark.parametrize("before", ["", "CORP\\new "])
def test_a_text_is_found_where_html_writes_its_letters_as_numbers(form, before):
    for dressed in ("".join(form.format(ord(letter)) for letter in "pass wörd"), f"pa{form.format(ord('s'))}s wörd"):
        assert f"{before}a=[redacted:1]&b" == Needles(["pass wörd"], 1).without(f"{before}a={dressed}&b")
    assert "&#99999999;" == Needles(["pass wörd"], 1).without("&#99999999;")


@pytest.mark.parametrize("letter", "bBfnNrtTux")
def test_a_text_is_found_behind_a_backslash_that_escapes_nothing(letter):
    text = f"{letter}ew-pass"
    for before in ("CORP\\", escaped("CORP\\")):
        assert "CORP[redacted:1] it" == Needles([text], 1).without(f"{before}{text} it").replace("\\", "")


@given(TEXTS.filter(lambda one: len(one.encode()) >= 7), AROUND, AROUND)  # of fewer, base64 shares too little
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


@given(st.text('\\\\\\""nNbtuxX&#;0141aA c\n', max_size=24))
@example('ab\\\\\\"c\\\\nd')
@example("a\\x\\n41bc")
def test_what_is_found_among_escapes_has_its_place(text):
    wanted = folded(text)
    if len(wanted) >= SHORTEST and (needles := Needles([wanted], 1)).are_in(text):
        assert needles.places(text)
        assert not needles.are_in(needles.without(text))


def test_no_line_without_a_rare_escape_is_searched_for_escapes(monkeypatch):
    searched = []

    class Pattern:
        def sub(self, _, text):
            searched.append(text)
            return text

    monkeypatch.setattr(erased_text, "_ESCAPE", Pattern())
    Needles(["hunter2"], 1).are_in('{"a":"plain"}\n{"b":"\\"two\\"\\nlines"}\n{"c":"\\u00e9"}\n')

    assert {'{"c":"\\u00e9"}'} == set(searched)
