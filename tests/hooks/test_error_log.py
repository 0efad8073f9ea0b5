"""What hooks could not do is noted, with everything that would be lost without."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from eventlog.format.codec import decode
from eventlog.hooks import disk_reserve, error_log
from eventlog.store import Store
from tests.support.command_line import call, surroundings
from tests.support.hook_calls import HOOK, errors_of, events_of, run, tell
from tests.support.payloads import claude
from tests.support.tree import IMPORT_PATH

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_failure_is_noted_also_where_the_stage_that_failed_ends_meanwhile(store):
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\nfrom eventlog.hooks import deadline, error_log, record\n"
        "from eventlog.store import Store\nappend = error_log.append_bounded\n"
        "def slow(*args): time.sleep(0.3); append(*args)\n"
        "error_log.append_bounded = slow\ndeadline.start(); deadline.set_stage(0.2)\n"
        "record.note(Store(sys.argv[2]), ValueError('early'), b'')"
    )
    subprocess.run([sys.executable, "-I", "-c", code, IMPORT_PATH, store], check=True)

    assert ["ValueError: early"] == [error["error"] for error in errors_of(store)]


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
{python} -m eventlog doctor >> {out}/doctor
{python} -m eventlog > {out}/brief
"""
NEVER_OPENED = """
mount -t tmpfs -o size=64k none {place} || exit 77
head -c 65536 /dev/zero > {place}/fill
for number in 1 2 3 4; do
    echo '{{"session_id":"s","hook_event_name":"Stop","cwd":"/"}}' | {hook} --agent claude --store {place}/store &
done
wait
rm {place}/fill
{python} -m eventlog doctor --store {place}/store > {out}/doctor
{python} -m eventlog --store {place}/store > {out}/brief
"""


@pytest.mark.slow
def test_a_full_disk_leaves_a_trace_of_what_is_lost_and_doctor_tells(tmp_path):
    (tmp_path / "disk").mkdir()
    calls = 16
    script = FULL.format(
        size=32, place=tmp_path / "disk", hook=" ".join(HOOK), calls=calls, said="x" * 1900, out=tmp_path,
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
    lost = calls - len(stored) - len(waiting) - sum("event" in note for note in noted)
    assert f"{lost} hook events could not be stored, from " in (tmp_path / "doctor").read_text()
    assert f"{lost} hook events were lost, the last " in (tmp_path / "brief").read_text()


@pytest.mark.slow
def test_what_a_full_disk_takes_from_a_store_that_was_never_opened_is_counted_too(tmp_path):
    (tmp_path / "disk").mkdir()
    script = NEVER_OPENED.format(place=tmp_path / "disk", hook=" ".join(HOOK), out=tmp_path, python=sys.executable)
    ended = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=surroundings(), capture_output=True, check=False)
    if ended.returncode == 77 or b"unshare" in ended.stderr:
        pytest.skip("no file system can be mounted here")

    assert b"" == ended.stderr
    assert "4 hook events could not be stored, from " in (tmp_path / "doctor").read_text()
    assert "4 hook events were lost, the last " in (tmp_path / "brief").read_text()


# ------------------------------------------------------------------------------------------------ what is counted


def lost_of(store):
    found = error_log.lost(store)
    assert found
    return found


@pytest.fixture
def no_notes(nowhere):
    """A store in which nothing can be written, and none of it noted."""
    (nowhere / "cache").write_text("in the way")
    return nowhere


def test_what_can_be_counted_nowhere_in_the_store_is_counted_beside_it(no_notes):
    tell(no_notes, QUIET)
    tell(no_notes, QUIET)
    lost = lost_of(Store(str(no_notes)))

    assert (2, (f"{no_notes}.lost",)) == (lost.events, lost.counters)


def test_a_failure_that_lost_nothing_or_is_noted_is_not_counted(store, monkeypatch):
    tell(store, b"no payload")
    disk_reserve.reserve(Store(str(store)))
    monkeypatch.setattr("eventlog.hooks.safety_nets.answer", lambda *_, **__: 1 / 0)
    tell(store, QUIET)
    monkeypatch.setattr("eventlog.store.files.append_bounded", _full)
    tell(store, claude("PostToolUse", tool_use_id="t-10"))

    assert (2, None) == (len(events_of(store)), error_log.lost(Store(str(store))))
    assert 3 == len(error_log.failures(Store(str(store))))


def _full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_all_that_are_lost_at_once_are_counted_and_when(store, monkeypatch):
    found = Store(str(store))
    disk_reserve.reserve(found)

    def lose():
        for _ in range(50):
            disk_reserve.count(found)

    threads = [threading.Thread(target=lose) for _ in range(4)]
    before = time.time_ns()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = lost_of(found)
    first = lost.first_ns
    disk_reserve.count(found)

    assert (200, (found.cached("hooks-lost"),)) == (lost.events, lost.counters)
    assert before <= lost.first_ns
    assert (201, first) == lost_of(found)[:2]
    assert 0 == os.stat(found.cached("hooks-lost")).st_blocks  # noqa: PTH116


def test_what_is_lost_is_told_by_the_brief_for_a_week_and_by_doctor_until_it_is_seen_to(home, monkeypatch):
    call("fact", "x", "--session", "s", "--project", "")
    found = Store(str(home / ".eventlog"))
    disk_reserve.count(found)
    told = [call().out, call("doctor").out]
    week_later = time.time_ns() + 8 * 86_400 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: week_later)
    later = [call().out, call("doctor").out]
    Path(found.cached("hooks-lost")).unlink()
    after = [call().out, call("doctor").out]

    assert ["1 hook event was lost" in told[0], "1 hook event could not be stored" in told[1]] == [True, True]
    assert ["hook event" in later[0], "1 hook event could not be stored" in later[1]] == [False, True]
    assert not any("hook event" in said for said in after)
