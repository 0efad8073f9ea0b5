"""What a user chose among the answers that an agent offered, as each host writes it."""

import json

import pytest

from eventlog.hosts.transcripts.steps import SessionCalls, Step

WHERE, WHICH = 'Where does the "warning" appear?', "Which checks?"
QUESTIONS = [
    {"id": "where", "question": WHERE, "options": [{"label": "Prompt (Recommended)"}, {"label": "Prompt and log"}]},
    {"id": "which", "question": WHICH, "options": [{"label": "Lint"}, {"label": "Types"}]},
]
BOTH = [Step("chosen", f"{WHERE}\nPrompt"), Step("chosen", f"{WHICH}\nLint, Types")]


def claude(answer, **fields):
    call = {"type": "tool_use", "id": "1", "name": "AskUserQuestion", "input": {"questions": QUESTIONS}}
    return [call, {"type": "tool_result", "tool_use_id": "1", "content": answer, **fields}]


def codex(answers):
    arguments = json.dumps({"questions": QUESTIONS})
    call = {"type": "function_call", "call_id": "1", "name": "request_user_input", "arguments": arguments}
    return [call, {"type": "function_call_output", "call_id": "1", "output": json.dumps({"answers": answers})}]


def gemini(answers):
    output = [{"functionResponse": {"id": "1", "response": {"output": json.dumps({"answers": answers})}}}]
    return [{"id": "1", "name": "ask_user", "args": {"questions": QUESTIONS}, "status": "success", "result": output}]


def steps_of(blocks):
    return list(SessionCalls().of_blocks(blocks))


@pytest.mark.parametrize(
    "blocks",
    [
        claude(f'User has answered your questions: "{WHERE}"="Prompt (Recommended)", "{WHICH}"="Lint, Types". Go on.'),
        codex({"where": {"answers": ["Prompt (Recommended)"]}, "which": {"answers": ["Lint", "Types"]}}),
        gemini({"0": "Prompt (Recommended)", "1": "Lint, Types"}),
    ],
)
def test_what_was_chosen_is_known_of_each_host(blocks):
    assert BOTH == steps_of(blocks)


@pytest.mark.parametrize("own", ["Prompt, but in red", "neither", ""])
def test_what_a_user_wrote_instead_is_no_choice(own):
    for blocks in (
        claude(f'User has answered your questions: "{WHERE}"="{own}", "{WHICH}"="Lint". Go on.'),
        codex({"where": {"answers": [own]}, "which": {"answers": ["Lint"]}}),
        gemini({"0": own, "1": "Lint"}),
    ):
        assert [Step("chosen", f"{WHICH}\nLint")] == steps_of(blocks)


@pytest.mark.parametrize(
    "answer",
    ["The user doesn't want to proceed with this tool use.", "", "{", '{"answers": []}', '{"answers": {"x": "Lint"}}'],
)
def test_without_an_answer_nothing_was_chosen(answer):
    assert [] == steps_of(claude(answer, is_error=True))


@pytest.mark.parametrize(
    "questions", [None, "Which?", [7], [{"question": WHICH}], [{"question": WHICH, "options": ["Lint", 7]}]]
)
def test_a_question_of_another_shape_is_passed_over(questions):
    call = {"type": "tool_use", "id": "1", "name": "AskUserQuestion", "input": {"questions": questions}}

    assert [] == steps_of([call, {"type": "tool_result", "tool_use_id": "1", "content": f'"{WHICH}"="Lint".'}])
