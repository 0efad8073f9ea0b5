"""Writers are killed, disks fill up, files are replaced: what was acknowledged is there, exactly once."""

import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.builders import NOON, contents, day_of, kinds, line, lines, write, writer
from tests.support.effort import rounds, seed

WRITERS, APPENDS, ENDLESS = 4, 120, 10**9


@pytest.mark.slow
@pytest.mark.parametrize("size", [300, 9000])
@pytest.mark.fuzz
@pytest.mark.parametrize("round_", range(rounds(fixed=1, fuzz=16)))
def test_a_writer_killed_at_any_moment_costs_no_acknowledged_event(log, round_, size):
    chance = random.Random(f"{seed()} {round_} {size}")
    with ExitStack() as stack:
        counts = [ENDLESS, *[APPENDS] * (WRITERS - 1)]  # the one that is killed can't be done before
        writers = [stack.enter_context(writer(log.store.root, n, c, size=size)) for n, c in enumerate(counts)]
        promised = [writers[0].stdout.readline().strip() for _ in range(chance.randrange(1, APPENDS // 2))]
        time.sleep(chance.random() / 1000)
        writers[0].kill()
        promised += [one for process in writers for one in process.stdout.read().split()]
    damage = [bad for day in log.days() for bad in day.entries()[1]]
    there = Counter(event.id.encode() for event in log.read())

    assert [-signal.SIGKILL, *[0] * (WRITERS - 1)] == [process.returncode for process in writers]
    assert {} == {one: there[one] for one in promised if there[one] != 1}
    assert len(there) - len(promised) in (0, 1)  # written, but killed before it was acknowledged
    assert kinds(damage) in ([], ["not-json"], ["pending"])


@pytest.mark.slow
def test_a_cut_at_any_byte_costs_only_the_line_it_is_in(log, log_dir, clock):
    whole = lines(0, 1, 2)
    clock.now = NOON + 10**12
    for cut in range(len(whole) + 1):
        file = write(log_dir, whole[:cut])
        added = log.append({"type": "fact", "conversation_id": "c", "content": "after"})
        found, damage = day_of(file).entries()

        left = whole[:cut].split(b"\n")
        intact = sum(one in (line(0), line(1), line(2)) for one in left)
        torn = bool(left[-1]) and left[-1] not in (line(0), line(1), line(2))
        assert [f"fact {n}" for n in range(intact)] + ["after"] == contents(entry.event for entry in found)
        assert added == found[-1].event
        assert ["not-json"] * torn == kinds(damage)
        assert [cut - len(left[-1])] * torn == [one.offset for one in damage]


def test_a_torn_tail_stays_in_the_file(log, log_dir):
    torn = lines(0) + line(1)[:40]
    file = write(log_dir, torn)
    log.append({"type": "turn_end", "conversation_id": "c"})

    assert Path(file).read_bytes().startswith(torn + b"\n")


def test_the_fragment_is_pending_until_the_next_append(log, log_dir):
    file = write(log_dir, lines(0) + line(1)[:40])
    before = kinds(day_of(file).entries()[1])
    log.append({"type": "turn_end", "conversation_id": "c"})

    assert (["pending"], ["not-json"]) == (before, kinds(day_of(file).entries()[1]))


def test_an_event_whose_newline_alone_was_lost_is_an_event(log, log_dir, clock):
    write(log_dir, lines(0) + line(1))
    clock.now = NOON + 10**12
    log.append({"type": "fact", "conversation_id": "c", "content": "after"})

    assert ["fact 0", "fact 1", "after"] == contents(log.read())
