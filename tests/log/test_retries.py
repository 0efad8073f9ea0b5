"""A retry of any event, acknowledged or not, is in the log exactly once; and nothing is acknowledged without a sync."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from eventlog import EventLog, InvalidEvent
from eventlog.app.write.record_once import record_once
from eventlog.fast import fastjson
from eventlog.format.errors import Busy, NotStored
from eventlog.format.events import Fact
from eventlog.store import Store, dayfile, files
from eventlog.store.append_once import append_once
from tests.support.builders import DAY, NOON, contents, fact, lines, spawn, write
from tests.support.command_line import call

TURN: dict[str, object] = {"type": "turn_end", "conversation_id": "c"}
SECOND = 10**9


@pytest.fixture
def store(tmp_path, log_dir):
    return Store(str(log_dir.parent))


@pytest.fixture
def synced(monkeypatch):
    """The names of the files that are synced, in order."""
    names: list[str] = []

    def sync(fd):
        names.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))  # noqa: PTH115, PTH119

    monkeypatch.setattr(dayfile, "_sync", sync)
    monkeypatch.setattr(os, "fsync", sync)
    return names


def _tell(store, clock, key="k", **options):
    return append_once(store, TURN, key, clock=clock, **options)


def test_a_retry_after_a_kill_at_any_byte_of_the_write_is_stored_exactly_once(store, log_dir, clock):
    before = lines(1)
    write(log_dir, before)
    _tell(store, clock, sync=False)
    whole = (log_dir / f"{DAY}.jsonl").read_bytes()
    for cut in range(len(before), len(whole) + 1):
        write(log_dir, whole[:cut])
        new = _tell(store, clock, sync=False)

        assert new == (cut < len(whole) - 1)
        assert 1 == sum(event.type == "turn_end" for event in EventLog(store, fsync=False).read())
        assert (log_dir / f"{DAY}.jsonl").read_bytes().endswith(b"}\n")


def test_a_fragment_that_was_isolated_is_no_event_either(store, log_dir, clock):
    _tell(store, clock, sync=False)
    file = log_dir / f"{DAY}.jsonl"
    write(log_dir, file.read_bytes()[:-9] + b"\n" + lines(1))

    assert _tell(store, clock, sync=False)


@pytest.mark.parametrize("back", [16, 58, 60])
def test_calls_while_the_clock_is_set_back_are_calls(store, clock, back):
    _tell(store, clock, within_ms=30_000, sync=False)
    clock.now = NOON - back * 60 * SECOND

    assert _tell(store, clock, within_ms=30_000, sync=False)


def test_already_there_is_said_of_a_hooks_event_after_a_sync_only(store, clock, synced):
    _tell(store, clock)
    synced.clear()

    assert not _tell(store, clock)
    assert [f"{DAY}.jsonl", "log"] == synced


def test_already_there_is_said_of_yesterdays_event_after_a_sync_only(store, clock, synced):
    clock.now = NOON + 12 * 3600 * SECOND - 1000
    _tell(store, clock)
    synced.clear()
    clock.now += SECOND

    assert not _tell(store, clock)
    assert [f"{DAY}.jsonl", "log"] == synced


def test_already_there_is_said_of_an_imported_event_after_a_sync_only(tmp_path, synced):
    log = EventLog(tmp_path)
    log.append(fact())
    synced.clear()

    assert [False] == [one.new for one in log.put([fact()])]
    assert [f"{DAY}.jsonl", "log"] == synced


def test_already_there_is_said_of_a_replicas_event_after_a_sync_only(tmp_path, log_dir, synced):
    write(log_dir, lines(0), f"{DAY}.laptop.jsonl")

    assert [False] == [one.new for one in EventLog(tmp_path / "store").put([fact()])]
    assert f"{DAY}.laptop.jsonl" in synced


def test_already_said_is_said_of_a_fact_after_a_sync_only(tmp_path, clock, synced):
    log = EventLog(tmp_path, clock=clock)
    record_once(log, Fact(conversation_id="c", content="x"))
    synced.clear()

    assert not record_once(log, Fact(conversation_id="c", content="x")).new
    assert [f"{DAY}.jsonl", "log"] == synced


def test_a_sync_that_fails_again_acknowledges_nothing(store, clock, monkeypatch):
    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(dayfile, "_sync", fail)
    for _ in range(2):
        with pytest.raises(NotStored, match="not made durable"):
            _tell(store, clock)


def test_a_retry_after_a_failed_sync_is_not_acknowledged_for_what_the_kernel_only_takes_for_written(
    store, log_dir, clock, monkeypatch
):
    """A kernel that drops the pages it failed to write: only those written to after the failure can reach the disk."""
    path, dropped = log_dir / f"{DAY}.jsonl", b""
    event = {**TURN, "said": "x" * 10_000}

    def fail_and_drop(_):
        nonlocal dropped
        dropped = b"\0" * (path.stat().st_size // 4096 * 4096)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(dayfile, "_sync", fail_and_drop)
        with pytest.raises(NotStored):
            append_once(store, event, "k", clock=clock)

    assert not append_once(store, event, "k", clock=clock)  # acknowledged
    path.write_bytes(dropped + path.read_bytes()[len(dropped) :])
    assert ["turn_end"] == [event.type for event in EventLog(store).read()]


def test_what_may_be_on_disk_all_the_same_is_told_with_its_id_so_that_it_is_not_stored_twice(store, clock, monkeypatch):
    def fail(_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(dayfile, "_sync", fail)
        with pytest.raises(NotStored) as caught:
            _tell(store, clock)
    sent = fastjson.dumps(caught.value.lost or {})
    said = call("append", "--stdin", "--store", store.root, stdin=sent)

    assert (0, True) == (said.code, '"skipped"' in said.out)
    assert 1 == len(list(EventLog(store).read()))


@pytest.mark.parametrize(("setting", "count"), [("never", 0), ("always", 2)])
def test_fsync_never_is_obeyed_by_hooks(store, clock, synced, setting, count):
    write(store.root, f"fsync: {setting}\n".encode(), "config.yaml")
    _tell(store, clock, "first")
    synced.clear()
    _tell(store, clock, "second")
    _tell(store, clock, "second")

    assert count == synced.count(f"{DAY}.jsonl")


def test_directories_are_synced_before_the_first_line_is_written(store, clock, synced, log_dir):
    _tell(store, clock)

    assert "store" in synced[:-2]
    assert ["log", f"{DAY}.jsonl"] == synced[-2:]


STREAM: list[dict[str, object]] = [
    {"type": "turn_end", "conversation_id": "c", "turn_id": str(n)} for n in (1, 2, 2, 3)
]


def _turns(log):
    return [event.turn_id for event in log.read()]


@pytest.mark.slow
def test_a_named_batch_sent_again_after_a_kill_at_any_byte_adds_only_what_is_missing(tmp_path, clock):
    log = EventLog(tmp_path, fsync=False, clock=clock)
    log.append_many(STREAM, batch="b")
    file = Path(log.store.log, f"{DAY}.jsonl")
    whole = file.read_bytes()
    for cut in range(0, len(whole) + 1, 7):
        file.write_bytes(whole[:cut])
        clock.now += SECOND
        log.append_many(STREAM, batch="b")

        assert Counter(["1", "2", "2", "3"]) == Counter(_turns(log))


def test_a_named_batch_is_recognised_on_another_day_and_a_longer_one_adds_the_rest(tmp_path, clock):
    log = EventLog(tmp_path, fsync=False, clock=clock)
    first = log.append_many(STREAM[:2], batch="b")
    clock.now += 40 * 3600 * SECOND
    again = log.put(STREAM, batch="b")

    assert [False, False, True, True] == [one.new for one in again]
    assert first == [one.event for one in again[:2]]
    assert [True] * 4 == [one.new for one in log.put(STREAM, batch="another")]


def test_a_stream_with_a_name_is_sent_again_on_the_command_line(tmp_path):
    stream = b"".join(fastjson.dumps(event) + b"\n" for event in STREAM)
    sent = [call("append", "--stdin", "--batch", "b", "--store", tmp_path, stdin=stream).out for _ in range(2)]

    assert (4, 4) == (sent[0].count('"ok"'), sent[1].count('"skipped"'))
    assert 2 == call("append", "turn_end", "--session", "c", "--batch", "b", "--store", tmp_path).code


def test_a_batch_whose_second_day_fails_says_what_is_stored(log, log_dir):
    (log_dir / f"{DAY}.jsonl").mkdir()

    with pytest.raises(NotStored, match=r"1 of 2 events are stored") as caught:
        log.append_many([fact(), fact(day="2026-02-01")])
    assert "nothing was written" not in caught.value.hint


KILLED = """
import os, signal, sys
from eventlog import EventLog
from eventlog.store import dayfile
real = os.write
def write(fd, data):
    real(fd, data[: int(sys.argv[2])])
    os.kill(os.getpid(), signal.SIGKILL)
