"""A live event that may be told twice is written once."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from eventlog.fast import fastjson
from eventlog.format import ids, timestamps
from eventlog.format.errors import InvalidEvent, NotStored
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from eventlog.store.append_once import append_once
from tests.support import builders
from tests.support.builders import DAY, NEXT_DAY, NOON, Clock

MIDNIGHT = timestamps.to_ms(f"{NEXT_DAY}T00:00:00.000000Z") * 1_000_000
SECOND = 10**9
TURN: dict[str, object] = {"type": "turn_end", "conversation_id": "c"}


@pytest.fixture
def store(tmp_path, log_dir):
    return Store(str(log_dir.parent))


@pytest.fixture
def tell(store, clock):
    """Tell of an event, at a time in nanoseconds; whether it was new."""

    def tell(key, now=NOON, within_ms=None, **fields):
        clock.now = now
        return append_once(store, {**TURN, **fields}, key, within_ms=within_ms, sync=False, clock=clock)

    return tell


def _lines(log_dir, day=DAY):
    return (log_dir / f"{day}.jsonl").read_bytes().splitlines()


def test_an_event_is_a_line_as_the_log_writes_it(tell, log_dir, tmp_path):
    assert tell("k")
    (event,) = EventLog(tmp_path / "store").read()

    assert (f"{DAY}T12:00:00.000000Z", "turn_end", "c") == (event.ts, event.type, event.conversation_id)
    assert _lines(log_dir) == [fastjson.dumps({"v": 1, "id": event.id, "ts": event.ts, **TURN})]


def test_its_id_is_derived_from_its_key_and_time(tell, tmp_path):
    tell("k")
    (event,) = EventLog(tmp_path / "store").read()

    assert ids.derived(NOON // 1_000_000, "k") == event.id


def test_the_same_key_again_adds_nothing_however_late_the_same_day(tell, log_dir):
    assert tell("k")
    assert not tell("k", now=NOON + 11 * 3600 * SECOND)
    assert 1 == len(_lines(log_dir))


def test_another_key_at_the_same_moment_is_another_event(tell, log_dir):
    assert tell("k")
    assert tell("l")
    assert 2 == len(_lines(log_dir))


@pytest.mark.parametrize(("later", "new"), [(29, False), (30, False), (31, True)])
def test_within_a_window_the_same_key_is_the_same_call_and_after_it_another(tell, later, new):
    tell("k", within_ms=30_000)

    assert new == tell("k", now=NOON + later * SECOND, within_ms=30_000)


def test_a_window_begins_anew_with_every_event(tell):
    tell("k", within_ms=30_000)
    tell("k", now=NOON + 31 * SECOND, within_ms=30_000)

    assert not tell("k", now=NOON + 60 * SECOND, within_ms=30_000)


def test_a_retry_after_midnight_is_recognised(tell, log_dir):
    assert tell("k", now=MIDNIGHT - SECOND)
    assert not tell("k", now=MIDNIGHT + SECOND)
    assert [f"{DAY}.jsonl"] == [file.name for file in log_dir.iterdir() if file.stat().st_size]


def test_an_event_after_midnight_is_of_the_new_day(tell, log_dir):
    tell("k", now=MIDNIGHT)

    assert 1 == len(_lines(log_dir, NEXT_DAY))


def test_midnight_that_passes_while_waiting_for_the_lock_puts_the_event_into_the_new_day(store, log_dir):
    times = iter([MIDNIGHT - 1000, MIDNIGHT, MIDNIGHT, MIDNIGHT])
    append_once(store, TURN, "k", sync=False, clock=lambda: next(times))

    assert 1 == len(_lines(log_dir, NEXT_DAY))
    assert b"" == (log_dir / f"{DAY}.jsonl").read_bytes()


def test_a_key_that_only_an_events_text_contains_is_not_told_yet(tell, log_dir):
    tell("k", status=f"…{ids.derived_tail('l')}")

    assert tell("l")


def test_a_torn_tail_costs_only_itself(tell, log_dir, tmp_path):
    builders.write(log_dir, builders.lines(1) + b'{"v":1,"id":')
    tell("k")

    assert {"turn_end", "fact"} == {event.type for event in EventLog(tmp_path / "store").read()}


def test_many_tellers_at_once_write_it_once(store, log_dir):
    def tell(_):
        return append_once(store, TURN, "k", sync=False, clock=Clock())

    with ThreadPoolExecutor(8) as pool:
        new = list(pool.map(tell, range(40)))

    assert 1 == sum(new)
    assert 1 == len(_lines(log_dir))


def test_an_event_too_long_for_a_line_is_refused_and_leaves_nothing(tell, log_dir):
    with pytest.raises(InvalidEvent, match="bytes long"):
        tell("k", status="x" * (fastjson.MAX_LINE + 1))

    assert [] == _lines(log_dir)


def test_a_bad_sector_in_the_log_of_today_costs_no_event_after_it(tell, log_dir, monkeypatch):
    for number in range(20):
        tell(f"k{number}", text="x" * 1000)

    def read_at(fd, size, offset):
        if offset < 4096:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return os.pread(fd, size, offset)

    monkeypatch.setattr("eventlog.store.files.read_at", read_at)
    monkeypatch.setattr("eventlog.store.dayfile.read_at", read_at)

    assert [True, False] == [tell("l"), tell("l")]
    assert 21 == len(_lines(log_dir))


def test_a_log_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "log").write_text("in the way")

    with pytest.raises(NotStored):
        append_once(Store(str(tmp_path)), TURN, "k")
