"""Machines start, join, are dropped and leave; a wrong code changes nothing anywhere."""

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.membership import drop_machine, join_sync, leave_sync, start_sync
from eventlog.app.sync.remote import open_remote
from eventlog.app.sync.segments import MARKER
from eventlog.format.errors import BadRequest, Offline, UntrustedRemote
from eventlog.store.replica import replica_of
from tests.support.repositories import git, repository
from tests.support.synced import Memory, Synced, some_code


def everything(directory):
    return {str(path): path.read_bytes() for path in sorted(Path(directory).rglob("*")) if path.is_file()}


def wrong_codes(code, count):
    chosen = random.Random(7)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    for number in range(count):
        at = chosen.randrange(len(code))
        other = chosen.choice([letter for letter in letters if letter != code[at]])
        if number % 3 == 2 and code[at] != "-":
            yield code[:at] + other + code[at + 1 :]
        elif number % 3:
            yield some_code()
        else:
            yield code[: at + 1] if at + 1 < len(code) else ""


def test_wrong_codes_are_refused_before_anything_is_written(tmp_path):
    memory = Memory(tmp_path)
    memory.machines[0].says("The tea is green")
    memory.machines[0].sync()
    newcomer = Synced(memory, "newcomer")
    before = everything(tmp_path)

    for code in wrong_codes(memory.code, 100):
        with pytest.raises(BadRequest):
            join_sync(newcomer.opened, memory.address, code)

    assert before == everything(tmp_path)


@pytest.mark.slow
def test_a_wrong_code_for_a_repository_leaves_nothing_behind(tmp_path):
    memory = Memory(tmp_path, count=1, by_git=True)
    newcomer = Synced(memory, "newcomer")
    before = everything(tmp_path)

    with pytest.raises(BadRequest):
        join_sync(newcomer.opened, memory.address, some_code())

    assert before == everything(tmp_path)


def test_a_code_may_be_typed_in_any_case_with_blanks(memory):
    newcomer = Synced(memory, "newcomer")
    join_sync(newcomer.opened, memory.address, f" {memory.code.lower().replace('-', ' ')} ")
    shown = {getattr(Keyring.load(machine.store), "shown", None) for machine in (newcomer, memory.machines[0])}
    assert 1 == len(shown - {None})
    assert None not in shown


def test_an_empty_machine_is_restored_also_when_the_old_ones_are_lost(memory):
    one, other = memory.machines
    one.says("The tea is green")
    other.says("The cups are blue")
    memory.settle()
    knowledge = one.knowledge()
    for machine in (one, other):
        shutil.rmtree(machine.root)

    restored = memory.another("new")

    assert ["The cups are blue", "The tea is green"] == restored.facts()
    assert knowledge == restored.knowledge()


def test_a_second_key_is_never_made(memory):
    one = memory.machines[0]
    with pytest.raises(BadRequest, match="syncs already"):
        start_sync(one.opened, memory.address)
    with pytest.raises(BadRequest, match="syncs already"):
        join_sync(one.opened, memory.address, some_code())
    with pytest.raises(UntrustedRemote, match="holds a memory already"):
        start_sync(Synced(memory, "x").opened, memory.address)


def test_a_start_that_was_killed_goes_on_with_the_same_key(tmp_path):
    memory = Memory(tmp_path, count=1)
    fresh = Synced(memory, "fresh")
    first = start_sync(fresh.opened, f"dir:{tmp_path}/other").code
    Path(tmp_path, "other", "eventlog-sync.json").unlink()

    assert first == start_sync(fresh.opened, f"dir:{tmp_path}/other").code


@pytest.mark.slow
def test_a_directory_or_a_repository_of_something_else_is_refused(tmp_path):
    memory = Memory(tmp_path, count=1)
    fresh = Synced(memory, "fresh")
    Path(tmp_path, "photos").mkdir()
    Path(tmp_path, "photos", "a.jpg").write_bytes(b"x")
    repository(tmp_path / "code")

    with pytest.raises(UntrustedRemote, match="not empty"):
        start_sync(fresh.opened, f"dir:{tmp_path}/photos")
    with pytest.raises(UntrustedRemote, match="something else"):
        start_sync(fresh.opened, str(tmp_path / "code"))
    with pytest.raises(Offline):
        start_sync(fresh.opened, str(tmp_path / "nowhere.git"))
    assert Keyring.load(fresh.store) is None
    assert "main" == git(tmp_path / "code", "branch", "--format=%(refname:short)")


