"""The hook records what hosts send, once, whatever happens to it, and never disturbs its host."""

import json
import os
import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support import payloads
from tests.support.hook_calls import HOOK, errors_of, events_of, run, tell
from tests.support.payloads import AGENTS, MOMENTS, SESSIONS, claude, cursor, data

pytestmark = pytest.mark.slow

SILENT = {"claude": b"", "codex": b"", "cursor": b"{}", "gemini": b"{}"}
QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")  # nobody answers it, nothing follows it


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


# ------------------------------------------------------------------------------------------------ what becomes of a call


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_call_becomes_an_event_of_its_session(store, moment):
    payload, event_type, fields = MOMENTS[moment]
    host = moment.split("'")[0].split()[0]
    tell(store, payload)
    (event,) = events_of(store)

    assert event_type == event.type
    assert (AGENTS[host], SESSIONS[host], "/home/ada/shop") == (event.agent, event.conversation_id, event.project)
    assert fields == {name: getattr(event, name) for name in fields}
    assert [] == errors_of(store)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_same_call_again_adds_nothing(store, moment):
    payload = MOMENTS[moment][0]
    for _ in range(3):
        tell(store, payload)

    assert 1 == len(events_of(store))


def test_two_turns_are_two_events(store):
    for turn in ("p-1", "p-2"):
        tell(store, claude("Stop", prompt_id=turn))

    assert ["p-1", "p-2"] == [event.turn_id for event in events_of(store)]


def test_two_registrations_calling_at_once_are_one_event(store):
    with ThreadPoolExecutor(6) as pool:
        calls = list(pool.map(lambda _: run(store, QUIET), range(6)))

    assert [0] * 6 == [call.returncode for call in calls]
    assert 1 == len(events_of(store))


def test_the_host_is_told_by_its_payload_not_by_the_command_that_was_installed(store):
    tell(store, cursor("stop", status="completed"), "--agent", "claude")
    (event,) = events_of(store)

    assert "cursor" == event.agent


def test_a_tool_call_in_a_helper_is_the_helpers(store):
    tell(store, claude("PostToolUse", tool_use_id="t-2", agent_id="a-7"))
    (event,) = events_of(store)

    assert "a-7" == event.subagent


