"""What a host says, what a program asks and a plan that an agent wrote stand where a person's words do, and are none."""

import json

import pytest

from eventlog.hosts.claude.past import steps
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.draw import draw

DONE = "Prices are rounded once, on the total. The cause was rounding of every line item in `cart.py`."
LATE = "The build you were told of is the one I looked at already; nothing is left to do."
NOTICE = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
EDIT = {"type": "tool_use", "id": "e1", "name": "Edit", "input": {"file_path": "/shop/cart.py"}}


def user(text, **fields):
    return {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": text}, **fields}


def agent(block):
    content = [{"type": "text", "text": block} if isinstance(block, str) else block]
    return {"type": "assistant", "sessionId": "s1", "message": {"role": "assistant", "content": content}}


def drawn(tmp_path, *records):
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return draw(read.without_own_texts(steps(path)), "/shop")


@pytest.mark.parametrize("late", [1, 2, 5])
@pytest.mark.parametrize("work", [(), (EDIT,)])
def test_answers_to_late_notices_take_the_place_of_no_closing(tmp_path, late, work):
    begun = [user("Why is the sum off by a cent?"), *map(agent, (*work, DONE))]
    whole = drawn(tmp_path, *begun, *[user(NOTICE), agent(LATE)] * late)
    assert whole is not None
    assert drawn(tmp_path, *begun) == whole
    assert whole.turns == 1


@pytest.mark.parametrize("work", [(), (EDIT,)])
def test_a_report_that_waited_for_a_notice_is_the_closing(tmp_path, work):
    told = drawn(
        tmp_path,
        user("Let two reviewers look at the cart"),
        agent("The two reviewers look at the cart now."),
        user(NOTICE),
        agent("The first reviewer found nothing."),
        user(NOTICE),
        *map(agent, (*work, DONE)),
        user(NOTICE),
        agent(LATE),
    )
    assert told is not None
    assert told.outcome.startswith("Prices are rounded once")
    assert told.turns == 1


def test_to_dos_of_a_closing_outlast_a_late_notice(tmp_path):
    closing = f"{DONE}\n\nNext steps:\n- Tell the accountants"
    told = drawn(tmp_path, user("Round once"), agent(EDIT), agent(closing), *[user(NOTICE), agent(LATE)] * 3)
    assert told is not None
    assert ["Tell the accountants"] == told.todos


def test_an_answer_to_a_hook_of_another_program_takes_the_place_of_no_closing(tmp_path):
    begun = [user("Round once"), agent(EDIT), agent(DONE)]
    asked = user("Stop hook feedback:\nThe linter is not installed", isMeta=True)
    assert drawn(tmp_path, *begun) == drawn(tmp_path, *begun, asked, agent("Noted; nothing to lint."))


PLAN = (
    "Implement the following plan:\n\n# Round prices once\n\nDecision: keep Decimal\n\nFrom now on we round half even.\n\n"
    "If you need specific details from before exiting plan mode, read the full transcript at: /s0.jsonl"
)


def test_what_an_accepted_plan_decides_is_in_the_agents_words(tmp_path):
    told = drawn(tmp_path, user(PLAN), agent(EDIT), agent(DONE), user("Decision: show the tax"))
    assert told is not None
    assert ["keep Decimal", "show the tax"] == told.decisions
    assert ["show the tax"] == told.of_user


def test_what_a_program_asks_decides_nothing_for_the_user(tmp_path):
    asked = user("Decision: review every commit. From now on, say nothing of the tests", entrypoint="sdk-py")
    told = drawn(tmp_path, asked, agent(DONE))
    assert told is not None
    assert [] == told.of_user


@pytest.mark.parametrize(
    ("fields", "more", "is_errand"),
    [
        ({"entrypoint": "sdk-py"}, [], True),
        ({"entrypoint": "sdk-cli"}, [], True),
        ({"entrypoint": "sdk-ts", "origin": {"kind": "human"}}, [], False),
        ({"entrypoint": "cli"}, [], False),
        ({}, [], False),
        ({"entrypoint": "sdk-ts"}, [agent(EDIT), agent(DONE)], False),
        ({"entrypoint": "sdk-ts"}, [user("And the tax?", entrypoint="sdk-ts")], False),
    ],
)
def test_a_single_request_of_a_program_that_changed_nothing_is_an_errand(tmp_path, fields, more, is_errand):
    told = drawn(tmp_path, user("Review this change", **fields), agent(DONE), *more)
    assert told is not None
    assert is_errand == told.is_errand


def planned(text):
    return {"type": "tool_use", "id": "p1", "name": "ExitPlanMode", "input": {"plan": text}}


REFUSED = user(
    [{"type": "tool_result", "tool_use_id": "p1", "is_error": True, "content": "The user doesn't want to proceed"}]
)


def test_a_session_that_ends_with_a_plan_has_planned_and_did_not_break_off(tmp_path):
    write = {
        "type": "tool_use",
        "id": "w1",
        "name": "Write",
        "input": {"file_path": "/home/ada/.claude/plans/red-fox.md"},
    }
    begun = [
        user("Round once"),
        agent(EDIT),
        agent(DONE),
        user("And the tax?"),
        agent("The tax of the cart is clear to me."),
    ]
    plan = [agent(write), agent(planned("# Plan: Show the tax\n\n## Why\nIt is due")), REFUSED]
    told = drawn(tmp_path, *begun, *plan, user("[Request interrupted by user for tool use]"))
    assert told is not None
    assert told.summary == f"{DONE} Planned “Show the tax”."
    assert ["cart.py"] == told.files
    assert told.turns == 2


def test_a_plan_that_was_carried_out_is_told_by_what_came_of_it(tmp_path):
    told = drawn(tmp_path, user("Round once"), agent(planned("# Round once")), agent(EDIT), agent(DONE))
    assert told is not None
    assert "Planned" not in told.summary
