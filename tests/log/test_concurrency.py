"""Many processes and threads at once: nothing lost, nothing twice, nothing glued, nothing half read."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.log import days
from tests.support.builders import fact, kinds, spawn, writer
from tests.support.effort import rounds

pytestmark = pytest.mark.fuzz
WRITERS, APPENDS = rounds(fixed=4, fuzz=8), rounds(fixed=120, fuzz=250)


def start(stack, store):
    return [stack.enter_context(writer(store, name, APPENDS)) for name in range(WRITERS)]


@pytest.mark.slow
def test_appends_of_many_processes_are_all_there_once_and_in_their_order(log):
    with ExitStack() as stack:
        promised = [process.stdout.read().decode().split() for process in start(stack, log.store.root)]
    damage = [bad for day in log.days() for bad in day.entries()[1]]
    there = list(log.entries())

    assert [len(one) for one in promised] == [APPENDS] * WRITERS
    assert promised == [[e.event.id for e in there if e.event.conversation_id == str(n)] for n in range(WRITERS)]
    assert (len(there), damage) == (WRITERS * APPENDS, [])


@pytest.mark.slow
def test_a_reader_beside_writers_sees_whole_events_and_only_ever_more_of_them(log):
    seen: set[str] = set()
    broken = set()
    with ExitStack() as stack:
        running = start(stack, log.store.root)
        while any(process.poll() is None for process in running):
            for day in log.days():
                events, damage = day.load()
                broken |= set(kinds(damage))
                now = {event.id for event in events}
                assert seen <= now
                seen = now

    assert broken <= {"pending"}
    assert len(list(log.read())) == WRITERS * APPENDS


@pytest.mark.slow
def test_the_session_beside_its_writers_only_grows(log):
    sizes = [0]
    with ExitStack() as stack:
        running = start(stack, log.store.root)
        while any(process.poll() is None for process in running):
            log.index.catch_up()
            sizes.append(len(log.session("0")))

    assert sorted(sizes) == sizes
    assert len(log.session("0")) == APPENDS


BATCH = """
import sys
from eventlog import EventLog
from tests.support.builders import fact
sys.stdin.read()
new = EventLog(sys.argv[1], fsync=False).put(fact(number) for number in range(100))
print(sum(one.new for one in new))
"""


@pytest.mark.slow
def test_the_same_batch_from_many_processes_at_once_is_stored_once(log):
    with ExitStack() as stack:
        running = [stack.enter_context(spawn("-c", BATCH, log.store.root, stdin=-1)) for _ in range(WRITERS)]
        for process in running:
            process.stdin.close()
        new = [int(process.stdout.read()) for process in running]

    assert sorted(new) == [0] * (WRITERS - 1) + [100]
    assert 100 == sum(len(list(days.scan(file, day.date))) for day in log.days() for file in day.files)


@pytest.mark.slow
def test_appends_of_many_threads_are_all_there_once(tmp_path):
    log = EventLog(tmp_path, fsync=False)
    with ThreadPoolExecutor(WRITERS) as pool:
        stored = list(pool.map(lambda n: log.append({"type": "turn_end", "conversation_id": str(n)}), range(500)))

    assert Counter(event.id for event in stored) == Counter(event.id for event in log.read())


def test_the_times_of_one_log_object_are_all_different_whatever_the_threads(log):
    with ThreadPoolExecutor(WRITERS) as pool:
        times = list(pool.map(lambda _: log.append({"type": "turn_end", "conversation_id": "c"}).ts, range(200)))

    assert len(times) == len(set(times))


def test_many_threads_build_one_index(log):
    log.append_many(fact(number, conversation_id=str(number % 7)) for number in range(200))
    with ThreadPoolExecutor(WRITERS) as pool:
        assert all(pool.map(lambda _: log.index.catch_up(), range(50)))

    assert [200] == [sum(len(log.session(str(n))) for n in range(7))]
    assert ["conversations.index"] == [path.name for path in Path(log.store.cache).iterdir()]
