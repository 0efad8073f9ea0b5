"""Whatever a host sends and whatever is in the way: an answer in its dialect, in time, and the event where it can be."""

import fcntl
import json
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eventlog.agents.hook import respond
from tests.hosts import HOOK, alone, events, run
from tests.payloads import claude, cursor, data

NAMES = [
    "session_id",
    "sessionId",
    "conversation_id",
    "generation_id",
    "turn_id",
    "prompt_id",
    "agent_id",
    "agentId",
    "hook_event_name",
    "hookEventName",
    "cursor_version",
    "workspace_roots",
    "cwd",
    "transcript_path",
    "transcriptPath",
    "timestamp",
    "source",
    "reason",
    "status",
    "stop_hook_active",
    "background_tasks",
    "loop_count",
    "duration_ms",
    "stopReason",
    "agent_action_name",
    "tool_use_id",
    "tool_input",
    "prompt",
    "user_email",
    "last_assistant_message",
    "message_count",
    "subagent_id",
    "workspaceRoot",
    "model",
]
EVENTS = [
    "SessionStart",
    "Stop",
    "PreCompact",
    "SessionEnd",
    "SubagentStop",
    "sessionStart",
    "stop",
    "preCompact",
    "sessionEnd",
    "AfterAgent",
    "PreCompress",
    "BeforeAgent",
    "agentStop",
    "userPromptSubmitted",
    "subagentStart",
    "post_cascade_response",
]
words = st.text(max_size=20) | st.sampled_from([*EVENTS, "../../etc/passwd", "\x1b[31m", "completed", "/nowhere", ""])
values = st.recursive(
    words | st.integers(-9, 10**20) | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
payloads = st.dictionaries(st.sampled_from(NAMES), values, max_size=9)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "store"


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
@given(
    payloads,
    st.sampled_from(["claude", "cursor", "codex", "gemini", "copilot", "vscode", "", "?"]),
    st.sampled_from([*EVENTS, ""]),
)
def test_any_payload_is_answered_with_one_json_object_or_silence(store, payload, agent, event):
    answer = respond(json.dumps(payload).encode(), ["--agent", agent, "--event", event, "--store", str(store)], {})

    assert not answer or isinstance(json.loads(answer), dict)
    assert not (store / "cache" / "hook-errors.log").exists()


def test_nothing_was_written_outside_of_the_store_and_every_line_is_an_event(store):
    outside = [path for path in store.parent.rglob("*") if not path.is_relative_to(store)]

    assert [] == outside
    assert all(event.conversation_id for event in events(store))


# ------------------------------------------------------------------------------------------------ in time


def test_a_log_someone_else_holds_is_given_up_before_the_host_gives_up(tmp_path):
    store = alone(tmp_path / "store")
    run(store, claude("Notification", message="first"))
    (file,) = (store / "log").iterdir()
    before = file.read_bytes()
    with file.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        ended = run(store, cursor("sessionEnd", reason="x"), "--agent", "cursor", "--event", "sessionEnd", timeout=10)
    (failure,) = (store / "cache" / "hook-errors.log").read_text().splitlines()

    assert (0, b"{}", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert before == file.read_bytes()
    assert "gave up after 2 seconds" in json.loads(failure)["error"]


def test_a_host_that_never_closes_its_pipe_is_answered_all_the_same(tmp_path):
    store = alone(tmp_path / "store")
    command = [*HOOK, "--agent", "cursor", "--event", "sessionEnd", "--store", store]
    hook = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert hook.stdin
    assert hook.stdout
    assert hook.stderr
    hook.stdin.write(data(cursor("sessionEnd", reason="x")))
    hook.stdin.flush()
    answer, errors, code = hook.stdout.read(), hook.stderr.read(), hook.wait(10)
    for pipe in (hook.stdin, hook.stdout, hook.stderr):
        pipe.close()

    assert (0, b"{}", b"") == (code, answer, errors)
    assert ["session_end"] == [event.type for event in events(store)]
