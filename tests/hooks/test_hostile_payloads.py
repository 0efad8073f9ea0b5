"""Whatever a host sends and whatever is in the way: an answer in its dialect, in time, and the event where it can be."""

import json
import subprocess
from subprocess import PIPE, STDOUT

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.format.codec import decode
from tests.support.effort import rounds
from tests.support.hook_calls import HOOK, errors_of, respond, run
from tests.support.host_calls import events
from tests.support.payloads import MOMENTS, captured, claude, cursor, data

pytestmark = pytest.mark.slow

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
# numbers that JSON can spell and no log takes, and texts that are no names
BEYOND = [
    2**63,
    -(2**63) - 1,
    2**64,
    10**400,
    float("inf"),
    -1e308 * 10,
    float("nan"),
    " ",
    "\0",
    "\ud800",
    "x" * 9000,
]
words = st.text(max_size=20) | st.sampled_from([*EVENTS, "../../etc/passwd", "\x1b[31m", "completed", "/nowhere", ""])
values = st.recursive(
    words | st.integers(-(10**40), 10**40) | st.sampled_from(BEYOND) | st.booleans() | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
payloads = st.dictionaries(st.sampled_from(NAMES), values, max_size=9)


SHAPES = [payload for payload, _, _ in MOMENTS.values()] + [json.loads(path.read_bytes()) for path in captured()]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "store"


@st.composite
def mutated(draw):
    """A payload as a host sends it, with some of its fields gone, strange or new."""
    payload = dict(draw(st.sampled_from(SHAPES)))
    for name in draw(st.lists(st.sampled_from([*payload, *NAMES]), max_size=3)):
        payload.pop(name, None)
        if draw(st.booleans()):
            payload[name] = draw(values)
    return payload


@settings(max_examples=rounds(fixed=15, fuzz=600))
@given(
    payloads | mutated(),
    st.sampled_from(["claude", "cursor", "codex", "gemini", "copilot", "vscode", "qwen", "", "?"]),
    st.sampled_from([*EVENTS, ""]),
)
@example({"hook_event_name": "Stop", "transcript_path": "/x/.jsonl"}, "claude", "")
@example({"hook_event_name": "Stop", "transcript_path": "/x/dir/"}, "claude", "")
@example({"hook_event_name": "Stop", "session_id": " "}, "claude", "")
@example(cursor("sessionEnd", duration_ms=10**400), "cursor", "")
@example(cursor("sessionEnd", duration_ms=float("inf")), "cursor", "")
@example(claude("Notification", deep=[{"n": float("nan")}, 2**64]), "claude", "")
@example(claude("Notification", cwd="/a\0b"), "claude", "")
@example(claude("Notification", cwd="x" * 200_000, session_id="y" * 2_000_000), "claude", "")
@example(claude("z" * 2_000_000), "claude", "")
def test_any_payload_is_answered_with_one_json_object_or_silence_and_is_an_event(store, payload, agent, event):
    said = json.dumps(payload).encode()
    before = lines_of(store)
    answer = respond(said, ["--agent", agent, "--event", event, "--store", str(store)], {})
    written = lines_of(store)[len(before) :]

    assert not answer or isinstance(json.loads(answer), dict)
    assert not (store / "cache" / "hook-errors.log").exists()
    assert all(decode(line).conversation_id.strip() for line in written)


def lines_of(store):
    """Every line of the log, day by day."""
    return [line for file in sorted((store / "log").glob("*")) for line in file.read_bytes().splitlines()]


@pytest.mark.parametrize("text", ['"n": NaN', '"n": -Infinity', '"n": 1e999', f'"n": {"9" * 5000}', '"n": [1e999]'])
def test_a_number_json_has_no_word_for_is_kept_as_text(tmp_path, text):
    respond(
        b'{"session_id": "s", "hook_event_name": "Notification", %b}' % text.encode(),
        ["--store", str(tmp_path)],
        {},
    )
    (event,) = events(tmp_path)

    assert isinstance(str(event.payload["n"]), str)
    assert event.payload["n"] not in (None, "")
    assert [] == errors_of(tmp_path)


def test_a_payload_that_does_not_fit_is_noted_with_its_beginning(tmp_path):
    sent = data(claude("Notification", said="x" * (70 << 20)))
    ended = run(tmp_path / "store", sent)
    (error,) = errors_of(tmp_path / "store")

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert error["payload"].startswith('{"session_id": "5f0c"')


def test_a_payload_for_which_there_is_no_memory_is_noted_and_read_to_its_end(tmp_path):
    limited = ["sh", "-c", 'ulimit -v 51200; exec "$@"', "sh"]  # KiB
    command = [*limited, *HOOK, "--store", tmp_path / "store"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=STDOUT) as hook:
        assert hook.stdin
        assert hook.stdout
        hook.stdin.write(data(claude("Notification", said="x" * (40 << 20))))  # fails where the hook closes its end
        hook.stdin.close()
        assert b"" == hook.stdout.read()

    assert 0 == hook.returncode
    assert 1 == len(errors_of(tmp_path / "store"))


def test_nothing_was_written_outside_of_the_store_and_every_line_is_an_event(store):
    outside = [path for path in store.parent.rglob("*") if not path.is_relative_to(store)]

    assert [] == outside
    assert all(event.conversation_id for event in events(store))
