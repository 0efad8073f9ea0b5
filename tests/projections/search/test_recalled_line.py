"""A told line is made for the question: what was asked that bears on it, the files, the sentence that says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.search import recalled_line as told
from eventlog.projections.search.findable import Findable
from eventlog.projections.search.ranking import subjects
from eventlog.projections.search.recalled_line import LONGEST, recalled_line, sentences
from eventlog.projections.search.words import tokens

FORM = "Please handle the ticket according to the house rules: ticket_id: 4711 branch: main text_of_ticket: "
CLOSING = (
    "Perfect! I've successfully finished it. Here's a summary of what was done: ## Summary ### The Problem Refunds of"
    " split payments were booked twice. ### Root Cause The ledger was keyed by order, because `book_refund` ignored the"
    " part of the payment. ### The Fix Changed the key to payment and part: ```python key = (payment, part) ``` The"
    " receipts now carry both. ## Next Let me run the tests once more."
)


def conversation(**fields):
    return {
        "type": "conversation_text", "id": "1", "title": "Handle the ticket", "closing": CLOSING,
        "prompts": [f"{FORM}Refunds of split payments appear twice in the ledger", "And which zone do the shops sync in?"],
        "files": ["notes.txt", "tests/test_ledger.py", "pkg/mail/receipt.py", "pkg/money/ledger.py", "tmp/try.py"],
    } | fields  # fmt: skip


def line(question, **fields):
    weights = dict.fromkeys(subjects(tokens(question)), 4.0)
    return recalled_line(Findable(conversation(**fields)), weights)


def test_it_says_what_was_asked_in_which_files_and_why():
    assert line("why are refunds twice in the ledger for split payments?") == (
        "Refunds of split payments appear twice in the ledger · pkg/money/ledger.py, pkg/mail/receipt.py · "
        "Refunds of split payments were booked twice. The ledger was keyed by order, because `book_refund` ignored the"
        " part of the payment."
    )


@pytest.mark.parametrize(
    ("closing", "decision", "answer"),
    [
        ("网关默认等30秒，导致堆积。决策：错误码用五位数字。", "错误码用五位数字", "网关默认等30秒，导致堆积。决策：错误码用五位数字。"),
        ("Requests hung because of 30 s. Decision: error codes have five digits.", "error codes have five digits",
         "Requests hung because of 30 s. Decision: error codes have five digits."),
    ],
)  # fmt: skip
def test_a_decision_is_told_once_and_without_a_space_behind_chinese(closing, decision, answer):
    found = line("错误码 error codes five digits", title="t", prompts=["改错误码 error codes"], files=[], closing=closing,
                 decisions=[decision])  # fmt: skip

    assert found == f"改错误码 error codes · {answer}"


def test_a_later_turn_that_asked_the_same_is_shown_and_not_the_head_of_its_conversation():
    assert line("in which zone do shops sync").startswith("And which zone do the shops sync in? · ")


def test_of_a_long_request_the_words_of_the_question_are_shown_and_not_its_beginning():
    run_on = "the archive job ran before the currency table was loaded " * 6
    asked = f"{FORM}{run_on} so Zürich invoices were rounded to rappen {run_on}"

    shown = line("rounding of Zürich invoices", prompts=[asked]).partition(" · ")[0]
    assert "Zürich invoices were rounded" in shown
    assert len(shown) <= 100


def test_what_was_asked_is_not_said_again_where_there_is_more_to_say():
    title, why, how = (
        "Vouchers get equal numbers",
        "next_number() read without a lock.",
        "Numbers come from one series.",
    )
    about = {"title": title, "prompts": [], "files": []}

    assert f"{title} · {why} {how}" == line("voucher numbers", closing=f"Fixed {title}. {why} {how}", **about)
    assert f"{title} · Fixed {title}." == line("voucher numbers", closing=f"Fixed {title}.", **about)


def test_decisions_beside_each_other_are_told_apart():
    decided = ["refunds of the ledger follow payments", "the ledger of refunds has no floats, none", "none"]

    assert line("refunds in the ledger", closing="", decisions=decided).endswith(f" · {' · '.join(decided[:2])}")


@pytest.mark.parametrize("noise", ["Perfect", "summary of what", "Let me", "Root Cause", "```", "##", "key ="])
def test_praise_intentions_headings_and_code_are_no_answers(noise):
    assert noise not in line("why is the ledger of refunds wrong, summary of what root cause")


def test_that_it_is_done_is_no_answer_in_chinese_either():
    closing = "完美！问题已经成功修复，补丁也已生成。问题的原因是：网关默认等30秒。"

    assert line(
        "网关为什么等这么久", title="网关", prompts=[], files=[], closing=closing, decisions=["超时由调用方给出"]
    ) == ("网关 · 问题的原因是：网关默认等30秒。超时由调用方给出")


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (["a/old.py", "b/new.py", "tests/test_new.py"], "a/old.py, b/new.py"),
        (["try.py", "src/pay.py", "out.log", "output/all.json"], "src/pay.py"),
        (["pay.py", "cart.py", "mail.py"], "pay.py, cart.py"),
        (["tests/test_pay.py"], "tests/test_pay.py"),
        (["web/cart.spec.ts", "web/cart.ts", "tests/conftest.py"], "web/cart.ts"),
        (["run.log", "tests/test_pay.py"], "run.log"),
        ([], ""),
    ],
)
def test_up_to_two_files_that_are_no_tests_and_no_scratch_beside_others(files, shown):
    found = line("refunds", files=files).split(" · ")

    assert (found[1] if len(found) == 3 else "") == shown


def summary(text, decisions=(), files=()):
    found = Findable(
        {"type": "stage_summary", "id": "1", "topic": "Refunds", "summary": text, "decisions": [*decisions]}
    )
    found.files = [*files]
    return found


def test_a_summary_gives_room_to_its_files_and_is_told_whole_where_both_fit():
    long = "Refunds of split payments are booked once now. " + "The receipts carry the part of a payment now. " * 5
    files = ["pkg/money/ledger.py", "pkg/mail/receipt.py"]
    weights = dict.fromkeys(tokens("refunds split payments"), 4.0)

    assert recalled_line(summary("Booked once now.", files=files), weights) == (
        "Refunds: Booked once now. · pkg/money/ledger.py, pkg/mail/receipt.py"
    )
    assert recalled_line(summary(long, files=files), weights).startswith(
        "Refunds · pkg/money/ledger.py, pkg/mail/receipt.py · Refunds of split payments are booked once now."
    )
    assert recalled_line(summary(long), weights).startswith("Refunds: Refunds of split payments")


def test_what_was_decided_is_told_before_other_sentences_that_bear_as_much():
    said = "The ledger has a new key. " * 2
    closing = f"{said}The ledger is read by month. Ledger keys are never reused."
    told = line("ledger", closing=closing, prompts=["Change the ledger"], decisions=["Ledger keys are never reused"])

    assert told.endswith("Ledger keys are never reused.")


def test_a_reason_is_told_with_what_was_done_about_it_in_whichever_words():
    asked = "Sounds crackle when the horde spawns"
    closing = (
        "Voices were allocated because of stealing on the mixer. A ring of 64 takes their place. It needs no change."
    )

    shown = line("why do sounds crackle on the mixer", prompts=[asked], closing=closing, files=[])
    assert shown == f"{asked} · Voices were allocated because of stealing on the mixer. A ring of 64 takes their place."


def test_how_it_was_tested_is_no_answer_where_there_is_another():
    closing = "Works without a slash: `start app /tmp/shop`. Tested with a slash, too. The slash of an app was dropped."

    shown = line("start an app with a slash", closing=closing)
    assert shown.partition("py · ")[2].rpartition(" ")[2] == "dropped."
    assert "Tested" not in shown


@pytest.mark.parametrize(
    "weaker",
    [
        "This caused refunds in the ledger to be split and booked twice.",
        "It also ensures that refunds in the ledger never appear twice.",
        "这导致 ledger 中的 refunds 出现 twice。",
        "Added comprehensive tests because refunds in the ledger were booked twice.",
    ],
)
def test_a_sentence_that_rests_on_another_or_is_about_tests_is_no_answer_where_one_stands_alone(weaker):
    alone = f"Refunds stood in the ledger twice because the key lacked the part{', and that of receipts' * 8}."
    shown = line("refunds in the ledger twice", closing=f"{weaker} {alone}", files=[])

    assert alone[:40] in shown
    assert weaker[:20] not in shown


def test_files_that_the_answer_names_come_before_others():
    files = ["pkg/a.py", "pkg/b.py", "pkg/c.py"]

    assert " · pkg/c.py · " in line("refunds", files=files, closing="The bug was in c.py: it never closed the file.")


def test_a_file_is_named_once():
    files = ["pkg/a.py", "pkg/c.py"]
    shown = line("refunds", files=files, closing="The bug was in pkg/c.py: refunds never closed the file of pkg/a.py.")

    assert [shown.count(file) for file in files] == [1, 1]


def test_a_statement_is_told_whole_and_of_a_longer_one_the_part_that_was_asked_about():
    content = "Backups go to Lisbon every night. " * 12 + "The staging port is 6543. " + "Restores are rehearsed. " * 12
    short = recalled_line(Findable({"type": "fact", "content": "The port is 6543"}), {"lisbon": 4.0})
    long = recalled_line(Findable({"type": "fact", "content": content}), {"stag": 4.0, "port": 4.0})

    assert short == "The port is 6543"
    assert "The staging port is 6543." in long
    assert len(long) <= LONGEST


@pytest.mark.slow
def test_of_a_text_of_a_megabyte_only_the_beginning_is_looked_through(monkeypatch):
    """One long save of an agent that has the words of many prompts would leave no hook the time to tell anything."""
    taken = []

    def counted(text):
        taken.append(len(text))
        return tokens(text)

    monkeypatch.setattr(told, "tokens", counted)
    for text in ("port " * 200_000, "The port. " * 100_000):
        line_of_fact = recalled_line(Findable({"type": "fact", "content": text}), {"port": 4.0})
        summary = {"type": "stage_summary", "topic": "t", "summary": text, "decisions": [text]}

        assert "port" in line_of_fact
        assert "port" in recalled_line(Findable(summary), {"port": 4.0})
    assert sum(taken) < 200_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "It works, e.g. here. So does v1.2 of J. Doe! Now?",
            ["It works, e.g. here.", "So does v1.2 of J. Doe!", "Now?"],
        ),
        ("## Summary of Changes **Issue:** No key. ### Testing", ["No key."]),
        (
            "The item goes back to level 0. It waits for 5. Nothing else.",
            ["The item goes back to level 0.", "It waits for 5.", "Nothing else."],
        ),
        ("Done: 1. **Read** it 2. wrote it - twice", ["Done:", "Read it", "wrote it", "twice"]),
        ("问题在于时区。已经改为 UTC！", ["问题在于时区。", "已经改为 UTC！"]),
        ("已升级。mybatis 必须同时升级。", ["已升级。", "mybatis 必须同时升级。"]),
        ("Am 29. März fehlt die Stunde 2. Es sind 92.", ["Am 29. März fehlt die Stunde 2.", "Es sind 92."]),
        ("It was off. total() rounds once. so it is", ["It was off.", "total() rounds once. so it is"]),
        ("It returned `f(..)` instead of g.", ["It returned `f(..)` instead of g."]),
    ],
)
def test_sentences_of_markdown_that_has_lost_its_lines(text, found):
    assert [*sentences(text)] == found


words = st.text(st.sampled_from("ab.#-`*:!? 。，问题\n…/_1"), max_size=400)


@given(words, words, st.lists(words, max_size=3), st.lists(words, max_size=3), words)
def test_any_text_makes_one_line_within_bounds(title, closing, prompts, files, question):
    found = line(question, title=title, closing=closing, prompts=prompts, files=files)

    assert len(found) <= LONGEST
    assert "\n" not in found


def test_an_answer_is_told_behind_its_own_question_once_and_behind_no_other():
    asked = ["第 4 章 Boss 的血量是多少？", "首包上限多少 MB？"]
    answered = {"title": asked[0], "prompts": asked, "files": [], "closing": "第 4 章 Boss 的血量是多少：180000。"}

    assert line("Boss 血量", **answered) == "第 4 章 Boss 的血量是多少？ · 180000。"
    assert line("首包上限", **answered) == f"首包上限多少 MB？ · {answered['closing']}"
