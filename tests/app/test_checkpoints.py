"""Checkpoints are good for exactly the files they were made of."""

import os
import shutil
from pathlib import Path

import pytest

from eventlog.app.checkpoints import Checkpoints
from eventlog.projections.engine.day_fold import DayFold, stamps_of
from eventlog.projections.state.conversations import Conversations
from tests.support import builders
from tests.support.builders import DAY
from tests.support.typed_events import event, fact, folded, retract, summary

KINDS = [Conversations]


@pytest.fixture
def day(log_dir):
    return builders.day_of(builders.write(log_dir, builders.lines(1, 2)))


@pytest.fixture
def kept(tmp_path, day):
    """Checkpoints that hold one of that day."""
    checkpoints = Checkpoints(str(tmp_path / "cache" / "checkpoints"))
    checkpoints.keep(day, stamps_of(day), _folded())
    return checkpoints


def _folded():
    state = folded(fact(1, "写", mood="odd"), summary(2), event("session_end", 3), retract(4, fact(1)))
    return DayFold({Conversations: state}, 4, [], ["stray"], frozenset(["left out"]))


def _file(tmp_path):
    return tmp_path / "cache" / "checkpoints" / f"{DAY}.msgpack"


def test_what_was_kept_is_found(kept, day):
    found = kept.find(day, KINDS)

    assert (_folded().states, 4, ["stray"], {"left out"}) == (
        found.states,
        found.events,
        found.misdated,
        found.left_out,
    )


def test_nothing_is_found_of_a_day_never_kept(tmp_path, day):
    assert Checkpoints(str(tmp_path / "cache" / "checkpoints")).find(day, KINDS) is None


def test_files_copied_with_other_times_are_the_same_files(kept, day):
    shutil.copy(day.files[0], f"{day.files[0]}.new")
    Path(f"{day.files[0]}.new").replace(day.files[0])
    os.utime(day.files[0], (1, 1))

    assert kept.find(day, KINDS)


def test_a_changed_file_of_the_same_size_is_another_file(kept, day):
    data = Path(day.files[0]).read_bytes()
    Path(day.files[0]).write_bytes(data.replace(b"fact 1", b"fact 9"))

    assert kept.find(day, KINDS) is None


def test_a_file_that_grew_is_another_file(kept, day):
    with Path(day.files[0]).open("ab") as opened:
        opened.write(builders.lines(3))

    assert kept.find(day, KINDS) is None


def test_another_replica_makes_it_another_day(kept, day, log_dir):
    replica = builders.write(log_dir, builders.lines(3), f"{DAY}.laptop.jsonl")

    assert kept.find(builders.day_of(*day.files, replica), KINDS) is None


def test_every_flipped_byte_is_noticed(kept, day, tmp_path):
    data = _file(tmp_path).read_bytes()
    for at in range(len(data)):
        _file(tmp_path).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])

        assert kept.find(day, KINDS) is None, at


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x00", b"x" * 100])
def test_what_is_no_checkpoint_is_ignored(kept, day, tmp_path, data):
    _file(tmp_path).write_bytes(data)

    assert kept.find(day, KINDS) is None


def test_a_state_of_another_version_is_ignored(kept, day, monkeypatch):
    monkeypatch.setattr(Conversations, "version", Conversations.version + 1)

    assert kept.find(day, KINDS) is None


def test_files_that_changed_while_they_were_folded_get_no_checkpoint(tmp_path, day):
    checkpoints = Checkpoints(str(tmp_path / "cache" / "checkpoints"))
    before = stamps_of(day)
    with Path(day.files[0]).open("ab") as opened:
        opened.write(builders.lines(3))
    checkpoints.keep(day, before, _folded())

    assert not _file(tmp_path).exists()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, day):
    (tmp_path / "cache").write_text("in the way")
    checkpoints = Checkpoints(str(tmp_path / "cache" / "checkpoints"))
    checkpoints.keep(day, stamps_of(day), _folded())

    assert checkpoints.find(day, KINDS) is None
