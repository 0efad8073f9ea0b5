"""Stores replayed on a cluster: the bytes of one process, whatever files the lines lie in, and whichever worker dies."""

import errno
import os
import shutil
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import fsspec
import msgspec
import pytest

from eventlog import cluster, fold
from eventlog.app.cluster import replay_stores
from eventlog.format.errors import BadRequest, BadSettings, NotStored
from eventlog.settings.schema import Settings
from eventlog.store.files import read_regular
from tests.docs.terminals import stories
from tests.support.builders import replay
from tests.support.command_line import call
from tests.support.effort import rounds
from tests.support.golden import DAMAGED, HISTORY, copied, rendered, tree
from tests.support.tree import ROOT
from tests.support.users import SPLITS, written

COUNT = rounds(fixed=150, fuzz=66_700)
DAYS = rounds(fixed=33, fuzz=365)  # more than a task takes
USERS = ("ada", "bob", "eve")


def outcomes(client, *stores, **options):
    """The outcome of each store, by its name."""
    return {done.place.name: done for done in cluster.replay_stores(map(str, stores), client, **options)}


def one(client, store, **options):
    [done] = outcomes(client, store, **options).values()
    return done


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The files of each user, made by one process of undivided days."""
    root = tmp_path_factory.mktemp("whole")
    return {user: rendered(written(root, user, "whole", COUNT, DAYS)) for user in USERS}


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("split", [split for split in SPLITS if split != "whole"])
def test_three_users_split_in_any_way_give_the_bytes_of_one_process(client, tmp_path, expected, split, monkeypatch):
    monkeypatch.setattr(replay_stores, "_SMALL", 0)
    logs = [written(tmp_path, user, split, COUNT, DAYS) for user in USERS]
    done = outcomes(client, *(log.store.root for log in logs))

    assert expected == {user: found.rendered.files for user, found in done.items()}
    assert {COUNT} == {found.rendered.events for found in done.values()}


@pytest.mark.slow
@pytest.mark.fuzz
def test_a_worker_killed_in_the_middle_changes_no_byte(tmp_path, expected, monkeypatch):
    monkeypatch.setattr(replay_stores, "_SMALL", 0)
    logs = [written(tmp_path, user, "with copies", COUNT, DAYS) for user in USERS]
    killed: list[int] = []

    with cluster.connected("local:2") as workers:

        def kill(_done, _all):
            if not killed:
                killed.append(min(workers.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        found = {
            done.place.name: done.rendered and done.rendered.files
            for done in cluster.replay_stores([log.store.root for log in logs], workers, progress=kill)
        }
        left = workers.run(os.getpid)

    assert killed[0] not in left.values()
    assert expected == found


@pytest.mark.slow
@pytest.mark.parametrize("is_shared", [False, True])
def test_the_history_becomes_exactly_the_expected_files(client, monkeypatch, is_shared):
    if is_shared:  # among workers, as the work on a large store is
        monkeypatch.setattr(replay_stores, "_SMALL", 0)
    assert tree(HISTORY / "expected" / "en") == one(client, HISTORY).rendered.files


def test_a_damaged_log_gives_the_same_files_and_the_same_damage(client, tmp_path):
    log = copied(DAMAGED, tmp_path)
    done, alone = one(client, log.store.root).rendered, replay(log, Settings())

    assert rendered(log) == done.files
    assert (alone.damage, alone.events, alone.days) == (done.damage, done.events, done.days)


def test_a_file_that_cannot_be_read_is_the_damage_it_is_in_one_process(client, tmp_path, monkeypatch):
    log = written(tmp_path, "ada", "at random", 60, 3)
    bad = sorted(path.name for path in Path(log.store.log).iterdir())[1]

    def read(path, limit=-1):
        if path.endswith(bad):
            raise OSError(errno.EIO, "Input/output error", path)
        return read_regular(path, limit)

    monkeypatch.setattr("eventlog.store.files.read_regular", read)
    monkeypatch.setattr("eventlog.log.days.read_regular", read)
    monkeypatch.setattr(replay_stores, "read_regular", read)
    done, alone = one(client, log.store.root).rendered, replay(log, Settings(), anew=True)

    assert ["unreadable"] == [damage.kind for damage in alone.damage]
    assert alone.damage == done.damage
    assert {document.path: document.data for document in alone.documents} == done.files


def test_each_store_has_its_own_settings(client, tmp_path):
    log = copied(HISTORY, tmp_path)
    (tmp_path / "store" / "config.yaml").write_text("locale: zh\n")

    assert tree(HISTORY / "expected" / "zh") == one(client, log.store.root).rendered.files


def test_only_what_is_asked_for_is_rendered(client):
    done = one(client, HISTORY, projections=["sessions"])

    assert ["sessions.jsonl"] == list(done.rendered.files)
    with pytest.raises(BadRequest, match="no projection 'nothing'"):
        one(client, HISTORY, projections=["nothing"])


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_a_small_store_is_a_single_task(client, memory, monkeypatch, most):
    monkeypatch.setattr(replay_stores, "_SMALL", most)
    tasks = []
    done = list(cluster.replay_stores(["memory://team/ada"], client, progress=lambda _done, every: tasks.append(every)))

    assert done[0].rendered
    assert (1 if most else 2) == tasks[-1]


def test_a_store_without_a_day_is_one_without_files(client, log_dir):
    done = one(client, log_dir.parent)

    assert ({}, 0) == (done.rendered.files, done.rendered.events)


# ------------------------------------------------------------------------------------------------ addresses


@pytest.fixture
def memory():
    """Stores of two users in the memory file system of fsspec."""
    files = fsspec.filesystem("memory")
    for user in ("ada", "bob"):
        files.put(f"{HISTORY}/log", f"/team/{user}/log", recursive=True)
    files.pipe("/team/bob/config.yaml", b"locale: zh\n")
    files.pipe("/team/bob/log/notes.txt", b"not of the log")
    yield "memory://team"
    files.rm("/team", recursive=True)


def test_an_address_of_fsspec_is_a_store_like_a_directory(client, memory):
    done = outcomes(client, f"{memory}/*")

    assert tree(HISTORY / "expected" / "en") == done["ada"].rendered.files
    assert tree(HISTORY / "expected" / "zh") == done["bob"].rendered.files


@pytest.mark.parametrize("address", ["nothing://x/y", "memory://team/carl", "/nothing/there"])
def test_a_store_that_is_not_there_is_told_and_the_others_go_on(client, memory, address):
    done = outcomes(client, address, f"{memory}/ada")
    [bad] = [one for one in done.values() if one.error]

    assert address in bad.error.where
    assert [True, False] == sorted(one.rendered is None for one in done.values())[::-1]


def test_a_mistake_in_settings_is_told_with_its_line(client, tmp_path):
    log = copied(HISTORY, tmp_path)
    (tmp_path / "store" / "config.yaml").write_text("locale: zh\nnothing: 1\n")
    error = one(client, log.store.root).error

    assert isinstance(error, BadSettings)
    assert error.where.endswith("config.yaml:2")


def test_a_worker_that_does_not_see_a_store_says_so_and_renders_nothing(tmp_path):
    log = copied(HISTORY, tmp_path)
    [place] = replay_stores.places([log.store.root])
    listed = replay_stores.listing(place)
    shutil.rmtree(log.store.log)

    with pytest.raises(BadRequest, match="is not there for a worker"):
        replay_stores._fold_files(place, listed.days, [])


def test_a_worker_of_another_version_renders_nothing():
    [place] = replay_stores.places([str(HISTORY)])
    asked = fold.empty("history")
    asked = msgspec.structs.replace(asked, versions={**asked.versions, "Unicode": "3.0"})
    parts = replay_stores._fold_files(place, replay_stores.listing(place).days, [])

    with pytest.raises(BadRequest, match=r"Unicode"):
        replay_stores.render_store(place, replay_stores.listing(place), [parts], [], asked)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (["/home/ada/.eventlog", "/home/bob/.eventlog"], ["ada", "bob"]),
        (["/stores/ada", "s3://logs/bob"], ["ada", "bob"]),
        (["/a/x/s", "/b/x/s", "/b/y/s"], ["a-x-s", "b-x-s", "b-y-s"]),
        (["/a/log", "/a/log/"], ["log"]),
    ],
)
def test_stores_are_named_by_what_tells_them_apart(said, names):
    assert names == [place.name for place in replay_stores.places(said)]


def test_one_store_at_two_addresses_is_refused():
    with pytest.raises(BadRequest, match="do not tell all stores apart"):
        replay_stores.places(["/a/b", "file:///a/b"])


# ------------------------------------------------------------------------------------------------ the verb


def verb(client, *args):
    return call("replay", "--cluster", client.scheduler.address, *args)


@pytest.mark.slow
def test_each_store_is_written_below_the_directory_and_a_second_run_changes_nothing(client, memory, tmp_path):
    first = verb(client, "--out", tmp_path / "out", f"{memory}/*")
    again = verb(client, "--out", tmp_path / "out", f"{memory}/*")

    assert tree(HISTORY / "expected" / "en") == tree(tmp_path / "out" / "ada")
    assert tree(HISTORY / "expected" / "zh") == tree(tmp_path / "out" / "bob")
    assert "ada: 59 events of 10 days: 25 files changed, 0 unchanged\n" in first.out
    assert (0, 0) == (first.code, again.code)
    assert again.out.count("0 files changed, 25 unchanged") == 2


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "README.md").is_file(), reason="needs the source tree")
def test_the_terminal_of_the_page_is_true(client, tmp_path, monkeypatch):
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    [(command, shown)] = [told for step in stories(text)[""] for told in step.commands]
    monkeypatch.setattr(
        "eventlog.app.cluster.replay_stores.connected", lambda address: nullcontext({"local:2": client}[address])
    )
    monkeypatch.chdir(tmp_path)
    for user, count in {"ada": 1200, "bob": 600, "eve": 200}.items():
        written(tmp_path / "stores", user, "whole", count, 60)

    assert sorted(shown.splitlines()) == sorted(call(*command.split()[1:]).out.splitlines())


def test_without_a_store_it_is_ones_own(client, tmp_path):
    log = copied(HISTORY, tmp_path)
    ran = verb(client, "--store", log.store.root, "--out", tmp_path / "out", "--json")
    [told] = msgspec.json.decode(ran.out)["stores"]

    assert (0, None, log.store.root, 59) == (ran.code, told["error"], told["store"], told["events"])
    assert tree(HISTORY / "expected" / "en") == tree(tmp_path / "out" / "store")


def test_check_writes_nothing_and_finds_what_differs(client, tmp_path):
    assert 1 == verb(client, "--check", "--out", tmp_path / "out", HISTORY).code
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_store_that_cannot_be_read_ends_with_4_and_one_that_cannot_be_written_with_3(client, memory, tmp_path):
    unread = verb(client, "--out", tmp_path / "out", f"{memory}/ada", "/nothing/there")
    (tmp_path / "out" / "bob").write_text("a file")
    unwritten = verb(client, "--out", tmp_path / "out", f"{memory}/ada", f"{memory}/bob", "/nothing/there")

    assert (4, 3) == (unread.code, unwritten.code)
    assert "/nothing/there/log: there is no log" in unread.err
    assert "ada: " in unread.out
    assert "ada: " in unwritten.out


def test_nobody_at_the_address_is_said_plainly(tmp_path, monkeypatch):
    monkeypatch.setattr(replay_stores, "_PATIENCE", "0.2s")
    ran = call("replay", "--cluster", "tcp://127.0.0.1:1", "--out", tmp_path, HISTORY)

    assert (2, "") == (ran.code, ran.out)
    assert "tcp://127.0.0.1:1: no Dask scheduler answers" in ran.err


@pytest.mark.parametrize("options", [["--full", "--out", "x"], [], ["--as-of", "2026-02-20", "--out", "x"]])
def test_what_does_not_go_with_a_cluster_is_refused(options):
    ran = call("replay", "--cluster", "local", *options)

    assert 2 == ran.code
    assert "--cluster needs --out" in ran.err


def test_a_store_needs_a_cluster_and_one_alone_is_not_called_several():
    ran = call("replay", "--out", "x", HISTORY)

    assert 2 == ran.code
    assert f"{HISTORY} is no remote of this store, and a store needs --cluster\n" in ran.err


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = call("replay", "--cluster", "local", "--out", "x", HISTORY)

    assert 2 == ran.code
    assert "pip install 'agent-eventlog[cluster]'" in ran.err


@pytest.mark.slow
def test_errors_of_workers_keep_their_words(client):
    def fail():
        raise NotStored("is full", where="/x", hint="remove something")

    error = client.submit(fail, pure=False).exception()

    assert ("is full", "/x", "remove something") == (error.what, error.where, error.hint)