def test_a_call_in_a_repository_belongs_to_its_root_and_names_its_branch(store, tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    (tmp_path / "repo" / "src").mkdir()
    tell(store, claude("SessionStart", source="startup", cwd=str(tmp_path / "repo" / "src")))
    (event,) = events_of(store)

    assert (str(tmp_path / "repo"), "topic") == (event.project, event.git_branch)


# ------------------------------------------------------------------------------------------------ captured payloads

if not payloads.captured():

    @pytest.mark.skip(reason=payloads.NONE_CAPTURED)
    def test_captured_payloads_are_recorded():
        """Shown as skipped where there are none."""


@pytest.mark.parametrize("file", payloads.captured(), ids=lambda path: path.name)
def test_a_captured_payload_is_recorded_once_without_an_error(store, file):
    agent = file.name.split("-")[0]
    for _ in range(2):
        tell(store, file.read_bytes(), "--agent", agent, "--event", file.name.split("-")[1])
    (event,) = events_of(store)

    assert [] == errors_of(store)
    assert event.agent.startswith(agent)
    assert event.conversation_id


# ------------------------------------------------------------------------------------------------ answers


@pytest.mark.parametrize("agent", SILENT)
def test_what_needs_no_answer_is_answered_with_silence_in_the_hosts_dialect(store, agent):
    ended = run(store, {**QUIET, "cursor_version": "3"} if agent == "cursor" else QUIET, "--agent", agent)

    assert (0, SILENT[agent], b"") == (ended.returncode, ended.stdout, ended.stderr)


GARBAGE = {
    "nothing": b"",
    "blank": b" \n",
    "no JSON": b"oh no",
    "a JSON array": b'["SessionStart"]',
    "a JSON string": b'"SessionStart"',
    "half an object": b'{"session_id": "s", "hook_event',
    "two objects": b"{}{}",
    "not UTF-8": b'{"session_id": "\xff"}',
    "too deep": b'{"a":' * 100_000,
}


@pytest.mark.parametrize("sent", [b"", b" \n"])
def test_who_tries_the_verb_by_hand_leaves_no_failure(store, sent):
    ended = run(store, sent)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert [] == errors_of(store)

    run(store, b"oh no")

    assert 1 == len(errors_of(store))


@pytest.mark.parametrize("sent", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_answered_with_silence_and_kept_in_the_error_log(store, sent):
    ended = run(store, sent, "--agent", "cursor")
    (error,) = errors_of(store)

    assert (0, b"{}", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert sent[:4096].decode("utf-8", "replace") == error["payload"]
    assert [] == events_of(store)


ODD = {
    "an empty object": {},
    "fields of other types": {"session_id": 7, "hook_event_name": ["Stop"], "cwd": {"a": 1}, "workspace_roots": "x"},
    "half a surrogate pair": claude("Odd\ud800", session_id="\udfff"),
    "huge numbers": claude("Odd", number=10**400, small=-(10**30)),
    "a null session": {**claude("Odd"), "session_id": None},
}


@pytest.mark.parametrize("payload", ODD.values(), ids=ODD)
def test_odd_payloads_are_recorded_all_the_same(store, payload):
    tell(store, json.dumps(payload).encode())

    assert 1 == len(events_of(store))
    assert [] == errors_of(store)


def test_a_byte_order_mark_is_tolerated(store):
    tell(store, b"\xef\xbb\xbf" + data(QUIET))

    assert ["host_event"] == [event.type for event in events_of(store)]


def test_unknown_options_are_no_reason_to_fail(store):
    ended = run(store, QUIET, "--frobnicate", "--agent=claude", "stray")

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert 1 == len(events_of(store))


def test_a_payload_of_50_megabytes_is_recorded_in_outline(store):
    ended = run(store, claude("PostToolUse", tool_use_id="t-1", tool_response={"stdout": "x" * 50_000_000}))
    (event,) = events_of(store)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert event.payload["tool_response"]["stdout"].endswith("…[+49998000 chars]")


def test_a_payload_of_very_many_fields_is_recorded_in_outline(store):
    tell(store, claude("Many", **{f"field {number}": "x" * 1900 for number in range(700)}))
    (event,) = events_of(store)

    assert "Many" == event.name
    assert [] == errors_of(store)


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_a_store_that_cannot_be_written_does_not_disturb_the_host(tmp_path):
    (tmp_path / "file").write_text("in the way")
    ended = run(tmp_path / "file" / "store", QUIET)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


def test_a_full_disk_does_not_disturb_the_host_and_leaves_no_half_a_line(store):
    run(store, claude("Stop", prompt_id="p-0"))  # what it loads is compiled now: Python would tear that, too
    (file,) = (store / "log").iterdir()
    before = file.read_bytes()

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 30, len(before) + 30))

    ended = run(store, claude("Stop", prompt_id="p-1"), preexec_fn=full)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert before == file.read_bytes()


def test_a_host_that_closed_its_end_has_its_event_stored(store):
    closed, ours = os.pipe()
    os.close(closed)
    call = subprocess.Popen([*HOOK, "--store", store], stdin=subprocess.PIPE, stdout=ours, stderr=subprocess.PIPE)
    os.close(ours)
    _, err = call.communicate(data(cursor("afterFileEdit")))

    assert (0, b"") == (call.returncode, err)
    assert 1 == len(events_of(store))


def test_without_any_stdout_or_stdin_the_hook_still_ends_well(store):
    shell = f"{' '.join(HOOK)} --store {store} <&- >&- 2>&-"

    assert 0 == subprocess.run(["sh", "-c", shell], check=False).returncode


def test_a_directory_that_is_gone_does_not_lose_the_event(store, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f"cd {gone} && rmdir {gone} && exec {' '.join(HOOK)} --store {store}"
    ended = subprocess.run(["sh", "-c", shell], input=data({**QUIET, "cwd": ""}), capture_output=True, check=False)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert 1 == len(events_of(store))
