"""An open log keeps the descriptor of the day's file: nothing of what an append promises depends on it."""

import errno
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eventlog import EventLog, NotStored, TurnEnd
from eventlog.store import dayfile, files
from tests.support.builders import DAY, DAY_NS, NEXT_DAY, kinds
from tests.support.effort import rounds

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
beside_threads = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # those of the test runner


@pytest.fixture
def turns(log):
    """Append the end of a turn of that number."""

    def append(number):
        return log.append(TurnEnd(conversation_id="c", turn_id=str(number)))

    append(0)
    return append


def path(log):
    return Path(dayfile.path_of(log.store.log, DAY))


def said(log):
    return [event.turn_id for event in log.read()]


def damage(log):
    return kinds(bad for day in log.days() for bad in day.entries()[1])


def shorten_the_first_write(monkeypatch):
    """Let the next write take ten bytes, those after it all; and list the sizes asked for."""
    write, sizes = os.write, []

    def short(fd, data):
        sizes.append(len(data))
        return write(fd, data if len(sizes) > 1 else data[:10])

    monkeypatch.setattr(os, "write", short)
    return sizes


def descriptors():
    return len(os.listdir("/dev/fd"))  # noqa: PTH208


def test_a_file_is_opened_once_and_let_go_with_the_log(tmp_path):
    before = descriptors()
    log = EventLog(tmp_path, fsync=False)
    for number in range(3):
        log.append(TurnEnd(conversation_id="c", turn_id=str(number)))

    assert before + 1 == descriptors()
    del log
    assert before == descriptors()


def _removed(file):
    file.unlink()


def _moved_away(file):
    file.rename(file.with_name("elsewhere"))


def _replaced(file):
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    other.replace(file)


def _truncated(file):
    os.truncate(file, 0)


def _cut_in_a_line(file):
    os.truncate(file, file.stat().st_size - 5)


def _torn_by_another(file):
    with file.open("ab") as opened:
        opened.write(b'{"torn')


@pytest.fixture
def settled(tmp_path, monkeypatch):
    """A log by the clock of the machine, whose directory has been as it is for so long that its time tells."""
    log, asked, lstat = EventLog(tmp_path / "store", fsync=False), [], os.lstat
    for number in range(4):
        log.append(TurnEnd(conversation_id="c", turn_id=str(number)))
        time.sleep(0.05)

    def noted(path):
        asked.append(path)
        return lstat(path)

    with monkeypatch.context() as watched:
        watched.setattr(os, "lstat", noted)
        log.append(TurnEnd(conversation_id="c", turn_id="4"))
    assert asked == []
    return log


def file_of(log):
    return max(Path(log.store.log).glob("*.jsonl"))


def _directory_replaced(file):
    aside = file.parent.with_name("aside")
    file.parent.rename(aside)
    shutil.copytree(aside, file.parent)


def _replaced_and_the_time_set_back(file):
    before = file.parent.stat()
    _replaced(file)
    os.utime(file.parent, ns=(before.st_atime_ns, before.st_mtime_ns))


def _led_elsewhere(file):
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


_ALL = ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("change", "kept", "harm"),
    [
        (_removed, [], []),
        (_moved_away, [], []),
        (_replaced, _ALL, []),
        (_replaced_and_the_time_set_back, _ALL, []),
        (_directory_replaced, _ALL, []),
        (_led_elsewhere, _ALL, []),
        (_truncated, [], []),
        (_cut_in_a_line, _ALL[:-1], ["not-json"]),
        (_torn_by_another, _ALL, ["not-json"]),
    ],
)
def test_a_directory_that_has_settled_tells_of_each_change_too(settled, change, kept, harm):
    change(file_of(settled))
    for number in (5, 6):
        settled.append(TurnEnd(conversation_id="c", turn_id=str(number)))

    assert ([*kept, "5", "6"], harm) == (said(settled), damage(settled))


def test_what_a_link_leads_to_is_looked_at_each_time(settled):
    file = file_of(settled)
    target = settled.store.root + "/target"
    file.rename(target)
    file.symlink_to(target)
    for number in (5, 6, 7):
        settled.append(TurnEnd(conversation_id="c", turn_id=str(number)))
        time.sleep(0.05)
    _replaced(Path(target))
    settled.append(TurnEnd(conversation_id="c", turn_id="8"))

    assert [*_ALL, "5", "6", "7", "8"] == said(settled)


def test_a_later_day_that_comes_to_a_settled_directory_goes_before(settled):
    ahead = EventLog(settled.store, fsync=False, clock=lambda: settled.now() + 2 * 86_400_000_000_000)
    later = ahead.append(TurnEnd(conversation_id="c", turn_id="later"))
    event = settled.append(TurnEnd(conversation_id="c", turn_id="5"))

    assert event.after
    assert event.after > later.ts


