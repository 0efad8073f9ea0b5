"""The words of a text: English without endings, Chinese by pairs, names whole and in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.search import words
from eventlog.projections.search.words import stem, tokens, translated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The orders are NEVER deleted", ["order", "never", "delet"]),
        ("Ich schicke dir das env", ["ich", "schick", "dir", "das", "environment"]),
        ("CONN_MAX_AGE", ["conn_max_age", "conn", "max", "age"]),
        ("GitHub, github; TypeScript", ["github", "github", "typescript"]),
        ("HTTPServer parseURL", ["httpserver", "http", "server", "parseurl", "pars", "url"]),
        (
            "see shop/checkout/forms.py.",
            ["see", "shop/checkout/forms.py", "shop", "checkout", "forms.py", "form", "py"],
        ),
        ("Check.objects.get_or_make()", ["check.objects.get_or_make", "check", "object", "get_or_make", "mak"]),
        ("金额一律", ["金额", "额一", "一律"]),
        ("用Redis缓存", ["用", "redis", "缓存"]),
        ("钱", ["钱"]),
        ("ＡＰＩ 接口", ["api", "接口"]),
        ("サイト内の検索が遅い", ["サイト", "サイ", "イト", "内", "検索", "遅"]),
        ("バグを直した", ["バグ", "直", "した"]),
        ("Café, größer", ["café", "größ"]),
        ("-- // __ !?", []),
        ("x" * 65, []),
    ],
)
def test_tokens_of_a_text(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "same",
    [
        ("stopped", "stopping", "stops", "stop"),
        ("entries", "entry"),
        ("caches", "cached", "cache"),
        ("quick", "quickly"),
        ("write", "wrote", "written", "writing", "writes"),
        ("child", "children"),
        ("db", "dbs", "database", "databases"),
        ("auth", "authentication", "authenticate"),
        ("deps", "dependency", "dependencies"),
        ("args", "argument"),
        ("prod", "production"),
        ("k8s", "kubernetes"),
        ("go", "goes", "went", "gone"),
        ("add", "adding", "added"),
        ("migrate", "migrating", "migration", "migrations"),
        ("Gebühr", "Gebühren"),
        ("Straße", "Straßen"),
        ("Meldung", "Meldungen"),
        ("compress", "compressed", "compression"),
    ],
)
def test_inflections_of_a_word_are_one(same):
    assert len(set(map(stem, same))) == 1


def test_a_term_is_known_in_both_languages_by_each_and_by_nothing_where_both_are_asked():
    database, port = (
        (frozenset(("databas",)), frozenset(("数据", "据库"))),
        (frozenset(("port",)), frozenset(("端口",))),
    )

    assert [database, port] == translated(tokens("数据库的端口是多少"))
    assert [database[::-1], port[::-1]] == translated(tokens("Which ports do our databases listen on?"))
    assert [] == translated(tokens("数据库 database")) == translated(tokens("数据 of yesterday"))


def test_each_term_is_chinese_once_and_one_word_in_english():
    terms = words._TERMS.split()

    assert len(set(terms[::2])) == len(terms[::2]) == len(terms[1::2])
    assert all(term >= "一" and len(tokens(word)) == 1 for term, word in zip(terms[::2], terms[1::2], strict=True))
    assert all(stem(word).startswith(word[: words._BEGINNING]) for word in terms[1::2])


def test_words_that_differ_stay_apart():
    assert (
        len(set(map(stem, ("bus", "bug", "class", "status", "this", "ring", "red", "port", "part", "portion")))) == 10
    )


@given(st.text())
def test_whatever_the_text_its_tokens_are_words_that_stay_what_they_are(text):
    found = tokens(text)

    assert tokens(text) == found
    assert not [token for token in found if not token or token.split() != [token] or '"' in token]
