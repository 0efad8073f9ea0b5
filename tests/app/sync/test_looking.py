"""A relay that was emptied, or whose stream was deleted, is filled again from the logs; keys and heads begin anew."""

import pytest

from eventlog.app.sync import remote as remotes
from eventlog.app.sync.membership import drop_machine, leave_sync
from eventlog.format.errors import UntrustedRemote
from eventlog.store.replica import replica_of
from tests.support.synced import Memory


@pytest.fixture
def lose(monkeypatch):
    """Files in a directory that is a relay; the function deletes the stream, which is another one from then on."""
    streams = iter("abcdef")

    def lose(memory):
        for path in memory.files().values():
            path.unlink()
        monkeypatch.setattr(remotes._FolderRemote, "stream", next(streams))

    monkeypatch.setattr(remotes._FolderRemote, "stream", next(streams))
    return lose


@pytest.mark.slow
def test_a_stream_that_was_deleted_is_filled_again_by_every_machine(tmp_path, lose):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    other.says("The cups are blue")
    memory.settle()
    lose(memory)
    one.says("The pot is red")

    memory.settle()

    wanted = ["The cups are blue", "The pot is red", "The tea is green"]
    assert wanted == one.facts() == other.facts() == memory.another("new").facts()
    assert one.knowledge() == other.knowledge() == memory.machines[2].knowledge()


def test_another_memory_in_the_place_of_the_stream_is_refused(tmp_path, lose):
    (tmp_path / "two").mkdir()
    memory, foreign = Memory(tmp_path / "one"), Memory(tmp_path / "two", count=1)
    lose(memory)
    for name, path in foreign.files().items():
        (memory.hub / name).parent.mkdir(exist_ok=True)
        path.rename(memory.hub / name)

    with pytest.raises(UntrustedRemote, match="another memory"):
        memory.machines[0].sync()


def test_a_machine_without_the_newest_key_may_fill_the_stream_and_gets_the_key_later(tmp_path, lose):
    memory = Memory(tmp_path, count=3)
    one, other, third = memory.machines
    memory.settle()
    done = drop_machine(one.opened, replica_of(third.store), lambda _: True)
    assert done
    lose(memory)
    other.says("The tea is green")
    assert 1 == other.sync().sent.total

    for machine in (one, other, one):
        machine.sync()

    assert ["The tea is green"] == one.facts()
    with pytest.raises(UntrustedRemote, match="was dropped"):
        third.sync()
    memory.machines.remove(third)
    memory.code = done.code
    assert ["The tea is green"] == memory.another("new").facts()


@pytest.mark.slow
def test_a_machine_that_joins_again_after_the_loss_is_no_older_than_before(tmp_path, lose):
    memory = Memory(tmp_path)
    one, other = memory.machines
    for number in range(3):
        other.says(f"fact {number}")
        memory.settle()
    leave_sync(other.opened)
    lose(memory)
    one.sync()
    other.says("fact 3")

    other.join()

    one.sync()
    assert ["fact 0", "fact 1", "fact 2", "fact 3"] == one.facts()


def test_files_of_somebody_else_are_no_stream_that_was_lost(tmp_path, lose):
    memory = Memory(tmp_path)
    lose(memory)
    (memory.hub / "a.jpg").write_bytes(b"x")

    with pytest.raises(UntrustedRemote, match="no memory"):
        memory.machines[0].sync()
