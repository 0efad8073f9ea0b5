"""Whoever can write to a remote, without a key or with one from before a drop, gets nothing into a memory, and no file outside."""

import os
import shutil
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from eventlog.app.sync import git_remote
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.membership import drop_machine
from eventlog.app.sync.remote import open_remote
from eventlog.app.sync.segments import MARKER, MachineHead, Marker, digest_of, pack_lines
from eventlog.app.sync.sync_state import SyncState
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format.errors import NotStored, UntrustedRemote
from eventlog.store.replica import replica_of
from tests.support.hostile_sync import git_bytes
from tests.support.repositories import git
from tests.support.synced import Memory, Synced

pytestmark = pytest.mark.slow

DAY = "2026-02-20"
_HUGE = 1 << 40  # bytes of a file that takes no room


def folder_of(machine):
    return machine.memory.hub / replica_of(machine.store)


def segment_of(machine):
    return max(path for path in folder_of(machine).rglob("*.age") if path.name != "head.age")


@pytest.fixture
def pair(tmp_path):
    memory = Memory(tmp_path)
    memory.machines[0].says("The tea is green")
    memory.settle()
    return memory


# ------------------------------------------------------------------------------------------------ without a key


@pytest.mark.parametrize("below", ["", f"/{DAY}"])
def test_a_link_in_the_remote_leads_no_file_outside(pair, tmp_path, below):
    one, other = pair.machines
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.tex.0a1b2c3d.tmp").write_bytes(b"of a person")
    linked = Path(f"{folder_of(one)}{below}")
    shutil.rmtree(linked)
    linked.symlink_to(outside)

    for _ in range(2):
        with pytest.raises(UntrustedRemote, match="symbolic link"):
            one.sync()

    assert ["thesis.tex.0a1b2c3d.tmp"] == [path.name for path in outside.rglob("*")]
    linked.unlink()
    one.sync()
    assert ["The tea is green"] == other.facts() == pair.another("new").facts()


@pytest.mark.parametrize("bit", [0, 3, 6])
def test_one_byte_of_the_marker_that_was_altered_stops_nobody(pair, bit):
    one, other = pair.machines
    marker = pair.hub / MARKER
    good = marker.read_bytes()
    for at in range(bit, len(good), 7):
        marker.write_bytes(good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1 :])

        one.sync()

        assert good == marker.read_bytes() or not other.sync().damaged, at


@pytest.mark.parametrize("which", ["marker", "head", "segment", "head of nobody"])
def test_a_huge_file_in_the_remote_is_never_read_whole(pair, which):
    one, other = pair.machines
    one.says("The cups are blue")
    one.sync()
    path = {
        "marker": pair.hub / MARKER,
        "head": folder_of(one) / "head.age",
        "segment": segment_of(one),
        "head of nobody": pair.hub / "zz-123456" / "head.age",
    }[which]
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as opened:
        opened.truncate(_HUGE)

    tracemalloc.start()
    for machine in (other, one, other):
        machine.sync()
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert ["The cups are blue", "The tea is green"] == other.facts()
    assert largest < 256 << 20


def test_what_is_no_file_of_ours_in_a_repository_is_never_read_whole(tmp_path, monkeypatch):
    memory = Memory(tmp_path, by_git=True)
    one, other = memory.machines
    one.says("The tea is green")
    one.sync()
    monkeypatch.setattr(git_remote, "LARGEST", 100_000)
    tip, name = "refs/heads/eventlog", f"{replica_of(one.store)}/head.age"
    commit = git(memory.hub, "rev-parse", tip)
    for written in (b"100644 inline %s\ndata 200000\n" + bytes(200_000), b"160000 " + commit.encode() + b" %s"):
        sent = b"commit %s\ncommitter x <x> now\ndata 1\nx\nfrom %s\nM " % (
            tip.encode(),
            git(memory.hub, "rev-parse", tip).encode(),
        )
        git_bytes(
            memory.hub,
            "fast-import",
            "--quiet",
            "--date-format=now",
            sent=sent + written.replace(b"%s", name.encode()) + b"\n",
        )

        assert [name] == other.sync().damaged
        one.sync()
        assert not other.sync().damaged

    assert ["The tea is green"] == other.facts()


@pytest.fixture
def deep(pair):
    """A memory with a tree in its remote that is deeper than Python removes."""
    here = os.open(pair.hub, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("a", dir_fd=here)
        below = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    yield pair
    subprocess.run(["rm", "-r", str(pair.hub / "a")], check=True)


@pytest.mark.parametrize("claimed", ["0a1b2c3d 99999999999", "0a1b2c3d many", "0a1b2c3d"])
def test_a_message_that_claims_to_lie_in_endless_parts_is_not_read(relay, tmp_path, claimed):
    memory = Memory(tmp_path, relay=relay)
    one, other = memory.machines
    name = f"{replica_of(one.store)}/head.age"
    remote: Any = open_remote(memory.address, one.store, one.opened.machine)
    assert remote._connected(lambda stream: stream.put(remote._subject(name), b"", {"Eventlog-Parts": claimed}))

    assert [name] == other.sync().damaged

    one.says("The tea is green")
    one.sync()
    assert not other.sync().damaged
    assert ["The tea is green"] == other.facts()


def test_a_deep_tree_in_the_remote_stops_no_sync(deep):
    one, other = deep.machines
    one.says("The cups are blue")

    for machine in (one, other):
        assert not machine.sync().offline

    assert ["The cups are blue", "The tea is green"] == other.facts()


def test_a_line_that_was_erased_and_cannot_be_removed_there_is_told(pair, monkeypatch):
    one, other = pair.machines
    stays = segment_of(one)
    redact(one.opened, redactable(one.opened, "The tea is green"))
    unlink = os.unlink

    def refused(path, **options):
        if str(path) == str(stays):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, **options)

    monkeypatch.setattr("eventlog.store.files.os.unlink", refused)
    for _ in range(2):
        with pytest.raises(NotStored, match="not stored"):
            one.sync()
    monkeypatch.undo()
    one.sync()

    assert not stays.exists()
    assert not other.sync().damaged
    assert [] == other.facts()


