import ctypes
import os
import re
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest

from eventlog import Store
from eventlog.format.errors import NotStored
from eventlog.store import files
from eventlog.store import replica as names
from eventlog.store.replica import copied_from, make_replica, mark_reported, own_replica_of, replica_of
from tests.support.machines import of_machine


@pytest.fixture
def store(tmp_path, monkeypatch):
    of_machine(monkeypatch, tmp_path, 1)
    return Store(str(tmp_path / "store"))


def copy_of(store, tmp_path):
    """The store, copied whole, with every time of its files."""
    shutil.copytree(store.root, tmp_path / "copy")
    return Store(str(tmp_path / "copy"))


def test_a_store_has_no_name_until_one_is_needed(store):
    assert ("", False) == (replica_of(store), Path(store.root).exists())


def test_a_name_is_made_once_for_its_owner_only(store):
    name = make_replica(store)

    assert re.fullmatch(r"[a-z0-9-]{1,33}-[0-9a-f]{6}", name)
    assert [name, name] == [make_replica(store), replica_of(store)]
    assert 0o600 == Path(store.replica).stat().st_mode & 0o777
    assert {"replica", "replica.machine"} == {path.name for path in Path(store.root).iterdir() if path.is_file()}


@pytest.mark.parametrize("links", [True, False])
def test_of_several_at_once_one_makes_the_name(store, monkeypatch, links):
    def refuse(*_):
        raise PermissionError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: make_replica(store), range(8)))

    assert {replica_of(store)} == names


@pytest.mark.parametrize(
    ("host", "slug"), [("Bob's Mac.local", "bob-s-mac"), ("箱", "machine"), ("conflict-box", "machine")]
)
def test_a_name_begins_with_the_host_as_far_as_that_can_be_written(store, monkeypatch, host, slug):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("", host, "", "", "")))

    assert slug == make_replica(store).rpartition("-")[0]


@pytest.mark.parametrize("held", [b"", b"two words\n", b"a.b\n", b"x" * 41, b"\xff\n", b"sync-conflict-1\n"])
def test_what_is_no_name_counts_for_none_and_is_never_replaced(store, held):
    Path(store.root).mkdir()
    Path(store.replica).write_bytes(held)

    assert "" == replica_of(store)
    with pytest.raises(NotStored, match="does not hold"):
        make_replica(store)
    assert held == Path(store.replica).read_bytes()


def test_a_store_copied_whole_to_another_machine_gets_a_name_of_its_own(store, tmp_path, monkeypatch):
    theirs = make_replica(store)
    copy = copy_of(store, tmp_path)
    of_machine(monkeypatch, tmp_path, 2)

    assert (theirs, "", theirs) == (replica_of(copy), own_replica_of(copy), copied_from(copy))
    with ThreadPoolExecutor(8) as pool:
        [ours] = set(pool.map(lambda _: make_replica(copy), range(8)))
    assert ours != theirs
    assert (ours, ours, theirs) == (own_replica_of(copy), make_replica(copy), copied_from(copy))


def test_who_notes_a_new_name_at_the_same_time_keeps_what_the_store_was_copied_from(store, tmp_path, monkeypatch):
    theirs = make_replica(store)
    copy = copy_of(store, tmp_path)
    of_machine(monkeypatch, tmp_path, 2)
    writes, renamed, note, replace_file = Event(), Event(), names._note, files.replace_file

    def write_late(path, *args, **kwargs):
        if path.endswith(".machine") and current_thread() is not main_thread():
            writes.set()
            renamed.wait(0.2)
        replace_file(path, *args, **kwargs)

    def note_once_another_writes(store, name, former=""):
        if former:
            others.append(pool.submit(make_replica, copy))
            writes.wait(10)
        note(store, name, former)
        renamed.set()

    monkeypatch.setattr(files, "replace_file", write_late)
    monkeypatch.setattr(names, "_note", note_once_another_writes)
    others: list[Future[str]] = []
    with ThreadPoolExecutor(1) as pool:
        name = make_replica(copy)
    assert (name, theirs) == (others[0].result(), copied_from(copy))


