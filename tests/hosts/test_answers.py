"""A hook answers whoever runs it, in the words it understands, and records under the agent that really called."""

import json

import pytest

from eventlog import hosts
from eventlog.hosts import agent_of, event_name, protocol
from tests.support.host_calls import events, tell
from tests.support.payloads import claude, codex, cursor

CLAUDE_START = claude("SessionStart", source="startup")
GEMINI = {"session_id": "g-1", "cwd": "/home/ada/shop", "timestamp": "2026-02-20T12:00:00Z", "transcript_path": ""}
COPILOT = {"sessionId": "c-1", "timestamp": 1771588800250, "cwd": "/home/ada/shop"}
PASCAL = {"session_id": "c-1", "timestamp": "2026-02-20T12:00:00.25Z", "cwd": "/home/ada/shop"}
QWEN = {
    "session_id": "q-1",
    "timestamp": "2026-02-20T12:00:00.000Z",
    "cwd": "/home/ada/shop",
    "transcript_path": "/q.jsonl",
}
OPENCODE = {"session_id": "ses_1", "cwd": "/home/ada/shop"}
AUGGIE = {"conversation_id": "a-1", "workspace_roots": ["/home/ada/shop"]}
CN = {"session_id": "n-1", "cwd": "/home/ada/shop", "transcript_path": ""}
DROID = {"session_id": "d-1", "cwd": "/home/ada/shop", "transcript_path": "/home/ada/.factory/projects/d-1.jsonl"}
VSCODE = {"sessionId": "v-1", "timestamp": "2026-02-20T12:00:00Z", "cwd": "/home/ada/shop", "transcript_path": "/t"}


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


# ------------------------------------------------------------------------------------------------ who calls

CALLERS = {
    "cursor by its version": ({"cursor_version": "3", "session_id": "s"}, "claude-code", "cursor"),
    "cursor by its conversation": ({"conversation_id": "c", "hook_event_name": "Stop"}, "claude-code", "cursor"),
    "windsurf by its action": ({"agent_action_name": "post_cascade_response"}, "", "windsurf"),
    "vscode by its mixed case": ({"hookEventName": "Stop", "sessionId": "s"}, "claude-code", "vscode"),
    "grok by its lower case": ({"hookEventName": "session_start", "sessionId": "s"}, "claude-code", "grok"),
    "grok by its root": ({"hookEventName": "SessionStart", "workspaceRoot": "/w"}, "", "grok"),
    "copilot in camel case": (COPILOT, "", "copilot"),
    "copilot in the hooks of Claude Code": ({**PASCAL, "hook_event_name": "SessionStart"}, "claude-code", "copilot"),
    "copilot at a stop nobody else has": ({**PASCAL, "hook_event_name": "Stop"}, "", "copilot"),
    "gemini by its own events": ({**GEMINI, "hook_event_name": "AfterAgent"}, "claude-code", "gemini"),
    "gemini by its timestamp": ({**GEMINI, "hook_event_name": "SessionStart"}, "gemini", "gemini"),
    "qwen by its turns": ({**PASCAL, "hook_event_name": "Stop", "prompt_id": "s########0"}, "", "qwen-code"),
    "qwen by the command": ({**PASCAL, "hook_event_name": "SessionStart"}, "qwen-code", "qwen-code"),
    "gemini in the hooks of qwen": ({**GEMINI, "hook_event_name": "AfterAgent"}, "qwen-code", "gemini"),
    "codex by its turns": ({"session_id": "s", "turn_id": "t", "hook_event_name": "Stop"}, "claude-code", "codex"),
    "codex by its rollout": ({"transcript_path": "/x/rollout-2026.jsonl", "hook_event_name": "Stop"}, "", "codex"),
    "claude by nothing": ({"session_id": "s", "hook_event_name": "Stop"}, "", "claude-code"),
    "auggie by the command": ({**AUGGIE, "hook_event_name": "Stop"}, "auggie", "auggie"),
    "cursor in the hooks of auggie": ({**AUGGIE, "cursor_version": "3"}, "auggie", "cursor"),
    "continue in the hooks of Claude Code": ({**CN, "hook_event_name": "PostToolUse"}, "claude-code", "continue"),
    "anyone by the command": ({"session_id": "s"}, "droid", "droid"),
}


@pytest.mark.parametrize(("payload", "hint", "agent"), CALLERS.values(), ids=CALLERS)
def test_the_caller_is_told_by_its_payload(payload, hint, agent):
    assert agent == agent_of(payload, hint)


