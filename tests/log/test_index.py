import json
import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eventlog import EventLog, Memory
from eventlog.app.naming import known_projects
from eventlog.fast.fastjson import BOM
from eventlog.hooks.conversation import turns_unsaved
from eventlog.log import index, raw_lines
from eventlog.store import index_lookup
from tests.support.builders import DAY, NEXT_DAY, fact, kinds, line, lines, write
from tests.support.effort import stride
from tests.support.strategies import any_lines, non_blank

STRIDE = stride(5)  # bytes
NAMES = ["a", "b", "ab", "a b", '"', "\tc", "é", "a\u2028b", "a:1,2;3"]


def everything(log, names):
    return {name: log.session(name) for name in names}


def told_by_scanning(log, names):
    there = list(log.read())
    return {name: [event for event in there if event.conversation_id == name] for name in names}


def index_file(log):
    return Path(log.store.cache) / "conversations.index"


@pytest.fixture
def indexed(log):
    log.append_many(fact(n, day=(DAY, NEXT_DAY)[n % 2], conversation_id=NAMES[n % len(NAMES)]) for n in range(18))
    assert log.index.catch_up()
    return log


@pytest.mark.slow
@given(st.lists(st.tuples(non_blank, st.sampled_from([DAY, NEXT_DAY])), max_size=20), st.integers(0, 20))
def test_a_session_is_what_scanning_the_log_finds(tmp_path_factory, some, indexed_first):
    log = EventLog(tmp_path_factory.mktemp("store"), fsync=False)
    facts = [fact(n, day=day, conversation_id=name) for n, (name, day) in enumerate(some)]
    log.append_many(facts[:indexed_first])
    log.index.catch_up()
    log.append_many(facts[indexed_first:])
    names = {*(name for name, _ in some), "nobody"}

    found = told_by_scanning(log, names)
    assert found == everything(log, names)
    assert [found[name] for name in log.index.conversations()] == [
        [entry.event for entry in session] for session in log.sessions()
    ]


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=9), st.integers(0, 3000))
def test_a_line_that_was_half_written_when_it_was_indexed_is_found_once_it_is_whole(tmp_path_factory, names, torn_at):
    log = EventLog(tmp_path_factory.mktemp("store"), fsync=False)
    log.append_many(fact(n, conversation_id=name) for n, name in enumerate(names))
    path = Path(log.store.log) / f"{DAY}.jsonl"
    whole = path.read_bytes()
    with path.open("r+b") as opened:  # the same file by its inode
        opened.truncate(torn_at)
        log.index.catch_up()
        opened.seek(0)
        opened.write(whole)

    assert told_by_scanning(log, NAMES) == everything(log, NAMES)
    assert set(names) == {*filter(None, log.index.conversations())}
    assert [name in names for name in NAMES] == [turns_unsaved(log.store, name) is None for name in NAMES]
    raw = {name: raw_lines.of_session(log.store, name) for name in NAMES}
    assert {name: names.count(name) for name in NAMES} == {name: len(found or ()) for name, found in raw.items()}


def test_of_a_file_that_has_grown_only_the_rest_is_searched(log, monkeypatch):
    log.append_many(fact(n, conversation_id="c") for n in range(9))
    log.index.catch_up()
    log.append(fact(9, conversation_id="c"))
    size = (Path(log.store.log) / f"{DAY}.jsonl").stat().st_size // 2
    for module in ("eventlog.log.raw_lines", "eventlog.hooks.conversation"):
        monkeypatch.setattr(f"{module}._SEARCH_AT_MOST", size)
    monkeypatch.setattr(index, "_SCAN_AT_MOST", size)
    monkeypatch.setattr(index.ConversationIndex, "catch_up", None)

    assert 10 == len(log.session("c")) == len(raw_lines.of_session(log.store, "c") or ())
    assert turns_unsaved(log.store, "c") is None


@pytest.mark.parametrize("spelled", ["\\u00e9/", "é\\/", "\\u00E9\\u002f"])
def test_an_id_may_be_escaped_by_other_writers(log, log_dir, spelled):
    write(log_dir, line(1, conversation_id="é/").replace("é/".encode(), spelled.encode()) + b"\n")
    searched = log.session("é/")
    log.index.catch_up()

    assert 1 == len(searched)
    assert searched == log.session("é/")
    assert turns_unsaved(log.store, "é/") is None


@pytest.mark.slow
@given(any_lines)
def test_damage_hides_no_session(tmp_path_factory, some):
    log = EventLog(tmp_path_factory.mktemp("store"))
    write(log.store.log, BOM + b"\n".join(some))
    damage = [bad for day in log.days() for bad in day.entries()[1]]
    names = {entry.event.conversation_id for entry in log.entries()}
    assume("conflict" not in kinds(damage))  # of one id in two conversations, each session shows its own line
    before = everything(log, names)
    log.index.catch_up()

    assert told_by_scanning(log, names) == before == everything(log, names)


def test_the_index_can_be_deleted_at_any_time(indexed):
    before = everything(indexed, NAMES)
    index_file(indexed).unlink()

    assert before == everything(indexed, NAMES)


