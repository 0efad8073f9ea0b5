"""The hook records what hosts send, once, whatever happens to it, and never disturbs its host."""

import json
import os
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eventlog.agents.hook import respond
from eventlog.log import EventLog
from tests import payloads
from tests.builders import ROOT
from tests.golden import tree
from tests.payloads import AGENTS, MOMENTS, SESSIONS, claude, cursor, data

HOOK = [sys.executable, "-I", "-S", str(ROOT / "eventlog" / "hook.py")]
SILENT = {"claude": b"", "codex": b"", "cursor": b"{}", "gemini": b"{}"}
QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")  # nobody answers it, nothing follows it


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def _tell(store, payload, *argv, **environ):
    """The answer to a payload, an object or bytes, in this process."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    return respond(sent, [*argv, "--store", str(store)], environ)


def _run(store, payload, *argv, **options):
    """The same as a process, as hosts do it."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    return subprocess.run([*HOOK, *argv, "--store", store], input=sent, capture_output=True, check=False, **options)


def _events(store):
    """What was recorded of the calls; the receipt of a start's context is the answer's."""
    return [event for event in EventLog(store).read() if event.type != "context_injected"]


def _errors(store):
    file = Path(store, "cache", "hook-errors.log")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# ------------------------------------------------------------------------------------------------ what becomes of a call


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_call_becomes_an_event_of_its_session(store, moment):
    payload, event_type, fields = MOMENTS[moment]
    host = moment.split("'")[0].split()[0]
    _tell(store, payload)
    (event,) = _events(store)

    assert event_type == event.type
    assert (AGENTS[host], SESSIONS[host], "/home/ada/shop") == (event.agent, event.conversation_id, event.project)
    assert fields == {name: getattr(event, name) for name in fields}
    assert [] == _errors(store)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_same_call_again_adds_nothing(store, moment):
    payload = MOMENTS[moment][0]
    for _ in range(3):
        _tell(store, payload)

    assert 1 == len(_events(store))


def test_two_turns_are_two_events(store):
    for turn in ("p-1", "p-2"):
        _tell(store, claude("Stop", prompt_id=turn))

    assert ["p-1", "p-2"] == [event.turn_id for event in _events(store)]


def test_two_registrations_calling_at_once_are_one_event(store):
    with ThreadPoolExecutor(6) as pool:
        calls = list(pool.map(lambda _: _run(store, QUIET), range(6)))

    assert [0] * 6 == [call.returncode for call in calls]
    assert 1 == len(_events(store))


def test_the_host_is_told_by_its_payload_not_by_the_command_that_was_installed(store):
    _tell(store, cursor("stop", status="completed"), "--agent", "claude")
    (event,) = _events(store)

    assert "cursor" == event.agent


def test_a_tool_call_in_a_helper_is_the_helpers(store):
    _tell(store, claude("PostToolUse", tool_use_id="t-2", agent_id="a-7"))
    (event,) = _events(store)

    assert "a-7" == event.subagent


def test_a_call_in_a_repository_belongs_to_its_root_and_names_its_branch(store, tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/topic\n")
    (tmp_path / "repo" / "src").mkdir()
    _tell(store, claude("SessionStart", source="startup", cwd=str(tmp_path / "repo" / "src")))
    (event,) = _events(store)

    assert (str(tmp_path / "repo"), "topic") == (event.project, event.git_branch)


# ------------------------------------------------------------------------------------------------ captured payloads

if not payloads.captured():

    @pytest.mark.skip(reason=f"no captured payloads at {payloads.CAPTURED}")
    def test_captured_payloads_are_recorded():
        """Shown as skipped where there are none."""


@pytest.mark.parametrize("file", payloads.captured(), ids=lambda path: path.name)
def test_a_captured_payload_is_recorded_once_without_an_error(store, file):
    agent = file.name.split("-")[0]
    for _ in range(2):
        _tell(store, file.read_bytes(), "--agent", agent, "--event", file.name.split("-")[1])
    (event,) = _events(store)

    assert [] == _errors(store)
    assert event.agent.startswith(agent)
    assert event.conversation_id


def test_a_captured_payload_through_a_process_is_silent_or_json(store):
    for file in payloads.captured():
        if "SessionEnd" not in file.name and "sessionEnd" not in file.name:
            ended = _run(store, file.read_bytes(), "--agent", file.name.split("-")[0])

            assert (0, b"") == (ended.returncode, ended.stderr)
            assert not ended.stdout or isinstance(json.loads(ended.stdout), dict)
    assert [] == _errors(store)


# ------------------------------------------------------------------------------------------------ answers


@pytest.mark.parametrize("agent", SILENT)
def test_what_needs_no_answer_is_answered_with_silence_in_the_hosts_dialect(store, agent):
    ended = _run(store, {**QUIET, "cursor_version": "3"} if agent == "cursor" else QUIET, "--agent", agent)

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
    "not a number": b'{"session_id": "s", "hook_event_name": "Stop", "n": NaN}',
}


