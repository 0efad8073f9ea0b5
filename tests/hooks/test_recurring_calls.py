"""Calls that look the same are one when registrations repeat them, and several when the host really makes them again."""

import pytest

from eventlog.log.event_log import EventLog
from tests.support.host_calls import alone, events, tell
from tests.support.payloads import claude, codex

GEMINI = {"session_id": "g-1", "cwd": "/home/ada/shop", "timestamp": "2026-02-20T12:00:00.000Z", "transcript_path": ""}
COPILOT = {"sessionId": "c-1", "cwd": "/home/ada/shop"}
PASCAL = {"session_id": "c-1", "cwd": "/home/ada/shop"}


@pytest.fixture
def store(tmp_path):
    return alone(tmp_path / "store")


def gemini(name, **fields):
    return {**GEMINI, "hook_event_name": name, **fields}


RESUMES = {
    "claude": (claude("SessionStart", source="resume"), claude("SessionEnd", reason="other")),
    "codex": (codex("SessionStart", source="resume"), codex("SessionEnd", reason="other")),
    "gemini": (gemini("SessionStart", source="resume"), gemini("SessionEnd", reason="exit")),
}


@pytest.mark.slow
@pytest.mark.parametrize(("start", "end"), RESUMES.values(), ids=RESUMES)
def test_runs_right_after_each_other_start_and_end_each_with_its_context(store, start, end):
    for _ in range(3):
        twice = [tell(store, start) for _ in range(2)]
        for _ in range(2):
            tell(store, end)

        assert [True, False] == [bool(answer) for answer in twice]
    assert ["session_start", "session_end"] * 3 == [event.type for event in events(store)]


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_starts_right_before_and_after_a_compaction_are_two_each_with_its_context(store, source):
    start, compaction = claude("SessionStart", source=source), claude("PreCompact", trigger="manual")
    told = [bool(tell(store, payload)) for payload in (start, compaction, compaction, start, start)]

    assert [True, False, False, True, False] == told
    assert ["session_start", "save_requested", "session_start"] == [event.type for event in events(store)]


def test_a_request_of_ours_meanwhile_makes_no_second_end(store):
    end = claude("SessionEnd", reason="other")
    tell(store, end)
    EventLog(store).append({"type": "save_requested", "conversation_id": end["session_id"], "trigger": "stop"})
    tell(store, end)

    assert 1 == len(events(store, "session_end"))


def test_what_is_said_by_others_meanwhile_makes_no_second_end(store):
    start, end = RESUMES["claude"]
    tell(store, start)
    tell(store, end)
    tell(store, claude("PostToolUse", session_id="other", tool_use_id="t-1"))
    tell(store, claude("PostToolUse", agent_id="a-1", tool_use_id="t-2"))
    tell(store, end)

    assert 1 == len(events(store, "session_end"))


# ------------------------------------------------------------------------------------------------ times as keys

SHAPES = {
    "a start": ("sessionStart", "SessionStart", {"source": "resume"}),
    "a turn's end": ("agentStop", "Stop", {"stopReason": "end_turn"}),
    "a prompt": ("userPromptSubmitted", "UserPromptSubmit", {"prompt": "Fix it"}),
    "an end": ("sessionEnd", "SessionEnd", {"reason": "complete"}),
    "a compaction": ("preCompact", "PreCompact", {}),
}


@pytest.mark.parametrize(("camel", "pascal", "fields"), SHAPES.values(), ids=SHAPES)
def test_copilot_tells_one_millisecond_in_both_spellings(store, camel, pascal, fields):
    for at, iso in ((1795265053961, "2026-11-21T12:44:13.961Z"), (1795265053962, "2026-11-21T12:44:13.962Z")):
        tell(store, {**COPILOT, "timestamp": at, **fields}, "--agent", "copilot", "--event", camel)
        tell(store, {**PASCAL, "timestamp": iso, "hook_event_name": pascal, **fields}, "--agent", "claude")

    assert 2 == len(events(store))


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", 10**20, -1, [1]])
def test_a_time_that_is_none_is_no_key_and_no_obstacle(store, timestamp):
    for _ in range(2):
        tell(store, {**COPILOT, "timestamp": timestamp, "stopReason": "end_turn"}, "--agent", "copilot")

    assert 1 == len(events(store, "turn_end"))


def test_qwens_starts_are_as_many_as_their_times_each_with_its_context(store):
    times = [f"2026-02-20T12:00:0{second}.000Z" for second in (0, 0, 1)]
    starts = [{**claude("SessionStart", source="resume"), "timestamp": time} for time in times]

    assert [True, False, True] == [bool(tell(store, start, "--agent", "qwen")) for start in starts]
    assert 2 == len(events(store, "session_start"))


