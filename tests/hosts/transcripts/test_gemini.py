"""Of a session of Gemini CLI, what was cancelled was not done, and what a subagent is told is a program's."""

import json

import pytest

from eventlog.hosts.transcripts.draw import draw
from eventlog.hosts.transcripts.read import read_transcript
from eventlog.hosts.transcripts.steps import Step

TASK = (
    "Your task is to do a deep investigation of the codebase to find all relevant files, to solve the following "
    "user objective:\n<objective>\nFind out why the cart rounds twice\n</objective>"
)
LATE = "You have exceeded the maximum number of turns. You have one final chance to complete the task. Call `complete_task`"


def steps(path, *messages):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"sessionId": "s", "messages": messages}))
    return list(read_transcript("gemini", str(path)))


@pytest.mark.parametrize(("status", "files"), [("success", ["cart.py"]), ("cancelled", []), ("error", [])])
def test_a_change_that_the_user_cancelled_is_not_told(status, files, tmp_path):
    answer = {} if status == "success" else {"error": "[Operation Cancelled] Reason: User cancelled the operation."}
    calls = [
        {"id": name, "name": name, "args": arguments, "status": status}
        | {"result": [{"functionResponse": {"id": name, "name": name, "response": answer}}]}
        for name, arguments in (
            ("write_file", {"file_path": "/src/shop/cart.py"}),
            ("run_shell_command", {"command": 'git commit -m "Round once"'}),
        )
    ]
    asked = {"type": "user", "content": "Round once"}
    drawing = draw(
        steps(tmp_path / "s.json", asked, {"type": "gemini", "content": "Ok", "toolCalls": calls}), "/src/shop"
    )

    assert drawing
    assert files == drawing.files
    assert bool(files) == ("Round once" in drawing.summary.partition("Committed")[2])


def test_a_subagent_is_told_by_its_objective_and_not_by_words_of_the_host(tmp_path):
    said = [{"type": "user", "content": words} for words in (TASK, LATE)]

    assert [Step("task", "Find out why the cart rounds twice")] == steps(tmp_path / "s.json", *said)
    own = tmp_path / "chats" / "s" / "a.json"
    assert [Step("task", "Look at the cart")] == steps(own, {"type": "user", "content": "Look at the cart"})