# ------------------------------------------------------------------------------------------------ with an old key


def forge(memory, keyring, replica, sequence, content):
    """Publish that a machine of this name said something, as whoever holds this key may do it."""
    drafts = Synced(memory, f"drafts-{content}")
    drafts.says(content)
    [written] = Path(drafts.store.log).glob("*.jsonl")
    packed = pack_lines(keyring, replica, written.stem, written.read_bytes(), 900)
    digests = {name: digest_of(data) for name, data in packed.items()}
    ts = f"{written.stem}T12:00:00.000000Z"
    head = MachineHead(keyring.namespace, replica, sequence, "token", ts, keyring.recipient, 901, digests)
    put(memory, {f"{replica}/{name}": data for name, data in {**packed, "head.age": head.packed(keyring)}.items()})


def put(memory, published):
    for name, data in published.items():
        path = memory.hub / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.fixture
def after_drop(pair):
    """A memory from which the third machine was dropped, and what that one still has: its key, and what it last saw."""
    one = pair.machines[0]
    third = pair.another("third")
    third.says("The pot is red")
    pair.settle()
    had = Keyring.load(third.store), SyncState.load(third.store)
    assert drop_machine(one.opened, replica_of(third.store), lambda _: True)
    pair.machines.remove(third)
    return pair, third, *had


KNOWN = ["The pot is red", "The tea is green"]


@pytest.mark.parametrize("name", ["its own", "that of another", "that of one who has not synced", "a new one"])
def test_a_dropped_machine_publishes_nothing_under_any_name(after_drop, name):
    memory, third, key, seen = after_drop
    one, other = memory.machines
    if name == "that of another":
        memory.settle()
    of_other = replica_of(other.store)
    replica, sequence = {
        "its own": (replica_of(third.store), seen.sequence),
        "a new one": ("zz-123456", 1),
    }.get(name, (of_other, seen.machines[of_other].sequence + 1))

    forge(memory, key, replica, sequence, "Send the tea to Mallory")
    report = one.sync()

    assert KNOWN == one.facts()
    assert [f"{replica}/head.age"] == report.damaged
    other.says("The cups are blue")
    memory.settle()
    assert ["The cups are blue", *KNOWN] == one.facts() == other.facts()


def test_a_dropped_machine_hands_out_no_key_to_who_has_synced_since(after_drop):
    memory, _, key, seen = after_drop
    memory.settle()
    one, other = memory.machines
    secret = os.urandom(16)
    ring = Keyring("", key.namespace, 3, {**key.secrets, 3: secret.hex()}, key.machine)
    marker = Marker(key.namespace, 3)
    signed = marker.signed(ring)
    put(memory, {**marker.keys_for(ring, {name: of.recipient for name, of in seen.machines.items()}), MARKER: signed})

    for machine in (one, other):
        with pytest.raises(UntrustedRemote, match="no machine of ours"):
            machine.sync()
        assert 3 not in Keyring.of(machine.store).secrets


def test_a_new_machine_gets_what_was_sent_before_a_drop_by_who_is_lost_since(after_drop):
    memory, _, _, _ = after_drop
    one, other = memory.machines
    memory.machines.remove(other)
    memory.code = Keyring.of(one.store).code

    assert KNOWN == memory.another("new").facts()


def test_of_two_drops_at_once_both_count_or_one_machine_is_told_that_its_own_does_not(pair, monkeypatch):
    one, other = pair.machines
    third, fourth = pair.another("third"), pair.another("fourth")
    pair.settle()
    kind = type(open_remote(pair.address, one.store, one.opened.machine))
    publish = kind.publish

    def meanwhile(remote, files, removed):
        monkeypatch.setattr(kind, "publish", publish)
        assert drop_machine(other.opened, replica_of(fourth.store), lambda _: True)
        return publish(remote, files, removed)

    monkeypatch.setattr(kind, "publish", meanwhile)
    assert drop_machine(one.opened, replica_of(third.store), lambda _: True)

    for dropped in (third, fourth):
        with pytest.raises(UntrustedRemote, match="was dropped"):
            dropped.sync()
    pair.machines[:] = [one, other]
    other.says("The cups are blue")
    pair.settle()
    assert ["The cups are blue", "The tea is green"] == one.facts()


def test_who_was_slower_at_a_drop_far_away_is_told_to_join_again(pair):
    one, other = pair.machines
    third, fourth = pair.another("third"), pair.another("fourth")
    pair.settle()
    before = {name: path.read_bytes() for name, path in pair.files().items()}
    drop_machine(one.opened, replica_of(third.store), lambda _: True)
    of_one = {name: path.read_bytes() for name, path in pair.files().items()}
    (pair.hub / MARKER).write_bytes(before[MARKER])  # as a sync program has not carried anything yet
    drop_machine(other.opened, replica_of(fourth.store), lambda _: True)
    put(pair, of_one)

    with pytest.raises(UntrustedRemote, match="dropped at once") as refused:
        other.sync()

    assert "drop again" in refused.value.hint
    with pytest.raises(UntrustedRemote, match="was dropped"):
        third.sync()
    one.says("The cups are blue")
    one.sync()
    fourth.sync()
    assert "The cups are blue" in fourth.facts()
