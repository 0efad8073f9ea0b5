import re
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.text import (
    _numbers_apart,
    cut,
    differing_in_a_number,
    fold,
    harmless,
    is_harmless,
    one_line,
    project_name,
    same_text,
    statement_line,
    statement_of,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\t b\u3000c\u2028d", "a b c d"),
        (" a \x00 b ", "a b"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("a\u202eb\u2066c\ufeffd", "abcd"),
        ("👩‍💻 ok", "👩‍💻 ok"),
        ("\x1b\x07", ""),
        ("a\u200bb\u2060c\u3164d\u061ce\u200ff\u00adg", "abcdefg"),
        ("a" + "".join(chr(0xE0000 + ord(char)) for char in "run rm") + "b", "ab"),
        ("a\ufe0fb\u200dc\ufe01d\U000e0101e", "abcde"),
        ("❤️ ☕️ 1️⃣ 👨‍👩‍👧 🏳️‍🌈 👩🏽‍💻", "❤️ ☕️ 1️⃣ 👨‍👩‍👧 🏳️‍🌈 👩🏽‍💻"),
        ("1\ufe0f and \u200d👩\u200d", "1 and 👩"),
        ("می\u200cخواهم و داده\u200cها", "می\u200cخواهم و داده\u200cها"),
        (
            "\u0dc1\u0dca\u200d\u0dbb\u0dd3 \u0915\u094d\u200d\u0937",
            "\u0dc1\u0dca\u200d\u0dbb\u0dd3 \u0915\u094d\u200d\u0937",
        ),
        ("می\u200c\u200cخ\u200c a\u200cb \u200cو\u200d👩", "میخ ab و👩"),
    ],
)
def test_a_line_has_no_white_space_but_single_spaces_and_nothing_that_acts(text, line):
    assert line == one_line(text)


@given(st.text())
def test_a_line_of_a_line_is_the_same_line(text):
    line = one_line(text)

    assert line == one_line(line) == " ".join(line.split())


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_is_never_longer_and_ends_in_an_ellipsis_if_anything_is_missing(text, limit):
    short = cut(text, limit)

    assert len(short) <= limit
    assert short == text or short.endswith("…")


@pytest.mark.parametrize(
    "other",
    ["use rs256", "USE  RS256", "Use RS256.", "Use RS256 !?…", "Ｕｓｅ ＲＳ２５６。", "\tuse\nrs256 ", "Use RS256）"],
)
def test_case_width_space_and_closing_punctuation_make_no_other_fact(other):
    assert same_text("Use RS256") == same_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("端口是 5432", "端口是５４３２"),
        ("端口是 5432。", "端口是5432"),
        ("使用 FastAPI 框架", "使用FastAPI框架"),
        ("你好，世界", "你好, 世界！"),
        ("カタカナ で", "カタカナで"),
    ],
)
def test_spaces_beside_han_characters_and_full_width_forms_make_no_other_fact(one, other):
    assert same_text(one) == same_text(other)


@pytest.mark.parametrize("unseen", "\u00ad\u200b\u200c\u200d\u2060\ufe0f\ufeff\u3164\U000e0041")
def test_characters_nobody_sees_make_no_other_fact(unseen):
    assert same_text("Use RS256") == same_text(f"Use{unseen} RS2{unseen}56{unseen}")


def test_a_text_of_nothing_but_characters_nobody_sees_stays_what_it_is():
    assert "\u200b" == same_text("\u200b") != same_text("\u2060")


@pytest.mark.parametrize("other", ["Use RS512", "Use RS 256", "Do not use RS256", "«Use RS256"])
def test_other_words_are_another_fact(other):
    assert same_text("Use RS256") != same_text(other)


def test_text_of_nothing_but_punctuation_stays_what_it_is():
    assert same_text("...") == "..." != same_text("?")


@given(st.text())
def test_what_is_compared_is_stable(text):
    assert same_text(text) == same_text(same_text(text))


@given(st.text(alphabet="aB，：；！？（）,…①Ⅷ中 \u0301\u0338\u3099İß", max_size=12))
def test_capitals_and_width_are_folded_as_unicode_has_it(text):
    assert normalize("NFKC", normalize("NFKC", text).casefold()) == fold(text)


def test_common_ideographs_have_no_case_no_width_and_no_digits():
    common = "".join(map(chr, range(0x4000, 0xA000)))

    assert common == normalize("NFKC", normalize("NFKC", common).casefold()) == fold(common) == harmless(common)
    assert not any(map(str.isdigit, common))


@given(st.text())
def test_a_line_is_compared_as_the_text_it_is(text):
    assert same_text(statement_line(text)) == statement_of(text)


@pytest.mark.parametrize("text", ["阶段摘要：写完", "阶段摘要: 写完", " 阶段摘要:写完", "写完"])
def test_the_mark_of_a_stage_is_no_part_of_its_text_with_a_colon_of_either_width(text):
    assert "写完" == statement_line(text)