def test_geminis_turns_with_the_same_words_are_as_many_as_their_times(store):
    for second in (0, 0, 1, 2):
        tell(store, gemini("AfterAgent", prompt_response="Done.", timestamp=f"2026-02-20T12:00:0{second}.000Z"))

    assert 3 == len(events(store, "turn_end"))


# ------------------------------------------------------------------------------------------------ answers to hooks


@pytest.mark.parametrize(
    "answered",
    [
        gemini("AfterAgent", stop_hook_active=True, timestamp="2026-02-20T12:00:09.000Z"),
        {**COPILOT, "timestamp": 1795265053999, "stopReason": "end_turn", "stop_hook_active": True},
        claude("Stop", stop_hook_active=True),
    ],
    ids=["gemini", "copilot", "claude before its turns had ids"],
)
def test_a_turn_that_went_on_for_a_hook_is_not_counted_again(store, answered):
    first = {**answered, "stop_hook_active": False}
    first |= (
        {"timestamp": 1795265053000 if "sessionId" in first else "2026-02-20T12:00:01.000Z"}
        if "timestamp" in first
        else {}
    )
    tell(store, first)
    tell(store, answered)

    assert ["turn_end", "host_event"] == [event.type for event in events(store)]


# ------------------------------------------------------------------------------------------------ compactions


def test_gemini_asks_nobody_before_it_calls_its_model(store):
    tell(store, gemini("PreCompress", trigger="auto"), "--agent", "gemini")

    assert ["host_event"] == [event.type for event in events(store)]


def test_who_makes_the_summary_of_a_compaction_is_no_subagent(store):
    tell(store, claude("SubagentStop", agent_id="a-1", agent_type=""))
    tell(store, claude("SubagentStop", agent_id="a-2", agent_type="Explore"))

    assert [None, "a-2"] == [event.subagent for event in events(store)]


# ------------------------------------------------------------------------------------------------ contexts that are late


def _context(answer):
    return answer.get("hookSpecificOutput", answer).get("additionalContext", "")


def test_gemini_is_given_its_context_with_the_first_prompt_after_a_clear(store):
    cleared = tell(store, gemini("SessionStart", source="clear"), "--agent", "gemini")
    before = events(store, "context_injected")
    asked = [
        tell(
            store, gemini("BeforeAgent", prompt="Hi", timestamp=f"2026-02-20T12:00:0{second}.000Z"), "--agent", "gemini"
        )
        for second in (1, 1, 2)
    ]

    assert ({}, []) == (cleared, before)
    assert [True, False, False] == ["# Memory" in _context(answer) for answer in asked]
    assert "BeforeAgent" == asked[0]["hookSpecificOutput"]["hookEventName"]
    assert 1 == len(events(store, "context_injected"))


def test_gemini_is_given_its_context_with_the_first_prompt_after_a_compaction_by_hand(store):
    def call(name, second, **fields):
        told = gemini(name, timestamp=f"2026-02-20T12:00:0{second}.000Z", **fields)
        return _context(tell(store, told, "--agent", "gemini"))

    compaction = call("PreCompress", 1, trigger="manual")
    first, second = (call("BeforeAgent", at, prompt="Go on.") for at in (2, 3))

    assert ("", "") == (compaction, second)
    assert "[eventlog] The context is being compacted" in first
    assert ["pre_compact"] == [event.trigger for event in events(store, "save_requested")]


def test_copilot_is_given_its_context_with_the_first_tool_after_a_compaction(store):
    def used(at):
        fields = {"timestamp": at, "toolName": "bash", "toolArgs": "{}"}
        return tell(store, {**COPILOT, **fields}, "--agent", "copilot", "--event", "postToolUse")

    before = used(1795265053001)
    tell(
        store, {**COPILOT, "timestamp": 1795265053002, "trigger": "auto"}, "--agent", "copilot", "--event", "preCompact"
    )
    first, second = used(1795265053003), used(1795265053004)

    assert (before, second) == ({}, {})
    assert "[eventlog] The context is being compacted" in first["additionalContext"]
    assert "--layer 2" in first["additionalContext"]


def test_copilot_is_given_its_context_with_the_first_prompt_after_a_compaction(store):
    def call(event, **fields):
        return tell(store, {**COPILOT, **fields}, "--agent", "copilot", "--event", event)

    call("preCompact", timestamp=1795265053002, trigger="manual")
    first = call("userPromptSubmitted", timestamp=1795265053003, prompt="Go on.")
    second = call("userPromptSubmitted", timestamp=1795265059003, prompt="And then?")

    assert "# Memory" in first["additionalContext"]
    assert {} == second


def test_a_shared_session_is_given_a_shared_context_late_too(store):
    shared = ("--agent", "gemini", "--session-type", "shared")
    tell(store, gemini("SessionStart", source="clear"), *shared)
    tell(store, gemini("BeforeAgent", prompt="Hi"), *shared)
    (receipt,) = events(store, "context_injected")

    assert "shared" == receipt.session_type
