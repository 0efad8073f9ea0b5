"""What `sync status` says is what the last exchange saw."""

import pytest

from eventlog.app.ask.brief import _sync
from eventlog.app.sync.sync_status import sync_status, to_confirm
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.store.replica import replica_of
from tests.support.synced import Memory, Synced


def status_of(machine):
    found = sync_status(machine.opened)
    assert found
    return found


def test_a_store_that_does_not_sync_has_no_status(tmp_path):
    memory = Memory(tmp_path, count=1)
    alone = Synced(memory, "alone")
    assert sync_status(alone.opened) is None
    assert _sync(alone.opened) is None
    assert [] == to_confirm(alone.opened)


def test_machines_what_waits_and_the_key(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    memory.settle()
    one.says("The tea is green")
    one.says("The cups are blue")

    found = status_of(one)
    assert (2, 0) == (found.waiting, found.blocked)
    assert [replica_of(other.store)] == [machine.replica for machine in found.machines]
    assert found.key == status_of(other).key

    one.sync()
    assert 1 == status_of(one).machines[0].lacks
    other.sync()
    other.sync()
    one.sync()
    assert 0 == status_of(one).machines[0].lacks
    assert 0 == status_of(one).waiting


@pytest.mark.slow
def test_a_redaction_waits_for_every_machine_to_confirm(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("It is hunter2, of course")
    other.says("hunter2 was said by another")
    memory.settle()
    redact(one.opened, redactable(one.opened, "hunter2"))

    assert [status_of(one).machines[0].name] == to_confirm(one.opened)
    one.sync()
    other.sync()
    one.sync()

    assert [] == to_confirm(one.opened)
    memory.settle()
    for machine in (one, other):
        assert not any(b"hunter2" in path.read_bytes() for path in machine.root.rglob("*") if path.is_file())
    assert one.knowledge() == other.knowledge()
    assert not other.says("it was hunter2").content.endswith("hunter2")
