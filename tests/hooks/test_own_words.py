"""Neither our own text nor the content of a file is recorded as the user's words."""

import pytest

from tests.support.hook_calls import events_of, tell

GEMINI = {"session_id": "s", "cwd": "/", "timestamp": "2026-02-21T08:00:00.000Z"}


@pytest.mark.parametrize(
    "prompt",
    [
        "<hook_context># Memory (eventlog)</hook_context>\n\nFix the cart",
        "Fix <hook_context># Memory</hook_context>the cart<hook_context>cut by the ho",
    ],
)
@pytest.mark.parametrize("name", ["BeforeAgent", "AfterAgent", "BeforeModel"])
def test_what_a_host_puts_around_the_users_words_for_us_never_reaches_the_log(tmp_path, name, prompt):
    tell(tmp_path, {**GEMINI, "hook_event_name": name, "prompt": prompt}, "--agent", "gemini")
    (event,) = events_of(tmp_path)

    assert "Memory" not in str(event)
    assert name == "AfterAgent" or "Fix the cart" == event.payload["prompt"]


@pytest.mark.parametrize(("agent", "name"), [("gemini", "BeforeAgent"), ("qwen", "UserPromptSubmit")])
def test_a_file_that_a_prompt_names_is_not_recorded_as_the_users_words(tmp_path, agent, name):
    added = "\n--- Content from referenced files ---\nContent from @notes.md:\nNever round.\n--- End of content ---"
    tell(tmp_path, {**GEMINI, "hook_event_name": name, "prompt": f"Improve @notes.md{added}"}, "--agent", agent)
    (event,) = events_of(tmp_path)

    assert "Improve @notes.md" == event.payload["prompt"]