dayfile.os.write = write
EventLog(sys.argv[1]).append_many([{"type": "turn_end", "conversation_id": "c", "turn_id": str(n)} for n in range(3)], batch="b")
"""


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 150, 400, 10**6])
def test_a_batch_killed_in_its_write_is_completed_by_sending_it_again(tmp_path, cut):
    child = spawn("-c", KILLED, tmp_path, cut)
    child.communicate()
    log = EventLog(tmp_path, fsync=False)
    log.append_many([{"type": "turn_end", "conversation_id": "c", "turn_id": str(n)} for n in range(3)], batch="b")

    assert -signal.SIGKILL == child.returncode
    assert ["0", "1", "2"] == sorted(_turns(log))


HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(monkeypatch):
    """Files locked by a process that is stopped."""
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    holders = []

    def hold(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        holders.append(holder := spawn("-c", HOLDER, path, stdin=-1))
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        return holder

    yield hold
    for holder in holders:
        holder.kill()
        holder.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("cache/declare.lock", ["fact", "x", "--session", "c"]),
        (f"log/{DAY}.jsonl", ["append", "--stdin"]),
        (f"log/{DAY}.jsonl", ["verify"]),
        ("cache/replay.lock", ["replay"]),
    ],
    ids=["fact", "append", "verify", "replay"],
)
def test_a_lock_whose_holder_is_stopped_is_given_up_with_an_error_that_says_what_to_do(log, held, name, verb):
    log.append(fact(1))
    holder = held(f"{log.store.root}/{name}")
    said = call(*verb, "--store", log.store.root, stdin=fastjson.dumps(fact(2)))

    assert (3, True) == (said.code, f"process {holder.pid} (" in said.err), said.err
    assert f"kill -CONT {holder.pid}" in said.err
    assert ["fact 1"] == contents(log.read())


@pytest.mark.slow
def test_a_stopped_holder_is_an_error_to_the_library_too(log, held):
    log.append(fact(1))
    held(f"{log.store.log}/{DAY}.jsonl")

    with pytest.raises(Busy):
        log.append(fact(2))


def test_an_event_no_reader_would_take_is_never_written_by_a_hook(store, clock):
    with pytest.raises(InvalidEvent, match="64 bits"):
        append_once(store, {**TURN, "turn_id": 10**30}, "k", clock=clock)
    assert [] == list(EventLog(store).read())


@pytest.mark.parametrize("target", ["01a1fe2d", "nothing", "01a1fe2d-0000-7000-8000-000000000000"])
def test_a_withdrawal_of_what_does_not_exist_is_refused(log, target):
    stored = log.append(fact())
    said = call("append", "retraction", "--session", "s", f"target={target}", "--store", log.store.root)

    assert 2 == said.code
    assert [stored] == list(log.read())


def test_a_withdrawal_names_its_event_by_any_part_no_other_has_and_the_log_names_it_whole(log):
    first, second = log.append_many([fact(1), fact(2)])
    where = ["--session", "s", "--store", log.store.root]
    several = call("append", "retraction", f"target={first.id[:8]}", *where)
    one = call("append", "retraction", f"target={second.id[-6:]}", *where)

    assert (2, 0) == (several.code, one.code)
    assert first.id in several.err
    assert second.id in several.err
    assert [second.id] == [event.target for event in log.read() if event.type == "retraction"]


def test_a_withdrawal_of_an_unknown_conversation_is_refused(log):
    log.append(fact())

    assert 2 == call("append", "retraction", "--session", "s", "conversation=d", "--store", log.store.root).code
    assert 0 == call("append", "retraction", "--session", "s", "conversation=c", "--store", log.store.root).code