@given(st.text(alphabet="a1 \x1b[m\u200b\u200c\u200d\ufe0f\u20e3👩❤\U000e0041می", max_size=12))
def test_a_line_of_invisible_characters_is_stable_too(text):
    assert one_line(text) == one_line(one_line(text))


@pytest.mark.parametrize(
    ("project", "name"),
    [("/home/ada/shop", "shop"), ("/home/ada/shop/", "shop"), ("/", "/"), ("", ""), ("/a/b\x1b[31m\nc", "b c")],
)
def test_a_project_is_named_after_its_directory(project, name):
    assert name == project_name(project)


def test_a_text_that_is_harmless_at_a_glance_holds_nothing_that_acts_or_hides():
    plain = "".join(char for char in map(chr, range(0x10000)) if is_harmless(char))

    assert harmless(plain) == plain
    assert is_harmless("发票编号必须连续，café ☕")
    assert not any(map(is_harmless, ("tag\U000e0041", "a\u200bb", "a\u3164", "selected\ufe0f", "\x1b[31m")))


@pytest.mark.parametrize(
    ("texts", "doubtful"),
    [
        (["Postgres 15 on staging", "postgres 16 on staging."], 2),
        (["Port 8443", "Port 9443", "Port 80 is closed"], 2),
        (["Rule 1 trims", "Rule 2 trims", "Rule 3 trims"], 0),  # a list
        (["Rule 1 trims column 1", "Rule 2 trims column 2"], 0),
        (["Released on 2026-02-15", "Released on 2026-02-16"], 0),
        (["2026年2月17日上线", "2026年2月18日上线"], 0),
        (["2026年上线", "2027年上线"], 0),
        (["2月发布", "3月发布"], 0),
        (["每月5次", "每月3次"], 2),
        (["质保3年", "质保5年"], 2),
        (["端口：8443（临时）", "端口：９４４３（临时）。"], 2),
        (["#12 is merged", "#13 is merged"], 0),
        (["Keep 60 days", "Keep 90 days", "60", "Keep"], 2),
        (["Waits 2.5 s", "Waits 2.6 s"], 2),
        (["Port 8443", "port 8443!"], 0),
        ([], 0),
    ],
)
def test_two_texts_that_differ_in_one_number_only_are_a_pair(texts, doubtful):
    assert differing_in_a_number(texts) == set(texts[:doubtful])


@given(st.lists(st.text("a中12①２ #-.", max_size=6), max_size=6))
def test_texts_that_are_passed_over_differ_in_more_than_a_number(texts):
    alike: dict[tuple[object, ...], dict[str, set[str]]] = {}
    for text in texts:
        pieces = _numbers_apart(statement_of(text))
        for at in range(1, len(pieces), 2):
            if not pieces[at - 1].endswith(("#", "-")) and not pieces[at + 1].startswith("-"):
                same = (at, *pieces[:at], *pieces[at + 1 :])
                alike.setdefault(same, {}).setdefault(pieces[at], set()).add(text)

    pairs = [numbers.values() for numbers in alike.values() if len(numbers) == 2]
    assert differing_in_a_number(texts) == {text for pair in pairs for several in pair for text in several}


@given(st.text("ab 129#-\0", max_size=12))
def test_numbers_are_what_a_pattern_finds(text):
    assert re.split("([0-9]+)", text) == _numbers_apart(text)


@given(st.text(st.sampled_from("ab 中#-0129²０"), max_size=12))
def test_a_text_is_split_at_its_numbers_and_nothing_is_lost(text):
    pieces = _numbers_apart(text)
    assert "".join(pieces) == text
    assert all(piece.isdigit() for piece in pieces[1::2])
    assert not any(char.isdigit() for piece in pieces[::2] for char in piece)


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("一二三四五", 5, "一二三四五"),
        ("一二三四五", 4, "一二三…"),
        ("caf\u0065\u0301s", 5, "caf…"),  # a letter and its accent
        ("ab👨\u200d👩\u200d👧c", 5, "ab…"),
        ("ab👍🏽c", 4, "ab…"),
        ("ab☀\ufe0fc", 4, "ab…"),
        ("a🇨🇳🇩🇪b", 5, "a🇨🇳…"),
        ("a🇨🇳🇩🇪", 4, "a🇨🇳…"),
        ("a" + "\u0301" * 9, 4, "a\u0301\u0301…"),  # nothing else is in it
    ],
)
def test_a_text_is_cut_between_what_people_see_as_characters(text, limit, shown):
    assert cut(text, limit) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("rounding by the currency's minor unit", 30, "rounding by the currency's…"),
        ("see https://example.org/a/very/long/address", 24, "see https://example.org…"),
        ("word word", 5, "word…"),
        ("after it: `make reindex`, four minutes", 25, "after it: `make reindex`…"),
        ("价格 都以分为单位存储", 8, "价格 都以分为…"),
    ],
)
def test_a_cut_text_ends_with_a_whole_word_unless_much_would_go_with_it(text, limit, shown):
    assert shown == cut(text, limit)