def test_a_session_that_began_once_a_copy_was_named_keeps_its_note(store, tmp_path, monkeypatch):
    make_replica(store)
    copy = copy_of(store, tmp_path)
    of_machine(monkeypatch, tmp_path, 2)
    is_copied, note = names._is_copied, Path(copy.cached("open", "began.json"))

    def once_another_has_named_it(store, name):
        found = is_copied(store, name)
        if found and not note.exists():
            monkeypatch.setattr(names, "_is_copied", is_copied)
            make_replica(copy)
            note.parent.mkdir(parents=True)
            note.write_bytes(b"{}")
        return found

    monkeypatch.setattr(names, "_is_copied", once_another_has_named_it)
    make_replica(copy)
    assert note.exists()


def test_that_a_store_is_a_copy_is_told_once_and_stays_known(store, tmp_path, monkeypatch):
    theirs = make_replica(store)
    copy = copy_of(store, tmp_path)
    of_machine(monkeypatch, tmp_path, 2)
    make_replica(copy)

    assert theirs == copied_from(copy, untold=True)
    mark_reported(copy)
    assert ("", theirs) == (copied_from(copy, untold=True), copied_from(copy))


def _moved(store, tmp_path, _):
    return copy_of(store, tmp_path)  # to another disk, or back out of a backup


def _of_another_host_name(store, _, monkeypatch):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("", "renamed", "", "", "")))
    return store


def _mounted_elsewhere(store, tmp_path, monkeypatch):
    of_machine(monkeypatch, tmp_path, 2)
    return store


def _given_to_another_owner(store, tmp_path, monkeypatch):
    of_machine(monkeypatch, tmp_path, 2)
    Path(store.replica).chmod(0o640)  # another change time, the same file
    return store


def _where_nothing_tells_machines_apart(store, tmp_path, monkeypatch):
    copy = copy_of(store, tmp_path)
    monkeypatch.setattr(names, "_MACHINE_IDS", ())
    return copy


def _noted_by_nobody(store, tmp_path, monkeypatch):
    Path(f"{store.replica}.machine").unlink()  # as earlier releases leave it
    copy = copy_of(store, tmp_path)
    of_machine(monkeypatch, tmp_path, 2)
    return copy


@pytest.mark.parametrize(
    "happens",
    [
        _moved,
        _of_another_host_name,
        _mounted_elsewhere,
        _given_to_another_owner,
        _where_nothing_tells_machines_apart,
        _noted_by_nobody,
    ],
)
def test_a_name_stays_wherever_it_is_not_certain_that_the_store_is_a_copy(store, tmp_path, monkeypatch, happens):
    name = make_replica(store)
    found = happens(store, tmp_path, monkeypatch)

    assert [name, name, name] == [own_replica_of(found), make_replica(found), own_replica_of(found)]
    assert "" == copied_from(found)


def test_a_store_that_moved_is_known_where_it_is_now(store, tmp_path, monkeypatch):
    name = make_replica(store)
    moved = copy_of(store, tmp_path)
    make_replica(moved)
    of_machine(monkeypatch, tmp_path, 2)  # which mounts the same home

    assert name == make_replica(moved)


@pytest.mark.parametrize("said", ["", "uninitialized\n"])
def test_a_word_in_place_of_an_id_tells_no_machine(store, tmp_path, said):
    (tmp_path / "machine-id").write_text(said)
    make_replica(store)

    assert not Path(f"{store.replica}.machine").exists()


def test_a_mac_is_told_by_the_id_of_its_hardware(store, monkeypatch):
    class System:
        @staticmethod
        def gethostuuid(found, _wait):
            found[:] = bytes(range(16))
            return 0

    monkeypatch.setattr(names, "_MACHINE_IDS", ())
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Darwin", "mac", "", "", "")))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: System)
    make_replica(store)

    assert 32 == len(Path(f"{store.replica}.machine").read_text().split("\n")[1])
