"""BM25 by hand ranks as SQLite's full-text search does, and what bears on a prompt is rare enough."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.projections.search.ranking import _GREETS, _WORK, Gate, idf, scanner, subjects, supported, telling
from eventlog.projections.search.words import stem, tokens

TEXTS = [
    "Stripe sends a webhook twice when the handler is slow",
    "The invoice PDF is made by WeasyPrint",
    "Run the tests with pytest -q",
    "支付回调会重复发送",
    "コメント機能は廃止した。スパムが多かったため、フォームだけを残している",
    "Parkausweise werden nur für Fahrzeuge ausgestellt, die auf den Antragsteller zugelassen sind",
    "El descanso mínimo entre los turnos de la noche es de doce horas: así se acuerda con cómo trabajan",
    "Il riposo minimo di questa clinica: come si vede da noi, i turni della notte sono di dodici ore",
    "Les heures de la nuit sont comptées deux fois, comme dans le contrat de la clinique",
    "Como as trocas da noite são aprovadas: é a chefe da enfermaria que decide",
]
WORDS = st.sampled_from(["ab", "ac", "b", "c", "d", "e"])
TERMS = st.sampled_from(["x", "y", "z"])  # of another language


@given(
    st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=8),
    st.lists(WORDS | st.sampled_from(["ab b", "b ab", "c d"]), unique=True, max_size=3),
)
def test_a_scan_scores_as_fts5_does(rows, asked):
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(tokens, content='')")
        database.executemany("INSERT INTO t (rowid, tokens) VALUES (?, ?)", enumerate(rows))
        query = " OR ".join((*(f'"{one}"' for one in asked), "a *"))
        found = dict(database.execute("SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (query,)))

    assert scanner(rows)(asked, "a") == pytest.approx(found)


def test_a_word_that_all_have_tells_nearly_nothing_and_never_the_contrary():
    assert idf(10, 1) > idf(10, 4) > idf(10, 9) > 0


def test_common_words_are_left_out_where_there_are_others():
    having = {"common": 60_000, "rare": 3, "unknown": 0}

    assert telling(having, 100_000) == ["rare"]
    assert telling({"common": 60_000}, 100_000) == ["common"]
    assert telling(having, 500_000_000) == ["common", "rare"]


def test_a_fact_counts_more_where_two_others_of_its_conversation_answer_too():
    scores = {1: 4.0, 2: 3.0, 3: 2.0, 4: 4.0, 5: 3.0}
    facts = [(1, "about it"), (4, "by chance"), (2, "about it"), (5, "by chance"), (3, "about it")]

    found = supported(scores, facts)

    assert found.keys() == {1, 2, 3}
    assert all(found[unit] > scores[unit] for unit in (1, 2, 3))
    assert found[1] > found[2] > found[3]


@given(st.lists(st.floats(0, 9), max_size=12).map(lambda scores: sorted(scores, reverse=True)))
def test_what_supports_facts_of_a_conversation_leaves_their_order_and_at_most_a_half_is_added(scores):
    found = supported(dict(enumerate(scores)), [(unit, "one") for unit in range(len(scores))])

    assert sorted(found, key=lambda unit: (-found[unit], unit)) == sorted(found) or len(set(scores)) < len(scores)
    assert all(scores[unit] <= score <= scores[unit] + max(scores) / 2 for unit, score in found.items())


def told(prompt, texts=TEXTS):
    """Which of the texts bear on a prompt, by the numbers of a store that holds only them."""
    having: dict[str, int] = {}
    for text in texts:
        for token in set(tokens(text)):
            having[token] = having.get(token, 0) + 1
    gate = Gate.of(subjects(tokens(prompt)), lambda asked: {token: having.get(token, 0) for token in asked}, len(texts))
    return [text for text in texts if gate.bears_on(tokens(text))]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Why is the Stripe webhook handled twice?", TEXTS[:1]),
        ("支付回调为什么重复？", TEXTS[3:4]),
        ("コメント機能のスパムについて教えて", TEXTS[4:5]),
        ("Wer bekommt Parkausweise für ein Fahrzeug, das nicht auf ihn zugelassen ist?", TEXTS[5:6]),
        ("¿Cuánto dura el descanso entre turnos?", TEXTS[6:7]),
        ("Quanto dura il riposo minimo?", TEXTS[7:8]),
        ("Combien de fois les heures de nuit sont-elles comptées ?", TEXTS[8:9]),
        ("Quem aprova as trocas?", TEXTS[9:]),
        ("Change the footer of the invoice PDF", TEXTS[1:2]),
        ("Why does the payment callback come as a duplicate?", TEXTS[3:4]),
        ("发票的 PDF 是怎么生成的", TEXTS[1:2]),
    ],
)
def test_what_bears_on_a_prompt(prompt, expected):
    assert told(prompt) == expected


@pytest.mark.parametrize(
    "prompt", ["thanks", "go on", "run the tests", "yes, please do that", "继续", "谢谢", "跑一下测试", "fix it", "",
               "フォントサイズを大きくして", "コミットして", "もっと短く書き直してください",
               "die Farben auf der Seite sollen heller werden", "sind die nur für den Test?",
               "¿Cómo se cambian los colores de la página?", "Come si cambiano i colori di questa pagina?",
               "Comment changer les couleurs de la page ?", "Como mudo as cores da página?",
               "Write a poem about autumn that my neighbour who sends a card can read aloud at a slow pace"]
)  # fmt: skip
def test_small_talk_and_what_is_about_something_else_is_told_nothing(prompt):
    assert told(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What is Stripe, actually?", TEXTS[:1]),
        ("Stripe 是什么？", TEXTS[:1]),
        ("Stripe を使う？", TEXTS[:1]),
        ("was bedeutet Stripe?", TEXTS[:1]),
        ("What colour has the logo of the webhook?", []),
        ("支付是什么？", []),
    ],
)
def test_a_word_of_one_text_is_enough_where_a_prompt_is_about_nothing_else(prompt, expected):
    assert told(prompt) == expected


def test_the_words_of_every_days_work_are_those_that_texts_come_to():
    assert {word for word in _WORK | _GREETS if word.isascii() and stem(word) != word} == {"dies"}  # `diese`


def test_a_brand_is_no_thing_in_code():
    texts = [
        "The mirror of the handbook lies on GitHub",
        *(f"Note {n} on shelf {n} about parcel {n}" for n in range(300)),
    ]

    assert told("push it to GitHub with the new labels of costs", texts) == []
    assert told("What is on GitHub?", texts) == texts[:1]


@pytest.mark.parametrize("prompt", ["Somebody deployed an ugly migration, may I correct ledger.py by hand?",
                                    "/opt/shop/src/ledger.py, line 131, fails: why?",
                                    "Account.objects.lock_rows() waits for ever since yesterday"])  # fmt: skip
def test_a_name_within_a_longer_one_is_the_same_thing(prompt):
    texts = ["Old rows in lib/books/ledger.py are never changed, and lock_rows sorts them by their id first", *TEXTS]

    assert told(prompt, texts) == texts[:1]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Stripe answers 404 again", TEXTS[:1]),
        ("the webhook answers 404 again", []),
        ("What colour, size and shape has the logo of Stripe?", []),
    ],
)
def test_a_text_that_begins_with_a_word_of_a_short_prompt_needs_no_other(prompt, expected):
    assert told(prompt) == expected


def test_what_was_said_twice_is_told_to_who_asks_for_nothing_else():
    gate = Gate({"stag": 2}, 90)

    assert gate.bears_on(tokens("Staging is hc-stage2, port 9443"))
    assert gate.asked(500)


def test_in_a_large_store_no_word_is_enough_by_itself():
    assert Gate({"stripe": 1}, 50).is_met_by_one()
    assert not Gate({"stripe": 1, "logo": 9, "colour": 0, "size": 0}, 50).is_met_by_one()
    assert not Gate({"stripe": 1}, 5000).is_met_by_one()


@pytest.mark.parametrize("prompt", ["ok, let's go", "2 and 3", "open a PR", "コミットしておいて",
                                    "say that in simpler words", "translate the comment into English", "danke, passt",
                                    "thanks, that is all for today", "danke, das war's für heute", "今天", "今日はここまで",
                                    "danke dir", "könntest du mir das nochmal erklären?", "hast du die Datei?",
                                    "gut, zeig mal",
                                    "続けて", "この変数を変えて", "説明してください", "英語に翻訳して",
                                    "refactor this into smaller functions", "make it faster", "kürzer, und auf Englisch bitte"])  # fmt: skip
def test_orders_and_numbers_of_options_name_no_subject(prompt):
    assert subjects(tokens(prompt)) == []


def test_of_a_chinese_prompt_pairs_that_straddle_two_words_and_of_a_long_text_every_second_pair_count_for_little():
    asked = tokens("移调到降大调，还原记号显示空白")
    gate = Gate(dict.fromkeys(asked, 0) | {"移调": 2, "大调": 1}, 64)
    others = [f"字{number}" for number in range(120)]

    assert gate.bears_on(["移调", "大调", *others])
    assert not gate.bears_on(["移调", *others])


@pytest.mark.parametrize("word", ["e-mail", "opt-in", "email"])
def test_a_word_with_a_hyphen_counts_once(word):
    asked = dict.fromkeys(("passkey", "recovery", "link"), 0) | dict.fromkeys(subjects(tokens(word)), 4)

    assert not Gate(asked, 120).bears_on(tokens(f"Customers are merged by their verified {word} only"))
    assert Gate(asked, 120).bears_on(tokens(f"The {word} link is there"))


@example(having={"ac": 213, "ab": 445}, text=["ac", "ab"], others=[])  # a phrase, which begins the text
@given(
    having=st.dictionaries(WORDS, st.integers(0, 900), max_size=6),
    text=st.lists(WORDS | TERMS),
    others=st.lists(
        st.tuples(st.dictionaries(TERMS, st.integers(0, 900), min_size=1), st.frozensets(WORDS)), max_size=2
    ),
)
def test_a_text_that_bears_on_a_prompt_has_one_of_the_words_that_are_looked_for(having, text, others):
    gate = Gate(having, 1000, [(other, same & having.keys()) for other, same in others])

    assert not gate.bears_on(text) or set(text) & gate.asked(0).keys()


def test_all_words_are_looked_for_unless_too_many_texts_have_them_and_none_where_they_tell_too_little():
    having = {"port": 900, "reindex": 1, "lock": 300}

    assert Gate(having, 1000).asked(1201) == having
    assert Gate(having, 1000).asked(900) == {"reindex": 1, "lock": 300}
    assert Gate(having, 1000).asked(0) == {"reindex": 1}
    assert Gate({"port": 900, "order": 400}, 1000).asked(5000) == {}
