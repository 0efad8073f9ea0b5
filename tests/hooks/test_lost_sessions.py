"""A session whose host was killed is seen to at the next start, and not before."""

import json
import signal
import subprocess
import sys
import time

import pytest

from eventlog.fast import os
from eventlog.hooks import background
from eventlog.hosts.call import HookCall
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from eventlog.store.replica import make_replica
from tests.support.hook_calls import HOOK, run
from tests.support.host_calls import alone, events, tell
from tests.support.machines import copied_whole, of_machine
from tests.support.payloads import claude
from tests.support.use_cases import finalize

pytestmark = pytest.mark.slow

TRANSCRIPT = """\
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Fix the rounding of prices"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/home/ada/shop/price.py"}},{"type":"text","text":"Rounded half even."}]}}
"""
HOST = """
import json, subprocess, sys
hook, payloads = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for payload in payloads:
    words = " ".join("'" + word + "'" for word in hook)
    subprocess.run(["/bin/sh", "-c", words + " 2>/dev/null || true"], input=payload.encode(), stdout=subprocess.DEVNULL)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path):
    return alone(tmp_path / "store")


@pytest.fixture
def host(store, tmp_path):
    """A host that has called its hooks as hosts do, through a shell, and lives on."""
    running = []

    def start(*payloads):
        path = tmp_path / "s-1.jsonl"
        path.write_text(TRANSCRIPT)
        told = [json.dumps({**payload, "transcript_path": str(path)}) for payload in payloads]
        command = [sys.executable, "-c", HOST, json.dumps([*map(str, HOOK), "--store", str(store)]), json.dumps(told)]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert running[-1].stdout
        assert running[-1].stdout.readline() == b"ready\n"
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


STARTED = claude("SessionStart", source="startup")
WORKED = claude("PostToolUse", tool_name="Edit", tool_use_id="t")
TURNED = claude("Stop", prompt_id="p-1")


@pytest.mark.parametrize("calls", [(STARTED,), (STARTED, WORKED), (STARTED, TURNED), (TURNED,)])
def test_a_session_whose_host_was_killed_is_drawn_at_the_next_start_and_not_before(store, host, calls):
    process = host(*calls)
    finalize(EventLog(store))
    alive = events(store, "stage_summary")
    process.send_signal(signal.SIGKILL)
    process.wait()
    has_work = background.has_open(Store(str(store)))
    finalize(EventLog(store))

    assert [] == alive
    assert has_work
    assert ["Fix the rounding of prices"] == [event.topic for event in events(store, "stage_summary")]
    assert not background.has_open(Store(str(store)))


def test_the_next_start_names_what_a_killed_session_was_asked_and_once(store, host):
    process = host(STARTED, claude("UserPromptSubmit", prompt="Work on the wallet page", prompt_id="p"))
    alive = tell(store, claude("SessionStart", source="startup", session_id="s-2"), "--agent", "claude")
    process.send_signal(signal.SIGKILL)
    process.wait()
    elsewhere = claude("SessionStart", source="startup", session_id="s-3", cwd="/home/ada/other")
    starts = [
        tell(store, payload, "--agent", "claude")
        for payload in (
            elsewhere,
            claude("SessionStart", source="startup", session_id="s-4"),
            claude("SessionStart", source="startup", session_id="s-5"),
        )
    ]

    assert [False, False, True, True] == ["wallet page" in str(answer) for answer in (alive, *starts)]
    assert ["Work on the wallet page"] == [event.topic for event in events(store, "stage_summary")]
    finalize(EventLog(store))
    assert "Fix the rounding of prices" == events(store, "stage_summary")[-1].topic


@pytest.mark.parametrize("saved", [False, True])
def test_the_next_start_names_what_a_host_was_asked_that_tells_of_no_prompt_unless_it_was_saved(store, host, saved):
    """As droid without a terminal, or a session that was killed before midnight: its transcript tells."""
    process = host(STARTED)
    if saved:
        said = {"conversation_id": STARTED["session_id"], "project": STARTED["cwd"], "agent": "claude-code"}
        EventLog(store).append({"type": "stage_summary", "scope": "session", "summary": "Prices are done", **said})
    process.send_signal(signal.SIGKILL)
    process.wait()
    answer = tell(store, claude("SessionStart", source="startup", session_id="s-2"), "--agent", "claude")

    assert ("Prices are done" if saved else "Fix the rounding of prices") in str(answer)
    assert saved == ("Fix the rounding" not in str(answer))


@pytest.mark.parametrize("saved", [False, True])
def test_a_session_that_starts_at_once_after_another_is_told_what_that_was_asked_unless_it_was_saved(store, saved):
    """As after `/clear`: what waits for `eventlog settle` has no summary yet."""
    start = claude("SessionStart", source="startup", session_id="s-1")
    asked = claude("UserPromptSubmit", prompt="Work on the wallet page", prompt_id="p", session_id="s-1")
    for payload in (start, asked, claude("SessionEnd", reason="clear", session_id="s-1")):
        run(store, payload, "--agent", "claude")
    if saved:
        said = {"conversation_id": "s-1", "project": start["cwd"], "agent": "claude-code"}
        EventLog(store).append({"type": "stage_summary", "scope": "session", "summary": "The wallet is done", **said})
    answer = tell(store, claude("SessionStart", source="clear", session_id="s-2"), "--agent", "claude")

    assert ("The wallet is done" if saved else "Work on the wallet page") in str(answer)
    assert 1 == len(events(store, "stage_summary"))


def test_a_session_that_ended_a_while_ago_waits_for_nobody_at_a_start(store):
    """Where nothing settles the store, the notes of ended sessions would be looked through at every start."""
    for payload in (claude("UserPromptSubmit", prompt="Work on the wallet page"), claude("SessionEnd", reason="clear")):
        run(store, {**payload, "session_id": "s-1"}, "--agent", "claude")
    (note,) = (store / "cache" / "open").glob("*.json")
    os.utime(note, (time.time() - 600,) * 2)
    tell(store, claude("SessionStart", source="startup", session_id="s-2"), "--agent", "claude")

    assert [] == events(store, "stage_summary")


def test_a_session_that_ended_before_its_host_came_back_keeps_its_end(store, host):
    host(STARTED, TURNED, claude("SessionEnd", reason="other"), claude("SessionStart", source="resume"))
    finalize(EventLog(store))

    assert 1 == len(events(store, "stage_summary"))


def test_a_host_that_was_never_known_or_lives_elsewhere_is_not_gone():
    mine = background._host_process()

    assert not [name for name in (mine, "", "x y", "1 2 3 4") if background.is_gone(name)]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")
def test_a_process_of_the_same_number_that_began_later_is_another_one(called_by_a_host):
    space, pid, started = background._host_process().split()

    assert background.is_gone(f"{space} {pid} {int(started) - 1}")
    assert not background.is_gone(f"pid:[1] {pid} {int(started) - 1}")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")
def test_a_process_that_nobody_has_waited_for_is_gone(called_by_a_host):
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    space = background._host_process().split()[0]
    process = f"{space} {ended.pid} {background._process(ended.pid)[2]}"
    alive = not background.is_gone(process)
    ended.kill()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    is_gone = background.is_gone(process)
    ended.communicate()

    assert alive
    assert is_gone


def test_without_proc_the_leader_of_the_session_tells(monkeypatch):
    leader = subprocess.Popen([sys.executable, "-c", "pass"])
    monkeypatch.setattr(background, "_process", lambda _: (_ for _ in ()).throw(FileNotFoundError()))
    monkeypatch.setattr(os, "getsid", lambda _: leader.pid, raising=False)
    named = background._host_process()
    leader.wait()
    while not background.is_gone(named):
        time.sleep(0.01)

    assert str(leader.pid) == named
    monkeypatch.setattr(os, "getsid", lambda _: os.getppid(), raising=False)
    assert "" == background._host_process()


def test_a_note_tells_where_the_conversation_began(store):
    call = HookCall("claude-code", "SessionStart", {"cwd": "/home/ada/shop"}, session="s")
    call.as_session_start(source="startup")
    background.mark_open(Store(str(store)), call)
    later = HookCall("claude-code", "Stop", {"cwd": "/home/ada/other"}, session="s").as_turn_end()
    background.complete(Store(str(store)), later)

    assert "/home/ada/shop" == later.project


def test_a_session_of_the_machine_that_a_store_was_copied_from_is_not_lost_here(store, host, tmp_path, monkeypatch):
    process = host(STARTED, TURNED)
    process.send_signal(signal.SIGKILL)
    process.wait()
    copied_whole(Store(str(store)))
    of_machine(monkeypatch, tmp_path, 2)
    make_replica(Store(str(store)))
    finalize(EventLog(store))

    assert not events(store, "stage_summary")