@pytest.mark.parametrize("sent", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_answered_with_silence_and_kept_in_the_error_log(store, sent):
    ended = _run(store, sent, "--agent", "cursor")
    (error,) = _errors(store)

    assert (0, b"{}", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert sent[:4096].decode("utf-8", "replace") == error["payload"]
    assert [] == _events(store)


ODD = {
    "an empty object": {},
    "fields of other types": {"session_id": 7, "hook_event_name": ["Stop"], "cwd": {"a": 1}, "workspace_roots": "x"},
    "half a surrogate pair": claude("Odd\ud800", session_id="\udfff"),
    "huge numbers": claude("Odd", number=10**400, small=-(10**30)),
    "a null session": {**claude("Odd"), "session_id": None},
}


@pytest.mark.parametrize("payload", ODD.values(), ids=ODD)
def test_odd_payloads_are_recorded_all_the_same(store, payload):
    _tell(store, json.dumps(payload).encode())

    assert 1 == len(_events(store))
    assert [] == _errors(store)


def test_a_byte_order_mark_is_tolerated(store):
    _tell(store, b"\xef\xbb\xbf" + data(QUIET))

    assert ["host_event"] == [event.type for event in _events(store)]


def test_unknown_options_are_no_reason_to_fail(store):
    ended = _run(store, QUIET, "--frobnicate", "--agent=claude", "stray")

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert 1 == len(_events(store))


def test_a_payload_of_50_megabytes_is_recorded_in_outline(store):
    ended = _run(store, claude("PostToolUse", tool_use_id="t-1", tool_response={"stdout": "x" * 50_000_000}))
    (event,) = _events(store)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert event.payload["tool_response"]["stdout"].endswith("…[+49998000 chars]")


def test_a_payload_of_very_many_fields_is_recorded_in_outline(store):
    _tell(store, claude("Many", **{f"field {number}": "x" * 1900 for number in range(2000)}))
    (event,) = _events(store)

    assert "Many" == event.name
    assert [] == _errors(store)


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_a_store_that_cannot_be_written_does_not_disturb_the_host(tmp_path):
    (tmp_path / "file").write_text("in the way")
    ended = _run(tmp_path / "file" / "store", QUIET)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


def test_a_log_that_cannot_be_written_is_noted(store):
    store.mkdir()
    (store / "log").write_text("in the way")
    ended = _run(store, QUIET)
    (error,) = _errors(store)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert "NotStored" in error["error"]
    assert QUIET == json.loads(error["payload"])


def test_a_full_disk_does_not_disturb_the_host_and_leaves_no_half_a_line(store):
    _tell(store, QUIET)
    (file,) = (store / "log").iterdir()
    before = file.read_bytes()

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 30, len(before) + 30))

    ended = _run(store, claude("Stop", prompt_id="p-1"), preexec_fn=full)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert before == file.read_bytes()


def test_a_host_that_closed_its_end_has_its_event_stored(store):
    closed, ours = os.pipe()
    os.close(closed)
    call = subprocess.Popen([*HOOK, "--store", store], stdin=subprocess.PIPE, stdout=ours, stderr=subprocess.PIPE)
    os.close(ours)
    _, err = call.communicate(data(cursor("afterFileEdit")))

    assert (0, b"") == (call.returncode, err)
    assert 1 == len(_events(store))


def test_without_any_stdout_or_stdin_the_hook_still_ends_well(store):
    shell = f"{' '.join(HOOK)} --store {store} <&- >&- 2>&-"

    assert 0 == subprocess.run(["sh", "-c", shell], check=False).returncode


