"""What hooks could not do is noted, with everything that would be lost without."""

import json
import subprocess
import sys
import threading

import pytest

from eventlog.codec import decode
from tests.support.command_line import call, surroundings
from tests.support.hook_calls import HOOK, errors_of, events_of, run, tell
from tests.support.payloads import claude

QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def nowhere(store):
    """A store where neither the log nor the spool can be written."""
    store.mkdir()
    for name in ("log", "spool"):
        (store / name).write_text("in the way")
    return store


def test_a_store_that_cannot_be_written_is_noted_with_what_is_lost(nowhere):
    ended = run(nowhere, QUIET)
    errors = errors_of(nowhere)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert all("NotStored" in error["error"] for error in errors)
    assert "Bash" == errors[-1]["event"]["payload"]["tool_name"]


def test_what_is_lost_can_be_appended_by_hand_and_is_recognised(nowhere):
    long = claude("UserPromptSubmit", prompt_id="p-1", prompt="word " * 300, notes=["x" * 1500] * 20)
    tell(nowhere, long)
    for name in ("log", "spool"):
        (nowhere / name).unlink()
    *_, error = errors_of(nowhere)
    for _ in range(2):
        ran = call("append", "--stdin", "--store", nowhere, stdin=json.dumps(error["event"]).encode())
    tell(nowhere, long)  # and a retry of the host
    (kept,) = events_of(nowhere)
    tell(nowhere / "other", long)
    (expected,) = events_of(nowhere / "other")

    assert "skipped" in ran.out
    assert expected.payload == kept.payload
    assert (expected.name, expected.project) == (kept.name, kept.project)


def test_what_failed_after_the_event_was_stored_lost_nothing(store, monkeypatch):
    monkeypatch.setattr("eventlog.hooks.safety_nets.answer", lambda *_, **__: 1 / 0)
    tell(store, QUIET)
    (error,) = errors_of(store)

    assert 1 == len(events_of(store))
    assert "ZeroDivisionError: division by zero" == error["error"]
    assert "" == error["payload"]


def test_the_error_log_does_not_grow_without_end(store):
    threads = [threading.Thread(target=tell, args=(store, b"x" * 5000)) for _ in range(4)]
    log = store / "cache" / "hook-errors.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"{}\n" * 400_000)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(store, b"last")

    assert log.stat().st_size < 1 << 20
    assert "last" == errors_of(store)[-1]["payload"]


# ------------------------------------------------------------------------------------------------------- a full disk

FULL = """
mount -t tmpfs -o size={size}k none {place} || exit 77
hook() {{ {hook} --agent claude --store {place}/store >/dev/null; }}
export EVENTLOG_HOME={place}/store
for number in $(seq {calls}); do
    echo '{{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":"t-'$number'","cwd":"/","said":"{said}"}}' | hook
done
cat {place}/store/log/*.jsonl > {out}/log
cat {place}/store/cache/hook-errors.* > {out}/errors
ls {place}/store/spool > {out}/spool
{python} -m eventlog doctor > {out}/doctor
rm {place}/store/log/*.jsonl
{python} -m eventlog query --limit 1000 --format jsonl > {out}/query
"""


def test_a_full_disk_leaves_a_trace_of_what_is_lost_and_doctor_tells(tmp_path):
    (tmp_path / "disk").mkdir()
    calls = 32
    script = FULL.format(
        size=64, place=tmp_path / "disk", hook=" ".join(HOOK), calls=calls, said="x" * 1900, out=tmp_path,
        python=sys.executable,
    )  # fmt: skip
    environ = {**surroundings(), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=environ, capture_output=True, check=False)
    if ended.returncode == 77 or b"unshare" in ended.stderr:
        pytest.skip("no file system can be mounted here")
    stored = (tmp_path / "log").read_bytes().splitlines()
    waiting = (tmp_path / "spool").read_text().split()
    noted = [json.loads(line) for line in (tmp_path / "errors").read_bytes().splitlines() if line]

    assert len(stored) + len(waiting) < calls
    assert all(decode(line) for line in stored)
    assert any("disk is full" in note["error"] for note in noted)
    assert "disk is full" in (tmp_path / "doctor").read_text()
    assert len(waiting) == len((tmp_path / "query").read_bytes().splitlines())  # as soon as there is room
