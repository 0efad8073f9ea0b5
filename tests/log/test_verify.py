"""`verify` reads every line and names what is wrong with it."""

from pathlib import Path

import pytest

from eventlog.fast import fastjson
from eventlog.log.event_log import EventLog
from eventlog.log.verify import verify
from tests.support import builders
from tests.support.builders import DAY, NEXT_DAY
from tests.support.golden import DAMAGED, HISTORY, copied

EXPECTED = [
    (1, 0, "bom"), (2, 206, "blank"), (4, 416, "not-utf8"), (6, 814, "not-json"), (8, 1182, "not-object"),
    (10, 1407, "invalid"), (12, 1696, "wrong-day"), (15, 2303, "conflict"), (17, 2710, "torn"),
]  # fmt: skip


def test_a_whole_log_is_whole(tmp_path):
    found = verify(copied(HISTORY, tmp_path))

    assert (59, 11, []) == (found.events, found.files, found.damage)


@pytest.mark.parametrize("piece", [1, 300])
def test_a_log_is_whole_wherever_it_is_cut_to_be_read(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("eventlog.log.verify._PIECE", piece)
    found = verify(copied(HISTORY, tmp_path))

    assert (59, 11, []) == (found.events, found.files, found.damage)


def test_an_empty_log_is_whole(log):
    assert 0 == verify(log).events


@pytest.mark.parametrize("piece", [1, 700, 1 << 16])
def test_every_kind_of_damage_is_named_with_line_offset_and_kind(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("eventlog.log.verify._PIECE", piece)
    found = verify(copied(DAMAGED, tmp_path))

    assert EXPECTED == [(one.line, one.offset, one.kind) for one in found.damage]
    assert {f"{DAY}.jsonl"} == {Path(one.file).name for one in found.damage}
    assert all(one.reason for one in found.damage)


def test_every_other_event_is_counted_and_read(tmp_path):
    log = copied(DAMAGED, tmp_path)
    kept = [event.content for event in log.read() if event.content.startswith("Kept")]

    assert 10 == verify(log).events
    assert 9 == len(kept)


def test_an_offset_is_where_the_damaged_line_begins(tmp_path):
    log = copied(DAMAGED, tmp_path)
    data = Path(log.store.log, f"{DAY}.jsonl").read_bytes()

    for one in verify(log).damage:
        assert data[: one.offset].count(b"\n") == one.line - 1
        assert one.offset == 0 or data[one.offset - 1 : one.offset] == b"\n"


def test_the_next_append_after_damage_is_intact(tmp_path):
    log = copied(DAMAGED, tmp_path)
    log.append(builders.fact(7))

    assert "fact 7" in builders.contents(log.read())
    assert len(EXPECTED) == len(verify(log).damage)


def test_a_line_over_the_limit_is_named_and_still_read(tmp_path, log_dir):
    builders.write(log_dir, builders.line(1, content="x" * fastjson.MAX_LINE) + b"\n" + builders.lines(2))
    found = verify(EventLog(tmp_path / "store"))

    assert (["too-long"], 2) == (builders.kinds(found.damage), found.events)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_last_line_that_is_an_event_is_torn_only_without_its_newline(tmp_path, log_dir, end):
    builders.write(log_dir, builders.line(1) + end)
    found = verify(EventLog(tmp_path / "store"))

    assert ([] if end else ["torn"], 1) == (builders.kinds(found.damage), found.events)


def test_replicas_of_a_day_are_one_day_and_their_differences_are_named(tmp_path, log_dir):
    builders.write(log_dir, builders.lines(1, 2))
    builders.write(log_dir, builders.lines(2) + builders.line(1, mood="odd") + b"\n", f"{DAY}.laptop.jsonl")
    builders.write(log_dir, builders.line(3, day=NEXT_DAY) + b"\n", f"{NEXT_DAY}.jsonl")
    found = verify(EventLog(tmp_path / "store"))

    assert (3, 3, ["conflict"]) == (found.events, found.files, builders.kinds(found.damage))
