"""Recall is counted by the receipts in the log: lines with prompts and before files, silence, and what was later used."""

import itertools

import pytest

from eventlog.projections.search.findable import things_named
from eventlog.projections.views.stats import RecallCount, weeks
from tests.support.typed_events import event, fact, folded, quarantine, retract, session_counts, summary


def prompt(number=0, agent="claude-code", name="UserPromptSubmit", **fields):
    return event("host_event", number, agent=agent, name=name, **fields)


def receipt(number=0, *lines, trigger="prompt", **fields):
    """What was told: lines that name these things."""
    sources, about = [f"e{line}" for line in range(len(lines))], [things_named([line], None, line) for line in lines]
    return event(
        "context_injected", number, digest="d", chars=9, trigger=trigger, sources=sources, about=about, **fields
    )


def counted(*events):
    return weeks(session_counts(folded(*events)))[-1].recall


TOLD = receipt(1, "Stripe", "退款", "see cart/forms.py")


def used(*events):
    """How many of three lines are later used."""
    return counted(prompt(0), TOLD, *events).used


def test_prompts_told_something_are_told_apart_from_those_told_nothing_and_from_files():
    found = counted(prompt(0), receipt(1, "a", "b"), prompt(2), prompt(3), receipt(4, "c", trigger="file"))

    assert RecallCount(fired=1, silent=2, files=1, lines=3, used=0) == found


def test_what_a_session_starts_with_is_no_recall_and_without_a_prompt_there_is_none():
    assert RecallCount() == counted(receipt(1, "a", trigger="start"), fact(2, entities=["a"]), event("turn_end", 3))


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("cursor", "beforeSubmitPrompt"),
        ("vscode", "userPromptSubmitted"),
        ("claude-code", "PostToolUse"),
        ("windsurf", "UserPromptSubmit"),
        (None, "UserPromptSubmit"),
        ("cursor", ""),
    ],
)
def test_what_no_hook_may_answer_with_a_line_is_no_silence(agent, name):
    assert 0 == counted(fact(1), prompt(2, agent, name)).silent


def test_a_helpers_prompts_and_receipts_are_not_counted():
    assert RecallCount() == counted(fact(1), prompt(2, subagent="a"), receipt(3, "a", subagent="a"))


def test_a_withdrawn_receipt_neither_fired_nor_was_its_prompt_told_nothing():
    told = prompt(0), prompt(1), receipt(2, "a"), receipt(3, "b")
    later = fact(5, entities=["a", "b"])

    assert RecallCount(fired=1, silent=0, files=0, lines=1, used=1) == counted(*told, later, retract(9, told[2]))
    assert RecallCount() == counted(*told, later, quarantine(9))


@pytest.mark.parametrize(
    ("saved", "lines"),
    [
        (fact(5, "Refunds go first", entities=["stripe"]), 1),
        (fact(5, "Refunds go first", key="Stripe"), 1),
        (fact(5, "先退款", entities=["退款", "Stripe"]), 2),
        (fact(5, "Blanks are refused in forms.py."), 1),
        (summary(5, "改了 cart/forms.py 和别的"), 1),
        (summary(5, "x", decisions=["orders/forms.py is split"], topic="y"), 1),
        (fact(5, "Stripe is slow"), 0),  # a word of a text is no name
        (fact(5, "x", entities=["Paypal"]), 0),
        (fact(5, "forms.pyi, v1.2, e.g. README.md"), 0),
        (fact(5, "x"), 0),
    ],
)
def test_a_line_is_used_where_what_is_saved_afterwards_names_one_of_its_things(saved, lines):
    assert lines == used(saved)


def test_what_was_said_before_or_by_another_session_or_withdrawn_uses_nothing():
    again = fact(5, entities=["Stripe"])
    other = fact(6, entities=["Stripe"], conversation_id="other")

    assert 0 == used(fact(0, entities=["Stripe"]))
    assert 1 == used(again)
    assert 0 == used(again, retract(9, again))
    assert 0 == used(fact(5, "forms.py"), event("rejected", 9, statement="forms.py", conversation_id="by-hand"))
    assert 0 == used(other)


def test_a_line_is_used_once_however_often_it_is_spoken_of():
    assert 1 == used(fact(5, entities=["Stripe"]), fact(6, entities=["Stripe"]), fact(7, key="stripe"))


def test_a_receipt_that_does_not_say_what_its_lines_name_has_lines_of_which_none_is_used():
    bare = event("context_injected", 1, digest="d", chars=9, trigger="prompt", sources=["e1", "e2"])

    assert RecallCount(fired=1, lines=2) == counted(prompt(0), bare, fact(5, entities=["Stripe"]))


def test_the_order_of_events_does_not_matter():
    told = [prompt(0), TOLD, fact(5, entities=["退款"]), retract(6, TOLD), receipt(3, "退款")]

    found = [counted(*some) for some in itertools.permutations(told)]

    assert all(RecallCount(fired=1, lines=1, used=1) == one for one in found)