@pytest.mark.parametrize(
    ("change", "kept", "harm"),
    [
        (_removed, [], []),
        (_moved_away, [], []),
        (_replaced, ["0"], []),
        (_truncated, [], []),
        (_cut_in_a_line, [], ["not-json"]),
        (_torn_by_another, ["0"], ["not-json"]),
    ],
)
def test_whatever_becomes_of_the_file_the_next_event_is_in_the_log_whole(log, turns, change, kept, harm):
    change(path(log))
    turns(1)
    turns(2)

    assert ([*kept, "1", "2"], harm) == (said(log), damage(log))


def test_what_a_failed_write_leaves_is_cut_back_and_does_not_pass_for_a_line(log, turns, monkeypatch):
    with path(log).open("ab") as opened:
        opened.write(b'{"torn')
    size = path(log).stat().st_size
    with monkeypatch.context() as failing:
        failing.setattr(os, "write", lambda fd, data: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            turns(1)
    assert size == path(log).stat().st_size
    turns(2)

    assert (["0", "2"], ["not-json"]) == (said(log), damage(log))


def test_a_short_write_is_taken_back_and_the_event_is_stored_once(log, turns, monkeypatch):
    with monkeypatch.context() as failing:
        shortened = shorten_the_first_write(failing)
        turns(1)

    assert len(shortened) > 1
    assert (["0", "1"], []) == (said(log), damage(log))


def test_a_full_disk_is_told_and_leaves_the_file_as_it_was(log, turns, monkeypatch):
    before = path(log).read_bytes()

    def full(fd, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as failing:
        failing.setattr(os, "write", full)
        with pytest.raises(NotStored):
            turns(1)

    assert before == path(log).read_bytes()


def test_what_others_added_is_not_cut_back_with_a_short_write(log, turns, monkeypatch):
    EventLog(log.store, fsync=False, clock=log.now).append(TurnEnd(conversation_id="c", turn_id="other"))
    before = path(log).read_bytes()
    with monkeypatch.context() as failing:
        shortened = shorten_the_first_write(failing)
        turns(1)

    assert len(shortened) > 1
    assert path(log).read_bytes().startswith(before)
    assert (["0", "1", "other"], []) == (sorted(said(log)), damage(log))


def test_a_log_that_became_a_file_is_told_as_not_stored(log, turns):
    path(log).parent.rename(path(log).parent.with_name("elsewhere"))
    path(log).parent.touch()

    with pytest.raises(NotStored):
        turns(1)


def test_midnight_is_the_end_of_a_file(log, clock, turns):
    before = descriptors()
    clock.now += DAY_NS
    turns(1)

    assert [NEXT_DAY] == [event.ts[:10] for event in log.read(since=NEXT_DAY)]
    assert before == descriptors()


def broken(fd):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_descriptor_whose_sync_failed_is_never_used_again(tmp_path, monkeypatch):
    log = EventLog(tmp_path, fsync=True)
    log.append(TurnEnd(conversation_id="c"))
    before = descriptors()
    with monkeypatch.context() as failing:
        failing.setattr(dayfile, "_sync", broken)
        with pytest.raises(NotStored, match="not made durable"):
            log.append(TurnEnd(conversation_id="c"))

    assert before - 1 == descriptors()


@pytest.mark.slow
@needs_fork
@beside_threads
def test_parent_and_child_keep_out_of_each_others_way(log, turns):
    """A lock belongs to the open file: on one descriptor the two would not wait for each other."""
    count = rounds(fixed=50, fuzz=500)
    child = os.fork()
    try:
        for number in range(count):
            turns(f"{'child' if child == 0 else 'parent'}-{number}")
    finally:
        if child == 0:
            os._exit(0)
    assert 0 == os.waitpid(child, 0)[1]

    assert {"0", *(f"{who}-{number}" for who in ("child", "parent") for number in range(count))} == set(said(log))
    assert [] == damage(log)


@pytest.mark.slow
@needs_fork
@beside_threads
def test_a_child_does_not_release_its_parents_lock(log, turns):
    with log._open(DAY):
        child = os.fork()
        if child == 0:
            try:
                waits = False
                files.PATIENCE = 0.05
                log.append(TurnEnd(conversation_id="c"))
            except NotStored:
                waits = True
            finally:
                os._exit(0 if waits else 1)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert files.is_locked(str(path(log)))


def test_each_thread_has_a_descriptor_of_its_own(tmp_path):
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        log = EventLog(tmp_path, fsync=False)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: log.append(TurnEnd(conversation_id="c", turn_id=str(n))), range(400)))
    finally:
        sys.setswitchinterval(switching)

    assert sorted(map(str, range(400))) == sorted(said(log))
    assert [] == damage(log)
    assert len(log._idle) <= 4