@pytest.mark.parametrize(
    ("payload", "hint", "name"),
    [
        ({"hook_event_name": "Stop"}, "SessionEnd", "Stop"),
        ({"hookEventName": "Stop"}, "", "Stop"),
        (COPILOT, "sessionEnd", "sessionEnd"),
        ({**COPILOT, "stopReason": "end_turn"}, "", "agentStop"),
        ({**COPILOT, "source": "new"}, "", "sessionStart"),
        (COPILOT, "", "unknown"),
    ],
)
def test_the_event_is_told_by_the_payload_and_only_else_by_the_command(payload, hint, name):
    assert name == event_name(payload, hint)


# ------------------------------------------------------------------------------------------------ the start of a session

NESTED = ("hookSpecificOutput", "additionalContext")
STARTS = {
    "claude": ("claude", CLAUDE_START, NESTED),
    "codex": ("codex", codex("SessionStart", source="startup"), NESTED),
    "gemini": ("gemini", {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "cursor": ("cursor", cursor("sessionStart"), ("additional_context",)),
    "copilot": ("copilot", {**COPILOT, "source": "new"}, ("additionalContext",)),
    "vscode": ("vscode", {**VSCODE, "hookEventName": "SessionStart", "source": "new"}, NESTED),
    "opencode": ("opencode", {**OPENCODE, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "qwen": ("qwen", {**QWEN, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "droid": ("droid", {**DROID, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "auggie": ("auggie", {**AUGGIE, "hook_event_name": "SessionStart"}, NESTED),
    "continue": ("cn", {**CN, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "kilo": ("kilo", {**OPENCODE, "hook_event_name": "SessionStart", "source": "startup"}, NESTED),
    "cursor in the hooks of Claude Code": ("claude", cursor("SessionStart"), NESTED),
    "copilot in them": ("claude", {**PASCAL, "hook_event_name": "SessionStart"}, ("additionalContext",)),
    "vscode in them": ("claude", {**VSCODE, "hookEventName": "SessionStart"}, NESTED),
}


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "payload", "place"), STARTS.values(), ids=STARTS)
def test_a_session_is_given_its_context_where_the_caller_looks_for_it(store, agent, payload, place):
    answer = tell(store, payload, "--agent", agent, "--event", "sessionStart")
    for name in place:
        answer = answer[name]
    (event,) = events(store)

    assert f"--session {event.conversation_id} " in answer
    assert "session_start" == event.type


def test_a_start_told_twice_is_given_its_context_once(store):
    first, second = (tell(store, CLAUDE_START, "--agent", "claude") for _ in range(2))

    assert first
    assert not second


def test_the_context_names_its_event_as_claude_code_asks_for(store):
    answer = tell(store, CLAUDE_START, "--agent", "claude")

    assert "SessionStart" == answer["hookSpecificOutput"]["hookEventName"]


# ------------------------------------------------------------------------------------------------ the end of a turn


def _stops(make):
    return [make(turn) for turn in range(3)]


STOPS = {
    "claude": ("claude", lambda turn: claude("Stop", prompt_id=f"p{turn}"), None, "additionalContext"),
    "cursor": (
        "cursor",
        lambda turn: cursor("stop", generation_id=f"g{turn}", status="completed", loop_count=0),
        None,
        "followup_message",
    ),
    "droid": (
        "droid",
        lambda turn: {**DROID, "hook_event_name": "Stop", "prompt_id": f"p{turn}"},
        ("decision", "block"),
        "reason",
    ),
    "cursor in the hooks of Claude Code": (
        "claude",
        lambda turn: cursor("stop", generation_id=f"g{turn}", status="completed", loop_count=0),
        ("decision", "block"),
        "reason",
    ),
}


@pytest.mark.parametrize(("agent", "stop", "decision", "field"), STOPS.values(), ids=STOPS)
def test_an_agent_is_asked_to_go_on_in_the_callers_words(store, agent, stop, decision, field):
    *quiet, asked = [tell(store, payload, "--agent", agent) for payload in _stops(stop)]

    asked = asked.get("hookSpecificOutput", asked)

    assert [{}, {}] == quiet
    assert asked[field].startswith("[eventlog] ")
    assert decision is None or decision[1] == asked[decision[0]]


ASKED_WITH_A_PROMPT = {
    "codex": (
        lambda turn: codex("UserPromptSubmit", turn_id=f"t{turn}", prompt="Go on."),
        lambda turn: codex("Stop", turn_id=f"t{turn}"),
    ),
    "opencode": (
        lambda turn: {**OPENCODE, "hook_event_name": "UserPromptSubmit", "prompt_id": f"m{turn}", "prompt": '"Go on."'},
        lambda turn: {**OPENCODE, "hook_event_name": "Stop", "prompt_id": f"m{turn}"},
    ),
    "qwen": (
        lambda turn: {
            **QWEN,
            "hook_event_name": "UserPromptSubmit",
            "prompt_id": f"s########{turn}",
            "prompt": "Go on.",
        },
        lambda turn: {**QWEN, "hook_event_name": "Stop", "prompt_id": f"s########{turn}"},
    ),
    "gemini": (
        lambda turn: {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": f"Go on with {turn}."},
        lambda turn: {**GEMINI, "hook_event_name": "AfterAgent", "timestamp": f"2026-02-20T12:00:0{turn}.000Z"},
    ),
}


@pytest.mark.parametrize(
    ("prompt", "said"),
    [('"Fix the cart."', "Fix the cart."), ('"A" is not "B"', '"A" is not "B"'), ("Why?", "Why?"), ('"', '"')],
)
def test_a_prompt_of_opencode_is_taken_out_of_the_quotes_it_is_handed_on_in(store, prompt, said):
    told = {**OPENCODE, "hook_event_name": "UserPromptSubmit", "prompt_id": "m1", "prompt": prompt}
    tell(store, told, "--agent", "opencode")
    (event,) = events(store)

    assert ("opencode", said) == (event.agent, event.payload["prompt"])


def test_auggie_is_asked_where_it_looks_for_it_and_its_prompt_is_what_the_user_said():
    stop = hosts.read({**AUGGIE, "hook_event_name": "Stop", "agent_stop_cause": "end_turn"}, "auggie")
    left = hosts.read({**AUGGIE, "hook_event_name": "Stop", "agent_stop_cause": "interrupted"}, "auggie")
    prompt = hosts.read({**AUGGIE, "hook_event_name": "PromptSubmit", "user_prompt": "Why?"}, "auggie")
    asked = json.loads(hosts.dialect("auggie", "auggie").ask("Save."))

    assert ("a-1", "/home/ada/shop", True) == (stop.session, stop.cwd, stop.may_ask)
    assert not left.may_ask
    assert ("Why?", "") == (prompt.payload["prompt"], prompt.asked)
    assert {"hookEventName": "Stop", "decision": "block", "reason": "Save."} == asked["hookSpecificOutput"]


def test_every_stop_of_continue_is_the_end_of_a_turn():
    call = hosts.read({**CN, "hook_event_name": "Stop", "stop_hook_active": True}, "continue")

    assert ("turn_end", False) == (call.type, call.may_ask)


def test_a_turn_of_qwen_is_one_prompt_however_often_it_is_submitted(store):
    turn = {**QWEN, "hook_event_name": "UserPromptSubmit", "prompt_id": "s########0"}
    for prompt in ("Fix the cart.", "", "[eventlog] Nothing of this conversation has been saved yet."):
        tell(store, {**turn, "prompt": prompt}, "--agent", "qwen")
    (event,) = events(store)

    assert "Fix the cart." == event.payload["prompt"]


@pytest.mark.parametrize("agent", [*hosts.ROOMS, "an unknown one"])
def test_the_log_has_as_prompts_just_those_that_may_be_told_something(agent):
    profile = hosts.part(agent if agent in hosts.ROOMS else "claude-code", "profile").PROFILE
    calls = [hosts.read({"session_id": "s", "prompt": "Why?"}, agent, name) for name in profile.hooks.events]
    asked = {call.name for call in calls if call.asked}

    assert asked == {
        call.name for call in calls if call.type == "host_event" and call.name == protocol(call.agent).prompt
    }
    assert bool(asked) == (agent not in ("cursor", "vscode", "auggie", "an unknown one"))


@pytest.mark.parametrize(("agent", "prompt", "stop"), [(name, *both) for name, both in ASKED_WITH_A_PROMPT.items()])
def test_where_the_end_of_a_turn_can_only_be_blocked_the_next_prompt_is_given_the_request(store, agent, prompt, stop):
    answers = [tell(store, make(turn), "--agent", agent) for turn in range(5) for make in (prompt, stop)]
    asked = answers[6].pop("hookSpecificOutput")

    assert [{}] * 10 == answers
    assert prompt(0)["hook_event_name"] == asked["hookEventName"]
    assert asked["additionalContext"].startswith("[eventlog] ")
    assert "in the same turn" in asked["additionalContext"]
    assert 1 == len(events(store, "save_requested"))


def test_vs_code_looks_for_the_decision_in_a_place_of_its_own():
    answer = hosts.dialect("claude-code", "vscode").ask("save")

    assert b'{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"save"}}' == answer


# ------------------------------------------------------------------------------------------------ before a compaction


def test_cursor_is_asked_before_a_compaction(store):
    answer = tell(store, cursor("preCompact", trigger="auto", message_count=7), "--agent", "cursor")

    assert "summary --session c0de --layer 2" in answer["user_message"]
    assert ["pre_compact"] == [event.trigger for event in events(store, "save_requested")]


@pytest.mark.parametrize("make", [claude, codex])
def test_where_no_hook_can_speak_before_a_compaction_the_request_follows_it(store, make):
    before = tell(store, make("PreCompact", trigger="auto"))
    after = tell(store, make("SessionStart", source="compact"))["hookSpecificOutput"]["additionalContext"]

    assert {} == before
    assert "[eventlog]" in after
    assert "--layer 2" in after


# ------------------------------------------------------------------------------------------------ cross-loading


@pytest.mark.parametrize(
    ("native", "foreign"),
    [
        (cursor("stop", status="completed"), cursor("Stop", status="completed")),
        (cursor("beforeSubmitPrompt", prompt="x"), cursor("UserPromptSubmit", prompt="x")),
        (cursor("sessionEnd", reason="user_close"), cursor("SessionEnd", reason="user_close")),
        (cursor("sessionStart"), cursor("SessionStart")),
        (cursor("preCompact", message_count=3), cursor("PreCompact", message_count=3)),
        (cursor("postToolUse", tool_use_id="t"), cursor("PostToolUse", tool_use_id="t")),
        ({**COPILOT, "stopReason": "end_turn"}, {**PASCAL, "hook_event_name": "Stop", "stop_reason": "end_turn"}),
        ({**COPILOT, "source": "new"}, {**PASCAL, "hook_event_name": "SessionStart", "source": "new"}),
        ({**COPILOT, "prompt": "x"}, {**PASCAL, "hook_event_name": "UserPromptSubmit", "prompt": "x"}),
        (
            {**COPILOT, "toolName": "bash", "toolArgs": '{"command":"ls ä"}', "toolResult": {"textResultForLlm": "a"}},
            {
                **PASCAL,
                "hook_event_name": "PostToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": "ls ä"},
                "tool_result": {"text_result_for_llm": "a"},
            },
        ),
    ],
)
def test_a_native_registration_and_one_for_claude_code_make_one_event(store, native, foreign):
    nameless = {"prompt": "userPromptSubmitted", "toolName": "postToolUse"}  # Copilot's events that are not told apart
    event = next((name for field, name in nameless.items() if field in native and "sessionId" in native), "")
    tell(store, native, "--agent", "copilot" if "sessionId" in native else "cursor", "--event", event)
    tell(store, foreign, "--agent", "claude")

    assert 1 == len(events(store))


@pytest.mark.parametrize("result", ["the same", "another"])
def test_calls_of_copilot_are_told_apart_by_what_they_say(store, result):
    for said in ("the same", result):
        call = {**COPILOT, "toolName": "bash", "toolArgs": "{}", "toolResult": {"textResultForLlm": said}}
        tell(store, call, "--agent", "copilot", "--event", "postToolUse")

    assert len({"the same", result}) == len(events(store))


def test_gemini_tells_of_an_end_twice_and_it_is_one(store):
    for second in ("01", "02"):
        tell(
            store,
            {**GEMINI, "hook_event_name": "SessionEnd", "reason": "exit", "timestamp": f"2026-02-20T12:00:{second}Z"},
        )

    assert 1 == len(events(store, "session_end"))


# ------------------------------------------------------------------------------------------------ hosts nobody knows


def test_an_unknown_host_is_recorded_and_not_answered(store):
    answers = [
        tell(store, {"session_id": "d", "hook_event_name": name}, "--agent", "amp") for name in ("SessionStart", "Stop")
    ]

    assert [{}, {}] == answers
    assert [("amp", "session_start"), ("amp", "turn_end")] == [(one.agent, one.type) for one in events(store)]