def test_a_directory_that_is_gone_does_not_lose_the_event(store, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f"cd {gone} && rmdir {gone} && exec {' '.join(HOOK)} --store {store}"
    ended = subprocess.run(["sh", "-c", shell], input=data({**QUIET, "cwd": ""}), capture_output=True, check=False)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert 1 == len(_events(store))


def test_the_error_log_does_not_grow_without_end(store):
    threads = [threading.Thread(target=_tell, args=(store, b"x" * 5000)) for _ in range(4)]
    log = store / "cache" / "hook-errors.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"{}\n" * 400_000)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _tell(store, b"last")

    assert log.stat().st_size < 1 << 20
    assert "last" == _errors(store)[-1]["payload"]


# ------------------------------------------------------------------------------------------------ what is never kept

SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxb-" + "1234567890-abcdef",
    "sk-ant-" + "a1B2" * 10,
    "sk-proj-" + "a1B2" * 10,
    "AIza" + "a1B2c" * 7,
    "npm_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:10])
@pytest.mark.parametrize("place", ["tool_input", "key", "error", "garbage"])
def test_a_secret_never_reaches_the_disk(store, secret, place):
    payload = {
        "tool_input": claude("PreToolUse", tool_use_id="t", tool_input={"command": [f"curl -H '{secret}' x"]}),
        "key": claude("PreToolUse", tool_use_id="t", env={f"a {secret} b": 1}),
        "error": cursor("sessionEnd", reason="error", error_message=f"no: {secret}"),
        "garbage": ("x" * 4085 + " " + secret).encode(),
    }[place]
    _tell(store, payload)
    kept = b"".join(tree(store).values())

    assert kept
    assert secret.split("\n")[-1][:11].encode() not in kept
    assert b"MIIE" not in kept


def test_a_password_in_an_address_is_scrubbed_and_the_address_kept(store):
    _tell(store, claude("PreToolUse", tool_use_id="t", tool_input="git clone https://ada:hunter2@example.org/x.git"))
    (event,) = _events(store)

    assert "git clone https://[REDACTED]@example.org/x.git" == event.payload["tool_input"]


@pytest.mark.parametrize(
    "sent", [data(cursor("afterFileEdit")), data(cursor("stop")) + b"oops"], ids=["recorded", "unreadable"]
)
def test_the_users_address_is_never_kept(store, sent):
    _tell(store, sent)
    kept = b"".join(tree(store).values())

    assert b"c0de" in kept
    assert b"ada@example.org" not in kept


# ------------------------------------------------------------------------------------------------ off


def test_disabled_by_the_environment_nothing_is_written(store):
    assert b"{}" == _tell(store, cursor("stop"), "--agent", "cursor", EVENTLOG_DISABLED="1")
    assert not store.exists()


def test_disabled_by_zero_is_enabled(store):
    _tell(store, QUIET, EVENTLOG_DISABLED="0")

    assert 1 == len(_events(store))


@pytest.mark.parametrize("place", ["repo", "repo/src"])
def test_disabled_by_a_file_in_the_project_nothing_is_written(store, tmp_path, place):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / place / ".eventlog-disable").touch()
    _tell(store, {**QUIET, "cwd": str(tmp_path / "repo" / "src")})

    assert not store.exists()


# ------------------------------------------------------------------------------------------------ what it is made of

LIST_MODULES = """
import os, sys
sys.argv = ["hook", "--store", {store!r}]
def leave(code):
    os.write(2, "\\n".join(f"{{name}}={{getattr(m, '__file__', None) or ''}}" for name, m in sys.modules.items()).encode())
    leave_really(code)
leave_really, os._exit = os._exit, leave
sys.path.insert(0, {root!r})
from eventlog.agents.hook import run
run(sys.argv[1:])
"""


@pytest.mark.parametrize("payload", [QUIET, claude("SessionEnd", reason="x"), MOMENTS["cursor ends a turn"][0]])
def test_the_append_path_uses_the_standard_library_only(store, payload):
    program = LIST_MODULES.format(store=str(store), root=str(ROOT))
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input=data(payload), capture_output=True, check=True
    )
    loaded = dict(line.split("=", 1) for line in ended.stderr.decode().splitlines())
    foreign = {
        name: file
        for name, file in loaded.items()
        if file and not file.startswith((os.__file__.removesuffix("os.py"), str(ROOT)))
    }

    assert "eventlog.live" in loaded
    assert {} == foreign
    assert not {"json", "re", "typing", "pathlib", "datetime", "hashlib", "click", "msgspec"} & loaded.keys()
    assert 1 == len(_events(store))
