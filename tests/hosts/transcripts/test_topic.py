"""A topic is what tells a session apart from the others of its project: no greeting, no form, no shared opening."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.hosts.transcripts.prose import Openings, request

FORM = """Solve this ticket as ticket.yaml says:
  ticket_id: SHOP-{number}
  repo: ada/shop
  base_commit: {number}6af9ed6bb89bfba4
  problem_statement: {problem}
Steps to reproduce are below.
"""
OPENING = "You work on the shop. Follow the rules of AGENTS.md.\n\nThe task of today: "


def openings(*prompts, project="/src/shop"):
    found = Openings()
    for number, prompt in enumerate(prompts):
        found.add(project, f"c{number}", prompt)
    return found


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("Hello, fix the rounding of carts. It is off.", "fix the rounding of carts"),
        ("你好，修复购物车的取整。谢谢", "修复购物车的取整"),
        ("Hi there!", ""),
        ('Write "hello, shop" to a.txt', 'Write "hello, shop" to a.txt'),
        ("Delphi, not Pascal, is what the shop runs", "Delphi, not Pascal, is what the shop runs"),
        ("ok", ""),
        ("Ja, bitte weiter", ""),
        ("Guten Morgen! Bitte, mach weiter. Baue den Login um", "Baue den Login um"),
        ('{"error": 7,\n "at": "x"}', ""),
        ("Fix the totals\nThey are a cent off, since a week", "Fix the totals"),
        (f"Fix {'the totals ' * 7}\nand rules", f"Fix {'the totals ' * 7}and rules"),
        ("Fix this:\n```\nTraceback\n```\nin the cart", "Fix this: in the cart"),
        (FORM.format(number=7, problem="Totals are a cent off"), "Totals are a cent off"),
        ("Fix the totals.\nrepo: ada/shop\nbase: 123", "Fix the totals"),
        ("Task: fix the totals", "fix the totals"),
        ("Carry out this plan:\n\n# Plan: Round once\n\n## Why\nA cent is off", "Carry out this plan: Round once"),
        ("Review this:\n\n## Summary\nRounds totals once", "Review this: Rounds totals once"),
        ("When running:\n❯ shop totals\nthe sum is off", "When running: ❯ shop totals the sum is off"),
        ("Wow! This is really helpful!", ""),
        ("why is [shop#7](https://example.org/pull/7?a=b) red", "why is shop#7 red"),
        ("look at [https://a.b/c](https://a.b/c) please", "look at https://a.b/c please"),
        ("# Heading\n\n- round totals once\n- half even", "round totals once"),
    ],
)  # fmt: skip
def test_a_request_is_the_first_sentence_that_asks_for_something(prompt, asked):
    assert asked == request(prompt)


def test_an_opening_that_three_sessions_share_is_no_topic():
    texts = ("totals are off", "the badge is missing", "round half even", "no tax is shown")
    told = [OPENING + text for text in texts]

    assert [openings(*told).topic("/src/shop", one) for one in told] == list(texts)


def test_plans_handed_over_in_the_same_words_are_told_by_their_titles():
    titles = ("Round totals once", "Show the tax of a cart", "Badges of members")
    told = [f"Carry out this plan:\n\n# {title}\n\n## Why\nIt is due" for title in titles]

    assert [openings(*told).topic("/src/shop", one) for one in told] == list(titles)


def test_a_long_opening_is_an_opening():
    told = [
        f"{'Follow all of these rules. ' * 100}{text}"
        for text in ("totals are off", "no badge is shown", "no tax is shown")
    ]

    assert openings(*told, "Aaa", "Zzz").topic("/src/shop", told[1]) == "no badge is shown"


def test_requests_that_differ_in_a_number_only_are_told_by_the_sentence_with_it():
    told = [f"run the setup\nRead docs/plan.md. Then plan the release for phase {number}." for number in range(2, 6)]

    assert "Then plan the release for phase 4" == openings(*told).topic("/src/shop", told[2])


def test_numbers_do_not_tell_openings_apart():
    told = [
        f"Ticket {number} of shop: {text}"
        for number, text in enumerate(("totals are off", "no badge", "no tax at all"))
    ]

    assert [openings(*told).topic("/src/shop", one) for one in told] == [
        "totals are off",
        "no badge",
        "no tax at all",
    ]


@pytest.mark.parametrize("many", [1, 2])
def test_what_two_sessions_begin_with_may_be_the_topic(many):
    told = [OPENING + text for text in ("totals are off", "the badge is missing")][:many]

    assert {openings(*told).topic("/src/shop", one) for one in told} == {"You work on the shop"}


def test_words_that_many_begin_with_are_no_opening():
    told = [f"Fix the {what} of the shop" for what in ("totals", "badge", "receipt", "cart")]

    assert [openings(*told).topic("/src/shop", one) for one in told] == told


def test_what_sessions_of_another_project_begin_with_is_nothing_to_this_one():
    told = [OPENING + text for text in ("totals are off", "the badge is missing", "round half even")]

    assert openings(*told).topic("/src/bank", told[0]) == "You work on the shop"


def test_the_same_request_again_and_again_tells_nothing_apart():
    told = openings(*["Review the open changes."] * 3, "Review the open changes. Begin with the cart.")

    assert told.topic("/src/shop", "Review the open changes.") == ""
    assert told.topic("/src/shop", "Review the open changes. Begin with the cart.") == "Begin with the cart"


def test_a_session_counts_once():
    found = openings()
    for _ in range(5):
        found.add("/src/shop", "c1", OPENING + "totals are off")

    assert found.topic("/src/shop", OPENING + "totals are off") == "You work on the shop"


@given(st.lists(st.text(alphabet="ab .:\n`-", max_size=40), max_size=6), st.text(alphabet="ab .:\n`-", max_size=40))
def test_whatever_sessions_began_with_the_rest_is_an_end_of_the_prompt(others, prompt):
    rest = openings(*others).telling_part("/src/shop", prompt)

    assert prompt.endswith("".join(rest.split("\n\n", 1)[-1:]) if "\n\n" in rest else rest)
    assert set(request(prompt).split()) <= set(prompt.replace("`", "` ").split()) | set(prompt.split()) or request(
        prompt
    )
