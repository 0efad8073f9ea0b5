"""Where the directory of the log is as it was, days that are over are not looked at; and nothing that happens is missed."""

import os
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import OperationalError

import pytest

from eventlog import EventLog, Fact, Memory, SessionStart
from eventlog.app.search import search_index
from eventlog.app.search.appended import Appended
from eventlog.app.search.index_writer import IndexWriter
from eventlog.app.search.open_index import open_index
from eventlog.format.timestamps import from_ns
from eventlog.store import index_lookup

LONG_AGO, NEXT = "2026-01-02T08:00:00.000000Z", "2026-01-03T08:00:00.000000Z"
SHOP = "/src/shop"


@pytest.fixture
def looks(tmp_path, monkeypatch):
    """Return a memory whose past days a search has looked at, and the names of the files looked at since."""
    memory, names = Memory(tmp_path / "store"), []
    for ts in (LONG_AGO, NEXT, None):
        say(memory, f"The lantern of {ts} hangs", **({"ts": ts} if ts else {}))
    memory.replay()  # whether the log knows the project is told by its files
    monkeypatch.setattr(index_lookup, "_TICK", -1)  # the clock of this file system is a fast one
    for _ in range(2):
        found(memory)
    look = index_lookup.stamp_of

    def noting(log_dir, name, *rest):
        names.append(name)
        return look(log_dir, name, *rest)

    monkeypatch.setattr(index_lookup, "stamp_of", noting)
    return memory, names


def say(memory, content, **fields):
    return memory.log.append(Fact(conversation_id="c1", project=SHOP, content=content, **fields))


def found(memory):
    return {hit.text for hit in memory.search("lantern", project=SHOP)}


def test_a_search_writes_nothing_where_nothing_was_said_since_yesterday(tmp_path, monkeypatch):
    monkeypatch.setattr(index_lookup, "_TICK", -1)
    memory = Memory(tmp_path / "store")
    for ts in (LONG_AGO, NEXT):
        say(memory, f"The lantern of {ts} hangs", ts=ts)
    memory.replay()
    for _ in range(2):
        found(memory)
    index = Path(memory.log.store.cached("search.sqlite"))
    before = index.read_bytes()

    assert 2 == len(found(memory))
    assert before == index.read_bytes()


def file_of(memory, ts=LONG_AGO):
    return Path(memory.log.store.log, f"{ts[:10]}.jsonl")


def line_of(memory, text, day=LONG_AGO[:10]):
    """Return a line of that day as another store has it."""
    other = EventLog(Path(memory.log.store.root, "other"))
    other.append(Fact(conversation_id="c2", project=SHOP, content=text, ts=day + LONG_AGO[10:]))
    return Path(other.store.log, f"{day}.jsonl").read_bytes()


def test_days_that_are_over_are_not_looked_at(looks):
    memory, names = looks

    assert 3 == len(found(memory))
    assert not {f"{LONG_AGO[:10]}.jsonl", f"{NEXT[:10]}.jsonl"} & set(names)
    assert names  # today's


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_what_is_said_about_a_day_that_is_over_is_found_at_once(looks, number):
    memory, _ = looks
    for one in range(number):  # the second through a descriptor that is still open
        say(memory, f"A lantern late by {one}", ts=LONG_AGO[:-2] + f"{one}Z")
        assert 4 + one == len(found(memory))


def test_what_is_said_today_is_found_at_once_in_whichever_way_it_came(looks):
    memory, _ = looks
    say(memory, "A lantern now")
    assert "A lantern now" in found(memory)

    today = max(Path(memory.log.store.log).iterdir())
    with today.open("ab") as opened:
        opened.write(line_of(memory, "A lantern by hand", today.stem))
    assert "A lantern by hand" in found(memory)


def test_nor_are_they_where_a_new_day_began_without_a_word(looks):
    memory, names = looks
    tomorrow = from_ns(time.time_ns() + index_lookup._DAY)[:10]
    Path(memory.log.store.log, f"{tomorrow}.jsonl").write_bytes(b'{"type":"host_event"}\n')
    for _ in range(2):
        names.clear()
        assert 3 == len(found(memory))
    assert not {f"{LONG_AGO[:10]}.jsonl", f"{NEXT[:10]}.jsonl"} & set(names)
    assert names  # today's and tomorrow's


