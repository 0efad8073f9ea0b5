"""Lines of another machine land in a file of their own, each event once, and whole also after a kill."""

from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.app.sync import receiving
from eventlog.app.sync.receiving import make_durable
from eventlog.fast import fastjson
from eventlog.format.errors import NotStored
from eventlog.log.verify import verify
from eventlog.store import shared_files
from tests.support.builders import DAY, fact, line, lines


@pytest.fixture
def log(tmp_path):
    return EventLog(tmp_path, fsync=False)


def take_in(log, replica, day, lines):
    files: dict[str, bool] = {}
    new = receiving.take_in(log, replica, day, lines, files)
    make_durable(log, files)
    return new


def read(log, replica="laptop-1"):
    return Path(log.store.log, f"{DAY}.{replica}.jsonl").read_bytes()


def test_lines_land_once_byte_for_byte(log):
    assert 2 == take_in(log, "laptop-1", DAY, lines(1, 2))
    assert 1 == take_in(log, "laptop-1", DAY, lines(2, 3))
    assert 0 == take_in(log, "laptop-1", DAY, lines(1, 3))
    assert lines(1, 2, 3) == read(log)


def test_what_any_file_of_the_day_has_is_left_out(log):
    own = Path(log.store.log, f"{DAY}.jsonl")
    own.parent.mkdir(parents=True)
    own.write_bytes(lines(1))
    take_in(log, "desktop-1", DAY, lines(2))

    assert 1 == take_in(log, "laptop-1", DAY, lines(1, 2, 3))
    assert lines(3) == read(log)
    assert lines(1) == own.read_bytes()


@pytest.mark.parametrize("order", [("laptop-1", "desktop-1"), ("desktop-1", "laptop-1")])
def test_a_line_that_states_something_else_is_named_and_counts_alike_whichever_came_first(log, order):
    contents = {"laptop-1": "Prices are floats", "desktop-1": "Prices are integers"}
    for replica in order:
        assert 1 == take_in(log, replica, DAY, line(1, content=contents[replica]) + b"\n")

    assert ["Prices are floats"] == [event.content for event in log.read()]
    assert ["conflict"] == [one.kind for one in verify(log).damage]
    own = Path(log.store.log, f"{DAY}.jsonl")
    own.write_bytes(line(1, content="Prices are strings") + b"\n")
    assert ["Prices are strings"] == [event.content for event in log.read()]


def test_a_line_that_differs_in_what_it_does_not_state_is_left_out(log):
    take_in(log, "desktop-1", DAY, line(1, replica="desktop-1") + b"\n")

    assert 0 == take_in(log, "laptop-1", DAY, line(1, replica="laptop-1") + b"\n")
    assert [] == verify(log).damage


def test_a_line_that_was_cut_anew_takes_the_place_of_the_first(log):
    take_in(log, "laptop-1", DAY, lines(1, 2))
    erased = fastjson.dumps({**fact(1), "content": "[redacted:1]", "redacted": "0" * 64}) + b"\n"

    assert 1 == take_in(log, "laptop-1", DAY, erased)
    assert erased + lines(2) == read(log)
    assert 0 == take_in(log, "laptop-1", DAY, lines(1, 2))
    assert erased + lines(2) == read(log)


def test_a_torn_end_of_an_earlier_program_costs_only_itself(log):
    path = Path(log.store.log, f"{DAY}.laptop-1.jsonl")
    path.parent.mkdir(parents=True)
    path.write_bytes(lines(1) + line(2)[:20])

    assert 2 == take_in(log, "laptop-1", DAY, lines(1, 2, 3))
    assert ["fact 1", "fact 2", "fact 3"] == [event.content for event in log.read()]


def test_damaged_lines_and_those_of_another_day_are_left_out(log):
    other = fastjson.dumps(fact(5, day="2026-02-21"))
    assert 1 == take_in(log, "laptop-1", DAY, b"no\n" + other + b"\n\n" + lines(1))
    assert lines(1) == read(log)


def test_an_event_whose_line_is_damaged_in_another_file_of_the_day_arrives_whole(log):
    own = Path(log.store.log, f"{DAY}.jsonl")
    own.parent.mkdir(parents=True)
    own.write_bytes(lines(1).replace(b'"content"', b'"kontent"'))

    assert 1 == take_in(log, "laptop-1", DAY, lines(1))
    assert ["fact 1"] == [event.content for event in log.read()]


def test_new_lines_are_appended_and_a_line_that_a_kill_tore_is_whole_afterwards(log):
    path = Path(log.store.log, f"{DAY}.laptop-1.jsonl")
    take_in(log, "laptop-1", DAY, lines(1))
    inode = path.stat().st_ino

    assert 1 == take_in(log, "laptop-1", DAY, lines(1, 2))
    assert inode == path.stat().st_ino  # what has read the first line reads on

    path.write_bytes(lines(1) + line(2)[:20])
    assert 2 == take_in(log, "laptop-1", DAY, lines(2, 3))
    assert lines(1, 2, 3) == read(log)


def test_a_torn_line_goes_also_where_its_event_is_in_another_file_or_was_erased_meanwhile(log):
    path = Path(log.store.log, f"{DAY}.laptop-1.jsonl")
    path.parent.mkdir(parents=True)
    Path(log.store.log, f"{DAY}.jsonl").write_bytes(lines(2))
    torn = line(2)[:20]
    path.write_bytes(lines(1) + torn)

    assert 0 == take_in(log, "laptop-1", DAY, lines(1, 2))
    assert lines(1) == read(log)

    path.write_bytes(lines(1) + line(3)[:-9])
    erased = fastjson.dumps({**fact(3), "content": "[redacted:1]", "redacted": "0" * 64}) + b"\n"
    assert 1 == take_in(log, "laptop-1", DAY, erased)
    assert lines(1) + erased == read(log)


def test_what_could_not_be_synced_goes_where_its_file_is_new_and_arrives_again(log, monkeypatch):
    def fails(paths):
        raise NotStored("not stored: Input/output error", where=paths[0])

    take_in(log, "laptop-1", DAY, lines(1))
    files: dict[str, bool] = {}
    receiving.take_in(log, "laptop-1", DAY, lines(2), files)
    receiving.take_in(log, "desktop-1", DAY, lines(3), files)
    with monkeypatch.context() as broken:
        broken.setattr(shared_files, "make_durable", fails)
        with pytest.raises(NotStored):
            make_durable(log, files)

    assert ["fact 1", "fact 2"] == [event.content for event in log.read()]
    assert 1 == take_in(log, "desktop-1", DAY, lines(3))


def test_lines_that_a_killed_program_has_written_are_synced_too(log, monkeypatch):
    receiving.take_in(log, "laptop-1", DAY, lines(1), {})
    synced: list[str] = []
    monkeypatch.setattr(shared_files, "make_durable", synced.extend)

    assert 0 == take_in(log, "laptop-1", DAY, lines(1))
    assert [f"{log.store.log}/{DAY}.laptop-1.jsonl"] == synced
