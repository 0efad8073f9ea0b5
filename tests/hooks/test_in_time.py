"""Whatever blocks, the hook is gone within its budget, and the event it could not append is appended later, once."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from eventlog import NotStored
from eventlog.log.event_log import EventLog
from eventlog.store import Store, spool
from eventlog.store.dayfile import DayFile
from tests.support import hook_calls
from tests.support.command_line import call
from tests.support.hook_calls import HOOK, errors_of, patient
from tests.support.host_calls import alone, events, tell
from tests.support.payloads import claude, cursor, data
from tests.support.repositories import git, repository
from tests.support.tree import IMPORT_PATH

pytestmark = pytest.mark.slow

QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-1")
LONG = 120  # a hook that waits for a lock, a FIFO or a pipe would wait for ever: this only bounds the test
WAITS_BRIEFLY = patient("STDIN", "READ", "APPEND", "ANSWER", "LAST", "LOCK=0.05")  # for a lock that is held anyway
WAITS_AN_HOUR = patient("STDIN", "READ", "APPEND", "ANSWER", "LAST", "LOCK")
READS_BRIEFLY = patient("STDIN=0.1", "READ", "APPEND", "ANSWER", "LAST", "LOCK=0.05")


@pytest.fixture
def store(tmp_path):
    return alone(tmp_path / "store")


def run(store, payload, *argv, hook=HOOK, **options):
    return hook_calls.run(store, payload, *argv, hook=hook, timeout=LONG, **options)


def given_up(store, *told, **options):
    """A hook that waits for the lock, but not for long."""
    return run(store, *told, hook=WAITS_BRIEFLY, **options)


@contextmanager
def locked(store):
    """Another process holds every file of the log under flock."""
    code = (
        "import fcntl,os,sys\nkept=[os.open(path,os.O_RDWR) for path in sys.argv[1:]]\n"
        "[fcntl.flock(fd,fcntl.LOCK_EX) for fd in kept]\nprint(flush=True)\nsys.stdin.read()"
    )
    paths = sorted(Path(store, "log").iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", code, *paths], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        yield
        assert holder.stdin
        holder.stdin.close()


def began(store):
    """A log that is there."""
    tell(store, claude("Notification", message="first"))
    return store


def types(store):
    return [event.type for event in events(store)]


def spooled(store):
    return spool.waiting(Store(str(store)))


# ------------------------------------------------------------------------------------------------------- a locked log


def test_an_event_that_finds_the_log_locked_waits_in_the_spool_and_is_appended_once_by_the_next_hook(store):
    began(store)
    with locked(store):
        ended = given_up(store, cursor("sessionEnd", reason="x"), "--agent", "cursor")
        between = types(store)
    waited = spooled(store)
    run(store, QUIET)
    run(store, cursor("sessionEnd", reason="x"), "--agent", "cursor")  # the host tries again

    assert (0, b"{}", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert ["host_event"] == between
    assert 1 == len(waited)
    assert [] == spooled(store)
    assert ["host_event", "session_end", "host_event"] == types(store)
    assert [] == errors_of(store)


def test_an_event_keeps_the_time_it_happened(store):
    began(store)
    with locked(store):
        given_up(store, cursor("stop", status="aborted"))
        before = time.time_ns()
    EventLog(store).append({"type": "turn_end", "conversation_id": "later"})
    call("query", "--store", store)
    (early, late) = events(store, "turn_end")

    assert ("c0de", "later") == (early.conversation_id, late.conversation_id)
    assert early.ts < late.ts
    assert int(early.id[:8] + early.id[9:13], 16) <= before // 1_000_000


def test_where_one_hook_waited_the_next_ones_of_a_turn_do_not(store):
    """A turn of eight hooks takes no longer than one that waits and seven that do not, where each would wait an hour."""
    began(store)
    with locked(store):
        given_up(store, QUIET)
        for call_id in range(7):
            run(store, {**QUIET, "tool_use_id": f"again-{call_id}"}, hook=WAITS_AN_HOUR)
    assert 8 == len(spooled(store))
    call("replay", "--store", store)

    assert 9 == len(events(store))


@pytest.mark.parametrize("verb", [("query",), ("replay",), ("sessions",), ("fact", "x", "--session", "s"), ("settle",)])
def test_a_verb_takes_in_what_waits(store, verb):
    began(store)
    with locked(store):
        given_up(store, QUIET)
    call(*verb, "--store", store)

    assert [] == spooled(store)
    assert 2 == len(events(store, "host_event"))


def test_a_verb_does_not_wait_for_a_log_that_is_still_locked(store):
    began(store)
    with locked(store):
        given_up(store, QUIET)
        ran = call("sessions", "--store", store)

    assert 0 == ran.code
    assert 1 == len(spooled(store))


def test_doctor_tells_what_waits_and_changes_nothing(store):
    began(store)
    with locked(store):
        given_up(store, QUIET)
    ran = call("doctor", "--store", store)

    assert 1 == ran.code
    assert "1 event waits in" in ran.out
    assert 1 == len(spooled(store))


def test_two_registrations_that_both_find_the_log_locked_are_one_event(store):
    began(store)
    with locked(store):
        for _ in range(2):
            given_up(store, claude("Stop", prompt_id="p-1"))
    waited = len(spooled(store))
    call("query", "--store", store)

    assert 2 == waited
    assert ["host_event", "turn_end"] == types(store)


def test_who_is_killed_between_appending_and_removing_appends_once(store, monkeypatch):
    began(store)
    with locked(store):
        given_up(store, QUIET)

    class Killed(BaseException):
        pass

    def killed(_):
        raise Killed

    monkeypatch.setattr("eventlog.store.spool.os.unlink", killed)
    with pytest.raises(Killed):
        spool.take_in(Store(str(store)))
    monkeypatch.undo()
    appended = len(events(store))
    spool.take_in(Store(str(store)))

    assert (2, 2, []) == (appended, len(events(store)), spooled(store))


def test_many_who_take_in_at_once_append_once(store):
    began(store)
    with locked(store):
        for turn in range(6):
            given_up(store, claude("Stop", prompt_id=f"p-{turn}"))
    running = [
        subprocess.Popen([*HOOK, "--store", store], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(6)
    ]
    for hook in running:
        hook.communicate(data(QUIET))

    assert [] == spooled(store)
    assert ["host_event", *["turn_end"] * 6, "host_event"] == types(store)


DEEP = b'{"ns":1,"key":"k","within_ms":null,"event":{"type":"fact","deep":' + b"[" * 600 + b"]" * 600 + b"}}"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"ns":1}', b'{"ns":1,"key":"k","within_ms":null,"event":7}',
     b'{"ns":1e999,"key":"k","within_ms":null,"event":{}}', DEEP],
    ids=range(7),
)  # fmt: skip
def test_what_is_no_event_is_set_aside_and_stops_nobody(store, content):
    began(store)
    place = store / "spool"
    place.mkdir()
    (place / "0000000000000-x.json").write_bytes(content)
    os.mkfifo(place / "0000000000001-x.json")
    run(store, QUIET)

    assert 2 == len(events(store))
    assert (place / "0000000000000-x.refused").exists()
    assert "0000000000000-x.refused" in call("doctor", "--store", store).out


def test_a_start_that_finds_the_log_locked_is_given_what_is_known(store, tmp_path):
    call("fact", "Prices are in cents", "--session", "s", "--store", store, "--project", tmp_path)
    with locked(store):
        ended = run(store, claude("SessionStart", source="startup", cwd=str(tmp_path)), hook=WAITS_BRIEFLY)

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert b"Prices are in cents" in ended.stdout
    assert b"eventlog summary" in ended.stdout or b"summary --session" in ended.stdout


def test_a_start_where_nothing_can_be_written_is_given_what_is_known(store, tmp_path, monkeypatch):
    call("fact", "Prices are in cents", "--session", "s", "--store", store, "--project", tmp_path)
    call("replay", "--store", store)

    def full(*_):
        raise NotStored("not stored: the disk is full")

    monkeypatch.setattr(DayFile, "__enter__", full)
    (store / "spool").write_bytes(b"in the way")
    started = hook_calls.tell(store, claude("SessionStart", source="startup", cwd=str(tmp_path)))

    assert b"Prices are in cents" in started
    assert ["session_start"] == [error["event"]["type"] for error in errors_of(store) if error["event"]]


# ------------------------------------------------------------------------------------------------------- a slow disk


def slowly_synced(hook):
    """The hook where the disk syncs more slowly than a hook waits for a lock, and no signal ends a sync."""
    python, *options, script, path, steps = hook
    code = (
        "import os, posix, runpy, signal, sys, time\nsync = os.fdatasync\ndef slow_sync(fd):\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGALRM,)); time.sleep(0.2); sync(fd)\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))\n"
        "for module in (os, posix):\n    module.fdatasync = module.fsync = slow_sync\n"
        "del sys.argv[0]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    )
    return [python, *options, "-c", code, script, path, steps]


def test_an_event_that_is_synced_slowly_is_not_left_in_the_spool_as_well(store):
    began(store)
    (store / "spool").write_bytes(b"")  # what would be left here fails, and is noted
    ended = run(store, claude("SessionStart", source="startup"), hook=slowly_synced(WAITS_BRIEFLY))

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "session_start" in types(store)
    assert [] == errors_of(store)


@pytest.mark.parametrize(
    ("payload", "waits"),
    [
        (claude("SessionStart", source="startup"), ("READ=0.1", "LOCK")),
        (claude("SessionStart", source="startup"), ("READ", "LOCK=0.05")),
        (QUIET, ("READ", "LOCK=0.05")),
    ],
)
def test_the_first_event_of_a_store_on_a_slow_disk_is_not_lost(tmp_path, payload, waits):
    store = tmp_path / "new" / "store"
    ended = run(store, payload, hook=slowly_synced(patient("STDIN", *waits, "APPEND", "ANSWER", "LAST")))

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert ([], 1) == (errors_of(store), len(events(store)) + len(spooled(store)))


# ------------------------------------------------------------------------------------------------------ what blocks


@contextmanager
def never_closed(payload):
    """A pipe that holds the payload and has no end."""
    reading, writing = os.pipe()
    os.write(writing, data(payload))
    yield reading
    os.close(reading)
    os.close(writing)


def test_a_host_that_never_closes_its_pipe_has_its_event_stored(store):
    command = [*READS_BRIEFLY, "--agent", "cursor", "--store", store]
    with never_closed(cursor("sessionEnd", reason="x")) as pipe:
        ended = subprocess.run(command, stdin=pipe, capture_output=True, timeout=LONG, check=False)

    assert (b"{}", b"", 0) == (ended.stdout, ended.stderr, ended.returncode)
    assert ["session_end"] == types(store)


def test_a_host_that_never_closes_its_pipe_while_the_log_is_locked_has_its_event_in_the_spool(store):
    began(store)
    with locked(store), never_closed(QUIET) as pipe:
        command = [*READS_BRIEFLY, "--store", store]
        ended = subprocess.run(command, stdin=pipe, capture_output=True, timeout=LONG, check=False)

    assert 0 == ended.returncode
    assert 1 == len(spooled(store))


def test_an_alarm_the_host_has_blocked_rings_all_the_same(store):
    began(store)

    def blocked():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})

    with locked(store):
        ended = given_up(store, QUIET, preexec_fn=blocked)

    assert 0 == ended.returncode
    assert 1 == len(spooled(store))


GIT = [".git", ".git/HEAD", ".git/commondir", ".git/config", ".git/packed-refs", ".git/gitdir"]


@pytest.mark.parametrize("place", GIT)
def test_a_fifo_under_git_costs_nothing(store, tmp_path, place):
    path = tmp_path / "repo" / place
    if place == ".git":
        path.parent.mkdir()
    else:
        repository(tmp_path / "repo")
        git(tmp_path / "repo", "pack-refs", "--all")
        path.unlink(missing_ok=True)
    os.mkfifo(path)
    ended = run(store, claude("SessionStart", source="startup", cwd=str(tmp_path / "repo")))
    (start,) = events(store, "session_start")

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert b"additionalContext" in ended.stdout
    assert str(tmp_path / "repo") == start.project


@pytest.mark.parametrize("kind", ["FIFO", "device without end"])
def test_a_day_file_that_is_none_costs_a_turns_end_nothing(store, kind):
    began(store)
    path = store / "log" / "2020-01-01.jsonl"
    os.mkfifo(path) if kind == "FIFO" else path.symlink_to("/dev/zero")
    for turn in range(4):
        ended = run(store, claude("Stop", prompt_id=f"p-{turn}"))

        assert (0, b"") == (ended.returncode, ended.stderr)
    path.unlink()
    assert 4 == types(store).count("turn_end")


def test_a_config_that_is_a_fifo_costs_no_event_and_no_answer(store):
    began(store)
    os.mkfifo(store / "config.yaml")
    ended = run(store, claude("SessionStart", source="startup", cwd=str(store)))

    assert b"additionalContext" in ended.stdout
    assert "session_start" in types(store)


def test_a_c_call_that_never_comes_back_is_ended_too(tmp_path):
    code = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[1])\nfrom eventlog.hooks import deadline\n"
        "deadline.BUDGET = 0.2\ndeadline.start(); deadline.set_stage(deadline.APPEND)\n"
        "mutex = ctypes.create_string_buffer(64); lock = ctypes.PyDLL(None).pthread_mutex_lock\n"
        "lock(mutex); lock(mutex); print('came back')"  # waits for itself, holding the interpreter; no signal wakes it
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, IMPORT_PATH], capture_output=True, timeout=LONG, check=False
    )

    assert (b"", b"") == (ended.stdout, ended.stderr)


def test_a_user_who_may_start_no_more_threads_loses_no_event(store):
    code = (
        "import faulthandler, sys; sys.path.insert(0, sys.argv[1])\nfrom eventlog.hooks import hook_main as hook\n"
        "def start(*_, **__): raise RuntimeError('unable to start watchdog thread')\n"
        "faulthandler.dump_traceback_later = start; hook.main(sys.argv[2:])"
    )
    ended = run(store, claude("Stop", prompt_id="p1"), hook=[sys.executable, "-I", "-c", code, IMPORT_PATH])

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "turn_end" in types(store)


def test_ctrl_c_in_the_terminal_of_the_host_costs_no_event(store):
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[1])\nfrom eventlog.hooks import hook_main as hook\n"
        "read = hook._read_all\nhook._read_all = lambda fd: os.kill(os.getpid(), signal.SIGINT) or read(fd)\n"
        "hook.main(sys.argv[2:])"
    )
    command = [sys.executable, "-I", "-c", code, IMPORT_PATH]
    ended = run(store, claude("Stop", prompt_id="p1"), hook=command)

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "turn_end" in types(store)


@pytest.mark.parametrize(("agent", "silence"), [("cursor", b"{}"), ("gemini", b"{}"), ("claude", b"")])
def test_where_nothing_else_can_be_done_in_time_the_host_is_told_so_in_its_words(tmp_path, agent, silence):
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\nfrom eventlog.hooks import hook_main as hook\n"
        "hook.handle = lambda *_: time.sleep(600)\ndeadline = hook.deadline\n"
        "deadline.APPEND = deadline.READ = deadline.LAST = 0.3\nhook.main(sys.argv[2:])"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, IMPORT_PATH, "--agent", agent, "--store", tmp_path],
        input=data(QUIET), capture_output=True, timeout=LONG, check=False,
    )  # fmt: skip

    assert (0, silence, b"") == (ended.returncode, ended.stdout, ended.stderr)


def test_locks_of_this_process_are_not_held_when_the_alarm_rings(store):
    """What gives up lets go: the next writer in the same process finds the log free."""
    began(store)
    with locked(store):
        given_up(store, QUIET)
    (path,) = (store / "log").iterdir()
    with path.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
