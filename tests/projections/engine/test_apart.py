"""Work that is done apart comes to the same rows: by other processes, by none, and where one of them is killed."""

import os
import pickle
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread, Timer, current_thread
from time import sleep
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.build import workers as module
from eventlog.app.build.workers import Workers
from eventlog.projections.engine import jobs
from eventlog.projections.engine.replay import replay
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.settings.schema import Settings
from tests.support.golden import HISTORY, copied, rendered
from tests.support.histories import REPLICAS, histories, log_of, write
from tests.support.use_cases import rebuild

HERE = os.getpid()


class Kept(MemoryRows):
    """A shelf that is kept: what is withdrawn lies there without its words."""

    is_persistent = True


def running(do_all):
    """An executor of that function."""
    return SimpleNamespace(map=do_all)


def nobody(_do, jobs):
    """Fail where there is anything to do."""
    raise AssertionError(list(jobs))


def by_mail(do, jobs):
    """Do jobs as if far away: they and what comes of them are sent."""
    for job in jobs:
        yield pickle.loads(pickle.dumps(do(pickle.loads(pickle.dumps(job)))))


@pytest.mark.slow
@given(histories(), st.sampled_from([Settings(), Settings(locale="zh", timezone="Asia/Shanghai")]), st.data())
def test_days_folded_and_rows_made_apart_are_those_of_one_process(lines, chosen, data):
    again = data.draw(st.lists(st.sampled_from(lines), max_size=3)) if lines else []
    with log_of([]) as log, pytest.MonkeyPatch.context() as patch:
        write(log, [*lines, *again], [data.draw(st.sampled_from(REPLICAS)) for _ in (*lines, *again)])
        patch.setattr(jobs, "_LONG", 0)
        shelves = Kept(), Kept()
        one, several = (
            replay(log, chosen, cache=shelf, executor=executor)
            for shelf, executor in zip(shelves, (None, running(by_mail)), strict=True)
        )

        assert one.documents == several.documents
        assert (one.days_folded, one.events, one.damage) == (several.days_folded, several.events, several.damage)
        assert shelves[0]._rows == shelves[1]._rows


@given(histories(), st.sampled_from([Settings(), Settings(locale="zh", timezone="Asia/Shanghai")]))
def test_documents_rendered_ahead_and_what_is_kept_of_them_are_those_of_one_process(lines, chosen):
    with log_of(lines) as log, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_LONG", 0)
        patch.setattr(jobs, "_ENOUGH", 200)
        shelves = Kept(), Kept()
        one, several = (replay(log, chosen, cache=shelf) for shelf in shelves)
        several.render_ahead(list(several.units()), running(by_mail))

        for unit in one.units():
            made, apart_made = one.render(unit), several.render(unit)
            assert made == apart_made
            assert [document.data for document in made] == [document.data for document in apart_made]
        assert shelves[0]._rows == shelves[1]._rows


def test_only_documents_made_of_rows_are_rendered_ahead_and_each_once(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_LONG", 0)
    done = replay(copied(HISTORY, tmp_path), Settings())
    asked = []

    def counted(do, jobs):
        for job in jobs:
            asked.extend(job.units)
            yield do(job)

    units = done.render_ahead(list(done.units()), running(counted))
    documents = {unit: done.render(unit) for unit in units}

    assert {"memory", "daily-notes", "index"} == {view for view, _ in asked}
    assert [*asked, ("index", "")] == units[-len(asked) - 1 :]
    assert sorted(done.units()) == sorted(units)
    assert sorted(asked) == sorted(set(asked))
    assert documents == {unit: done.render(unit) for unit in done.units()}


def test_where_some_documents_are_current_none_is_rendered_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_LONG", 0)
    done = replay(copied(HISTORY, tmp_path), Settings())
    unit = next(done.units())
    done.publish(unit, {})

    done.render_ahead(list(done.units()), running(nobody))

    assert all(done.render(unit) for unit in done.units() if unit[1])


def _jobs(job):
    return os.getpid(), job * 2


def _killed(job):
    if job == 3 and os.getpid() != HERE:
        os._exit(9)
    return job * 2


def two(workers):
    workers._count = 2
    return workers


@pytest.mark.slow
def test_jobs_begin_before_anybody_asks_what_comes_of_them(tmp_path):
    with two(Workers()) as workers:
        done = workers.map(Path.touch, [tmp_path / "begun"])
        while not (tmp_path / "begun").exists():
            sleep(0.001)

        assert [None] == list(done)


@pytest.mark.slow
def test_jobs_are_done_by_other_processes_in_their_order():
    with two(Workers()) as workers:
        done = list(workers.map(_jobs, range(30)))

    assert list(range(0, 60, 2)) == [made for _, made in done]
    assert HERE not in {process for process, _ in done}


@pytest.mark.slow
def test_what_a_killed_process_leaves_is_done_here():
    with two(Workers()) as workers:
        assert list(range(0, 60, 2)) == list(workers.map(_killed, range(30)))


@pytest.mark.slow
@pytest.mark.parametrize(("refused", "error"), [(BaseProcess, OSError), (Thread, RuntimeError)])
def test_without_room_for_a_process_or_a_thread_the_jobs_are_done_here_and_nobody_is_left(monkeypatch, refused, error):
    """The second process is not begun; or, where both are, the thread that hands them jobs."""
    begin, left = refused.start, iter([1] if refused is BaseProcess else [])

    def start(one):
        if not next(left, 0):
            raise error
        begin(one)

    monkeypatch.setattr(refused, "start", start)
    with two(Workers()) as workers:
        done = list(workers.map(_jobs, range(30)))

    assert [(HERE, 2 * job) for job in range(30)] == done
    for child in active_children():
        child.join(60)
        assert not child.is_alive()


@pytest.mark.parametrize("thread", [Thread(), Timer(1, print)])
def test_nobody_is_forked_beside_a_thread_that_does_more_than_wait(monkeypatch, thread):
    monkeypatch.setattr("threading.enumerate", lambda: [current_thread(), thread])

    assert isinstance(thread, Timer) == two(Workers()).are_any


@pytest.mark.slow
def test_a_log_replayed_by_several_processes_has_the_bytes_of_one(tmp_path, monkeypatch):
    log = copied(HISTORY, tmp_path)
    wanted = rendered(log, Settings(), anew=True, save=False)
    begun = []
    monkeypatch.setattr(jobs, "_LONG", 0)
    monkeypatch.setattr(Workers, "are_any", property(lambda self: bool(two(self))))
    start = module._started

    def counted(count):
        begun.append(count)
        return start(count)

    monkeypatch.setattr(module, "_started", counted)

    assert wanted == rendered(log, Settings(), anew=True)
    assert [2] == begun
    assert wanted == rendered(log, Settings())

    published = rebuild(log, Settings(), anew=True).published.written

    assert [2, 2] == begun
    assert wanted == {path: Path(log.store.knowledge, path).read_bytes() for path in published}


def test_jobs_of_after_the_end_are_done_here():
    with two(Workers()) as workers:
        pass

    assert not workers.are_any
    assert [HERE] == [process for process, _ in workers.map(_jobs, [1])]