@pytest.mark.slow
@pytest.mark.fuzz
def test_an_index_cut_anywhere_is_ignored(indexed):
    before, whole = everything(indexed, NAMES), index_file(indexed).read_bytes()
    for cut in range(0, len(whole), STRIDE):
        index_file(indexed).write_bytes(whole[:cut])

        assert before == everything(indexed, NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\0" * 5000, b"{}\n", b'{"version":99,"size":0,"files":[]}\n', b"[" * 9999]
)
def test_a_foreign_file_in_its_place_is_ignored_and_replaced(indexed, data):
    before = everything(indexed, NAMES)
    index_file(indexed).write_bytes(data)

    assert before == everything(indexed, NAMES)
    assert indexed.index.catch_up()
    assert before == everything(indexed, NAMES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_in_its_place_holds_up_nobody_and_is_replaced(indexed):
    index_file(indexed).unlink()
    os.mkfifo(index_file(indexed))

    assert told_by_scanning(indexed, NAMES) == everything(indexed, NAMES)
    assert set(NAMES) == set(indexed.index.conversations())
    assert indexed.index.catch_up()
    assert index_file(indexed).is_file()


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("mask", [0xFF, 0x01])
def test_a_flipped_byte_never_breaks_a_read_nor_brings_in_a_stranger(indexed, mask):
    before, whole = everything(indexed, NAMES), index_file(indexed).read_bytes()
    for position in range(0, len(whole), STRIDE):
        index_file(indexed).write_bytes(whole[:position] + bytes([whole[position] ^ mask]) + whole[position + 1 :])
        for name in NAMES:
            assert all(event in before[name] for event in indexed.session(name))


def test_a_day_file_that_was_replaced_is_read_anew(indexed):
    file = Path(indexed.store.log) / f"{DAY}.jsonl"
    Path(write(indexed.store.log, line(7, conversation_id="late") + b"\n", "new")).replace(file)

    assert told_by_scanning(indexed, [*NAMES, "late"]) == everything(indexed, [*NAMES, "late"])


def test_a_day_file_that_is_gone_is_forgotten(indexed):
    (Path(indexed.store.log) / f"{DAY}.jsonl").unlink()

    assert told_by_scanning(indexed, NAMES) == everything(indexed, NAMES)
    assert indexed.index.catch_up()
    assert DAY not in index_file(indexed).read_text().partition("\n")[0]


def test_reading_folds_in_more_than_a_little(log, monkeypatch):
    monkeypatch.setattr(index, "_SCAN_AT_MOST", 1000)
    log.append_many(fact(n) for n in range(3))
    log.session("c")
    small = index_file(log).exists()
    log.append_many(fact(n) for n in range(3, 30))

    assert 30 == len(log.session("c"))
    assert (False, True) == (small, index_file(log).exists())


def test_reading_folds_in_what_is_most_of_the_log_sooner(log, monkeypatch):
    monkeypatch.setattr(index, "_LITTLE", 100)
    log.append_many(fact(n) for n in range(9))
    log.session("c")
    first = index_file(log).read_bytes()
    log.append(fact(0, day="2026-02-27"))

    assert DAY.encode() in first
    assert 10 == len(log.session("c"))
    assert first == index_file(log).read_bytes()


def test_a_cache_that_cannot_be_written_costs_no_session(log, monkeypatch):
    monkeypatch.setattr(index, "_SCAN_AT_MOST", 0)
    log.append(fact())
    Path(log.store.cache).write_text("in the way")

    assert not log.index.catch_up()
    assert 1 == len(log.session("c"))


def test_a_conversation_that_cannot_be_in_the_log_has_no_events(indexed):
    assert [] == indexed.session("\ud800")


def test_the_index_names_the_files_it_is_made_from(indexed):
    head = json.loads(index_file(indexed).read_bytes().split(b"\n")[0])

    assert sorted(path.name for path in Path(indexed.store.log).iterdir()) == [
        index_lookup.name_in(stamp) for stamp in head["files"]
    ]


def test_an_index_of_a_log_that_has_not_changed_is_not_made_again(indexed):
    before = index_file(indexed).stat()

    assert indexed.index.catch_up()
    assert before == index_file(indexed).stat()


def test_positions_are_offsets_of_lines(log, log_dir):
    file = write(log_dir, lines(0, 1))

    assert [(file, 0), (file, len(lines(0)))] == log.index.positions("c")


def test_a_file_rewritten_with_its_size_and_time_kept_is_read_again(tmp_path):
    log = EventLog(tmp_path)
    log.append({"type": "fact", "conversation_id": "one", "content": "x"})
    assert log.index.catch_up()
    (file,) = (tmp_path / "log").iterdir()
    before = file.stat()
    with file.open("r+b") as opened:  # the same inode
        opened.write(file.read_bytes().replace(b'"one"', b'"two"'))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert [] == log.index.entries("one")
    assert 1 == len(log.index.entries("two"))


def test_a_project_is_known_by_the_index_and_by_what_was_said_since(indexed, monkeypatch):
    log = indexed

    def knows(project):
        return known_projects.KnownProjects(log.store).scope(project) == project

    def say(project):
        return log.append({"type": "fact", "conversation_id": NAMES[0], "content": "x", "project": project})

    assert not knows("/src/shop")
    say("/src/shop")
    assert knows("/src/shop")
    assert not knows(NAMES[0])  # the name of a conversation is none of a project
    assert log.index.catch_up()
    with monkeypatch.context() as patched:
        patched.setattr(known_projects, "read", lambda _: None)
        assert knows("/src/shop")
        assert not knows("/src")
    assert set(NAMES) == set(log.index.conversations())
    for file in Path(log.store.log).iterdir():
        file.write_bytes(file.read_bytes().replace(b"/src/shop", b"/src/none"))
    assert not knows("/src/shop")


def test_a_project_that_is_no_text_hides_no_line(log, log_dir):
    write(log_dir, line(1).replace(b'"type"', b'"project":{"a":1},"type"') + b"\n")
    assert log.index.catch_up()

    assert ["c"] == log.index.conversations()


def test_an_index_of_another_version_is_made_anew_by_a_replay(indexed):
    index = index_file(indexed)
    index.write_bytes(index.read_bytes().replace(b'"version":', b'"version":1', 1))
    Memory(indexed.store).replay()

    assert set(NAMES) <= {*EventLog(indexed.store).index.conversations()}
