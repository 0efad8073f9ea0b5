"""Our own text is not recorded as the user's."""

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