def drop_and_go_on(memory):
    """Drop the third machine, and let the others exchange what is said after that; return what the drop came to."""
    one, other, third = memory.machines
    done = drop_machine(one.opened, replica_of(third.store), lambda _: True)
    assert done
    one.says("after")
    one.sync()
    other.sync()
    return done


def test_a_dropped_machine_reads_nothing_that_is_written_from_then_on(memory):
    one, other = memory.machines
    third = memory.another("third")
    one.says("before")
    memory.settle()

    done = drop_and_go_on(memory)

    assert [replica_of(other.store)] == done.others
    assert ["after", "before"] == other.facts()
    with pytest.raises(UntrustedRemote, match="was dropped"):
        third.sync()
    assert ["before"] == third.facts()
    with pytest.raises(BadRequest):
        join_sync(Synced(memory, "x").opened, memory.address, memory.code)
    memory.code = done.code
    memory.machines.remove(third)
    assert ["after", "before"] == memory.another("new").facts()


def drop(machine, other):
    """Drop a machine; return what that came to."""
    return drop_machine(machine.opened, replica_of(other.store), lambda _: True)


def test_a_machine_stays_dropped_when_another_is_dropped(memory):
    one, other = memory.machines
    third, fourth = memory.another("third"), memory.another("fourth")
    memory.settle()
    drop(one, third)
    one.sync()
    drop(one, fourth)
    one.says("after")
    one.sync()
    other.sync()

    assert ["after"] == other.facts()
    for dropped in (third, fourth):
        with pytest.raises(UntrustedRemote, match="was dropped"):
            dropped.sync()


def test_a_machine_is_dropped_when_its_head_is_lost_and_who_lost_a_head_goes_on(memory):
    one, other = memory.machines
    third = memory.another("third")
    memory.settle()
    remote = open_remote(memory.address, one.store, one.opened.machine)
    names = remote.names()
    remote.publish(
        {}, [name for name in names if name.endswith("head.age") and not name.startswith(one.opened.replica)]
    )

    done = drop(one, third)

    assert done
    assert [replica_of(other.store)] == done.others
    one.says("after")
    one.sync()
    other.sync()
    assert ["after"] == other.facts()
    with pytest.raises(UntrustedRemote, match="was dropped"):
        third.sync()


def test_two_machines_drop_a_third_at_once(memory, monkeypatch):
    one, other = memory.machines
    third = memory.another("third")
    memory.settle()
    done = []

    def meanwhile(*_):
        """Another machine is faster, and the third goes on until it finds out."""
        monkeypatch.undo()
        third.says("late")
        third.sync()
        done.append(drop(one, third))
        return False

    monkeypatch.setattr(type(open_remote(memory.address, one.store, one.opened.machine)), "publish", meanwhile)
    done.insert(0, drop(other, third))

    assert done[0].code == done[1].code
    memory.machines.remove(third)
    memory.settle()
    assert ["late"] == one.facts() == other.facts()


def test_a_drop_that_is_not_confirmed_changes_nothing(memory):
    one, other = memory.machines
    before = memory.blobs()
    assert drop_machine(one.opened, replica_of(other.store), lambda _: False) is None
    assert before == memory.blobs()


@pytest.mark.parametrize("said", ["nobody", ""])
def test_a_machine_nobody_knows_is_not_dropped(memory, said):
    memory.another("third")
    with pytest.raises(BadRequest):
        drop_machine(memory.machines[0].opened, said, lambda _: True)


@pytest.mark.slow
def test_a_machine_that_leaves_keeps_all_events_and_may_come_back(memory):
    one, other = memory.machines
    other.says("The cups are blue")
    memory.settle()
    leave_sync(other.opened)

    assert ["The cups are blue"] == other.facts() == one.facts()
    assert Keyring.load(other.store) is None
    other.says("meanwhile")
    other.join()
    memory.settle()
    assert ["The cups are blue", "meanwhile"] == one.facts()
    assert one.knowledge() == other.knowledge()


@pytest.mark.slow
@pytest.mark.parametrize("is_lost", ["the copy", "what was copied"])
def test_of_a_store_and_its_copy_the_one_that_is_dropped_cannot_read_on_by_the_key_it_was_copied_with(
    tmp_path, is_lost
):
    memory = Memory(tmp_path)
    one, other = memory.machines
    memory.settle()
    copy = one.copy_to("copy")
    one.says("The tea is green")
    one.sync()
    assert copy.sync().renamed
    one.sync()
    stays, lost = (one, copy) if is_lost == "the copy" else (copy, one)
    had = Keyring.of(lost.store)

    for machine in (other, stays):
        machine.sync()
    assert drop(other, lost)

    given = [path.read_bytes() for path in (memory.hub / "keys").rglob("*.age")]
    assert not any(had.decrypt(data, key) for data in given for key in filter(None, (had.machine, had.before)))
    stays.says("after")
    stays.sync()
    other.sync()
    assert ["The tea is green", "after"] == other.facts() == stays.facts()


