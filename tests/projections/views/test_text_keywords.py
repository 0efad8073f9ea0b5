"""What several texts name is a keyword, in words a reader of their language would look for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.views import text_keywords as module
from eventlog.projections.views.labels import MEANING, all_for, in_language
from eventlog.projections.views.text_keywords import key_of, text_keywords

CHINESE = [
    "账单生成后不可修改，差错通过红字账单冲销。",
    "旧账单归档到对象存储，每月一次",
    "对象存储的密钥每季度轮换，客户无感知",
    "通知客户时附上账单",
]
ENGLISH = [
    "Handlers of Stripe webhooks check the signature first",
    "A webhook may come twice: Stripe retries for three days",
    "Run `make check` in CI before every merge of app/orders.py",
    "The webhook tests need CI and app/orders.py",
]


def named(texts):
    return [one.word for one in text_keywords(texts)]


def test_chinese_words_are_found_whole_and_without_what_only_stands_beside_them():
    assert named(CHINESE) == ["账单", "客户", "对象存储"]


def test_of_english_the_words_of_three_texts_and_the_names_of_two():
    assert named(ENGLISH) == ["webhook", "app/orders.py", "CI"]


WORDS = [
    "webhook",
    "webhooks",
    "Webhook",
    "cache",
    "缓存",
    "错误",
    "error",
    "went",
    "gone",
    "queue",
    "the",
    "app/x.py",
    "CI",
]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=12), st.integers(1, 4))
def test_the_first_ones_are_found_without_a_look_at_all_others(texts, most):
    with pytest.MonkeyPatch.context() as patch:
        everything = text_keywords(texts)
        patch.setattr(module, "_MAX", most)

        assert everything[:most] == text_keywords(texts)


def test_words_that_say_little_are_none():
    assert (
        named(["必须先测试，因为需要", "测试之前必须，因为这个", "They must always do this thing, when then"] * 3) == []
    )


def test_spellings_of_one_word_have_one_key():
    assert len({key_of(word) for word in ("Orders", "order", "ＯＲＤＥＲ", "orders")}) == 1
    assert {key_of(word) for word in ("决策", "Decisions", "decision", "关键决策")} == {"decision"}
    assert {key_of(word) for word in ("偏好", "preferences", "Preference")} == {"preference"}
    assert key_of("orders.py") == "orders.py"


def test_a_word_of_the_table_is_spelled_in_the_readers_language():
    assert [in_language("decision", "decision", "zh"), in_language("决策", "decision", "en")] == ["决策", "decision"]
    assert [in_language("Decisions", "decision", "en"), in_language("关键决策", "decision", "zh")] == [
        "Decisions",
        "关键决策",
    ]
    assert [in_language("cart", "cart", "zh"), in_language("", "", "en")] == ["cart", ""]


def test_no_word_of_the_table_means_two_things():
    meant = {MEANING[word] for word in ("decision", "preference", "lesson", "insight", "test", "file")}

    assert "unicorn" not in MEANING
    assert [word for one in meant for word in all_for(one) if MEANING[word] != one] == []


words = st.lists(st.sampled_from([*CHINESE, *ENGLISH, "金额用分", "a", ""]), max_size=8)


@given(words, st.randoms())
def test_every_keyword_stands_in_two_texts_and_the_order_of_the_texts_changes_nothing(texts, chance):
    found = text_keywords(texts)
    order = chance.sample(range(len(texts)), len(texts))
    shuffled = text_keywords([texts[number] for number in order])

    assert [(one.key, frozenset(order[number] for number in one.texts)) for one in shuffled] == [
        (one.key, one.texts) for one in found
    ]
    assert [one.word for one in shuffled] == [one.word for one in found]
    for one in found:
        assert len(one.texts) > 1
        assert not [number for number in one.texts if one.word.casefold()[:6] not in texts[number].casefold()]
