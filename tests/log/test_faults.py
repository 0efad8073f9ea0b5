"""System calls fail, the disk is full, files change under the lock: all of an append, or none of it."""

import errno
import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from eventlog import EventLog, NotStored
from eventlog.format.errors import system_reason
from eventlog.store import dayfile
from tests.support.builders import contents, day_of, kinds, line, lines, write

CALLS = ("open", "mkdir", "fstat", "stat", "lseek", "read", "write", "ftruncate", "fsync", "fdatasync")


class FaultyOs:
    """The module os, of whose system calls some fail; `plan` maps the number of a call to its fault."""

    def __init__(self, plan):
        self.plan = plan
        self.calls = 0

    def __getattr__(self, name):
        real = getattr(os, name)
        return self._failing(real) if name in CALLS else real

    def _failing(self, real):
        def call(*args):
            self.calls += 1
            fault = self.plan(self.calls, real.__name__)
            if isinstance(fault, OSError):
                raise fault
            if fault == "short" and real is os.write:
                fd, data = args
                return os.write(fd, data[: len(data) // 2])
            return real(*args)

        return call


@contextmanager
def failing(plan):
    faulty = FaultyOs(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dayfile, "os", faulty)
        patch.setattr(dayfile, "_sync", faulty.fdatasync)
        yield faulty


def fact(content):
    return {"type": "fact", "conversation_id": "c", "content": content}


def broken(number):
    return OSError(number, os.strerror(number))


@pytest.mark.slow
@pytest.mark.parametrize("there", [b"", lines(0), lines(0) + line(1)[:30]])
@pytest.mark.parametrize("fault", [broken(errno.EIO), broken(errno.ENOSPC), "short"])
def test_whatever_call_fails_a_batch_is_stored_whole_or_not_at_all(tmp_path, there, fault):
    nth, finished = 0, False
    while not finished:
        nth += 1
        log = EventLog(tmp_path / str(nth), clock=lambda: 10**18)
        if there:
            write(log.store.log, there, "2001-09-09.jsonl")
        with failing(lambda number, _, nth=nth: fault if number == nth else None) as faulty:
            try:
                acknowledged = bool(log.append_many([fact("one"), fact("two")]))
            except NotStored:
                acknowledged = False
        finished = faulty.calls < nth
        log.append(fact("after"))
        stored = [text for text in contents(log.read()) if text in ("one", "two", "after")]

        assert stored in (["one", "two", "after"], ["after"])
        assert len(stored) == 3 or not acknowledged
        assert acknowledged or fault != "short"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG])
def test_a_short_write_that_cannot_go_on_is_cut_back(log, log_dir, number):
    file = write(log_dir, lines(0))
    writes = iter(["short", broken(number)])

    with failing(lambda _, name: next(writes) if name == "write" else None), pytest.raises(NotStored) as caught:
        log.append(fact("x"))
    assert lines(0) == Path(file).read_bytes()
    assert system_reason(broken(number))[0] in str(caught.value)
    assert (file, True) == (caught.value.where, bool(caught.value.hint))


def test_where_even_cutting_back_fails_the_fragment_costs_only_itself(log, log_dir):
    file = write(log_dir, lines(0))
    faults = {"write": iter(["short", broken(errno.ENOSPC)]), "ftruncate": iter([broken(errno.EIO)])}
    with failing(lambda _, name: next(faults[name]) if name in faults else None), pytest.raises(NotStored):
        log.append(fact("lost"))
    log.append(fact("after"))
    found, damage = day_of(file).entries()

    assert (["fact 0", "after"], ["not-json"]) == (contents(entry.event for entry in found), kinds(damage))


def test_a_failed_sync_is_reported_and_not_tried_again(tmp_path):
    syncs = []

    def plan(_, name):
        syncs.append(name) if name == "fdatasync" else None
        return broken(errno.EIO) if name == "fdatasync" else None

    with failing(plan), pytest.raises(NotStored, match="not made durable"):
        EventLog(tmp_path).append(fact("x"))
    assert ["fdatasync"] == syncs


def test_an_interrupted_write_leaves_nothing(log, log_dir):
    file = write(log_dir, lines(0))

    def interrupt(_, name):
        if name == "write":
            raise KeyboardInterrupt

    with failing(interrupt), pytest.raises(KeyboardInterrupt):
        log.append(fact("x"))
    assert lines(0) == Path(file).read_bytes()


@contextmanager
def largest_file(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_may_not_grow_keeps_whole_lines_only(log, log_dir):
    before = lines(*range(5))
    file = write(log_dir, before)

    with largest_file(len(before) + 20), pytest.raises(NotStored, match="may not grow any further"):
        log.append(fact("x" * 100))
    assert before == Path(file).read_bytes()


@pytest.fixture
def tiny_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_full_disk_keeps_what_was_acknowledged_and_nothing_else(tiny_disk):
    log = EventLog(tiny_disk / "store")
    acknowledged = []

    def fill():
        while True:
            acknowledged.append(log.append(fact("x" * 585)))

    with pytest.raises(NotStored, match="the disk is full"):
        fill()
    [day] = log.days()

    assert (acknowledged, []) == day.load()
    assert Path(day.files[0]).read_bytes().endswith(b"}\n")