def test_where_a_new_day_cannot_be_noted_what_is_known_is_found_and_so_is_what_follows(looks, monkeypatch):
    def full(*_):
        raise OperationalError("database or disk is full")

    memory, _ = looks
    tomorrow = Path(memory.log.store.log, f"{from_ns(time.time_ns() + index_lookup._DAY)[:10]}.jsonl")
    tomorrow.write_bytes(b'{"type":"host_event"}\n')
    with monkeypatch.context() as patch:
        patch.setattr(IndexWriter, "take_in", full)
        assert 3 == len(found(memory))

    with tomorrow.open("ab") as opened:
        opened.write(line_of(memory, "A lantern of tomorrow", tomorrow.stem))
    assert "A lantern of tomorrow" in found(memory)


@pytest.mark.parametrize("days", [0, 1])
def test_what_follows_the_start_of_a_first_session_of_the_day_is_found_at_once(tmp_path, monkeypatch, days):
    monkeypatch.setattr(index_lookup, "_TICK", -1)
    memory = Memory(tmp_path / "store")
    for ts in [LONG_AGO][:days]:
        say(memory, "The lantern hangs", ts=ts)
        found(memory)
    memory.log.append(SessionStart(conversation_id="c2", project=SHOP))
    for _ in range(2):
        assert days == len(found(memory))

    say(memory, "The lantern is lit")
    assert "The lantern is lit" in found(memory)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["2026-01-02.laptop.jsonl", "2026-01-01.jsonl"])
def test_a_file_that_comes_is_read_at_once(looks, name):
    memory, _ = looks
    file_of(memory).with_name(name).write_bytes(line_of(memory, "A lantern from elsewhere", name[:10]))

    assert "A lantern from elsewhere" in found(memory)


def test_of_a_file_that_goes_or_is_replaced_nothing_is_found_from_then_on(looks):
    memory, _ = looks
    file_of(memory, NEXT).unlink()
    assert 2 == len(found(memory))

    replaced = file_of(memory).with_suffix(".new")
    replaced.write_bytes(line_of(memory, "Another lantern"))
    replaced.replace(file_of(memory))
    assert "Another lantern" in found(memory)
    assert 2 == len(found(memory))


@pytest.mark.slow
@pytest.mark.parametrize("is_replayed", [False, True])
def test_what_another_program_writes_into_a_day_that_is_over_is_found_within_ten_minutes_or_by_a_replay(
    looks, monkeypatch, is_replayed
):
    memory, _ = looks
    with file_of(memory).open("ab") as opened:
        opened.write(line_of(memory, "A lantern by hand"))
    if is_replayed:
        memory.replay()
    else:
        monkeypatch.setattr(index_lookup, "_GONE_BY", 0)

    assert "A lantern by hand" in found(memory)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [-1, 1])
def test_a_clock_that_is_set_tells_nothing(looks, monkeypatch, shift):
    memory, names = looks
    clock = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: clock() + shift * 86_400_000_000_000)
    found(memory)

    assert f"{LONG_AGO[:10]}.jsonl" in names


def test_a_directory_that_changed_just_now_is_not_gone_by(tmp_path, monkeypatch):
    monkeypatch.setattr(index_lookup, "_TICK", 60_000_000_000)

    assert index_lookup.looked_at(str(tmp_path), "") == ("", "")
    assert index_lookup.looked_at(str(tmp_path / "none"), "") == ("", "")


def test_a_search_that_may_not_note_its_look_finds_the_same(looks, monkeypatch):
    memory, _ = looks
    os.utime(memory.log.store.log)
    monkeypatch.setattr(search_index, "_LOOKED", "INSERT INTO nowhere VALUES (?)")

    assert 3 == len(found(memory))


def test_an_index_made_anew_never_holds_all_events_at_once(tmp_path, monkeypatch):
    memory = Memory(tmp_path)
    say(memory, "The lantern hangs")
    monkeypatch.delattr(Appended, "events")

    with closing(open_index(memory.log.store)) as index:
        assert index.find({"lantern": 1}, "", search_index.Scope(), 5)