def test_a_machine_that_was_killed_after_it_made_another_key_is_handed_the_next_secret(tmp_path):
    memory = Memory(tmp_path, count=3)
    one, other, third = memory.machines
    memory.settle()
    Keyring.of(one.store).renew(one.store)  # and killed before it has published that
    assert drop(other, third)
    other.says("The tea is green")
    other.sync()

    one.sync()

    assert ["The tea is green"] == one.facts()


@pytest.mark.parametrize("by_git", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_keys_and_all_else_of_a_sync_are_for_their_owner_only_whatever_the_umask(tmp_path, by_git):
    umask = os.umask(0)
    try:
        memory = Memory(tmp_path, by_git=by_git)
        memory.machines[0].says("The tea is green")
        memory.settle()
    finally:
        os.umask(umask)

    for machine in memory.machines:
        sync = Path(machine.store.sync)
        assert 0o600 == (sync / "key").stat().st_mode & 0o777
        assert not [path for path in (sync, *sync.rglob("*")) if path.stat().st_mode & 0o077]
    assert by_git or not [path for path in memory.hub.rglob("*") if path.stat().st_mode & 0o077]


LOSSES = {
    "rolled back": lambda memory: memory.roll_back(),
    "rolled back without its marker": lambda memory: (memory.roll_back(), (memory.hub / MARKER).unlink()),
    "emptied": lambda memory: [path.unlink() for path in memory.files().values()],
    "removed": lambda memory: shutil.rmtree(memory.hub),
}


@pytest.mark.slow
@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_a_remote_that_lost_something_is_taken_as_it_is_by_start_alone_and_everything_comes_back(tmp_path, lose):
    memory = Memory(tmp_path)
    one, other = memory.machines
    memory.move_on()
    names = [replica_of(machine.store) for machine in (one, other)]
    lose(memory)
    before = everything(memory.hub)
    for machine in (one, other):
        with suppress(UntrustedRemote):
            assert machine.sync().offline
    assert before == everything(memory.hub)

    for machine in (one, other):
        with suppress(BadRequest):  # nothing is wrong any more
            assert memory.code == start_sync(machine.opened, memory.address).code
        machine.sync()
    memory.settle()

    assert ["The cups are blue", "The tea is green"] == one.facts() == other.facts() == memory.another("m2").facts()
    assert one.knowledge() == other.knowledge()
    assert names == [replica_of(machine.store) for machine in (one, other)]
    with pytest.raises(BadRequest, match="syncs already"):
        start_sync(one.opened, memory.address)


def test_a_remote_from_before_a_machine_was_dropped_gets_the_key_of_now_by_start(tmp_path):
    memory = Memory(tmp_path, count=3)
    one, other, third = memory.machines
    memory.settle()
    memory.save()
    done = drop_and_go_on(memory)
    memory.roll_back()
    with pytest.raises(UntrustedRemote, match="older than ours"):
        one.sync()

    assert done.code == start_sync(one.opened, memory.address).code
    one.sync()
    other.sync_or_start()

    assert ["after"] == one.facts() == other.facts()
    with pytest.raises(UntrustedRemote, match="was dropped"):
        third.sync()
    with pytest.raises(UntrustedRemote, match="was dropped"):
        start_sync(third.opened, memory.address)


def test_something_else_in_the_place_of_the_remote_is_not_started_by_a_member(tmp_path):
    memory = Memory(tmp_path / "one")
    (tmp_path / "two").mkdir()
    foreign = Memory(tmp_path / "two", count=1)
    one = memory.machines[0]
    photos = {"a.jpg": b"x"}
    for files in (photos, {name: path.read_bytes() for name, path in foreign.files().items()}):
        shutil.rmtree(memory.hub)
        for name, data in files.items():
            (memory.hub / name).parent.mkdir(parents=True, exist_ok=True)
            (memory.hub / name).write_bytes(data)
        before = everything(memory.hub)

        with pytest.raises(UntrustedRemote, match=r"no memory of eventlog|another memory"):
            start_sync(one.opened, memory.address)

        assert before == everything(memory.hub)


def test_a_newcomer_learns_that_a_member_writes_a_lost_marker_again(tmp_path):
    memory = Memory(tmp_path)
    (memory.hub / MARKER).unlink()

    with pytest.raises(UntrustedRemote, match="has lost its marker") as refused:
        memory.another("new")

    assert "eventlog sync start" in str(refused.value.hint)
