"""`eventlog replay`: rebuilds what differs, tells what it did, and writes nothing it was not asked to."""

import json
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from eventlog.format.events import TurnEnd
from eventlog.log.event_log import EventLog
from eventlog.projections.catalog import ALL
from tests.support import builders
from tests.support.command_line import call
from tests.support.golden import DAMAGED, HISTORY, copied, tree

EXPECTED = tree(HISTORY / "expected" / "en")
FILES = {"sessions": "sessions.jsonl", "summaries": "sessions/", "memory": "MEMORY.md"}


@pytest.fixture
def store(tmp_path):
    return Path(copied(HISTORY, tmp_path).store.root)


def _replay(store, *args):
    return call("replay", *args, "--store", store)


def test_the_knowledge_files_are_built_and_named(store):
    ran = _replay(store)

    assert EXPECTED == tree(store / "knowledge")
    assert 0 == ran.code
    assert all(f"wrote      {name}" in ran.out for name in EXPECTED if "/" not in name)
    assert f"wrote      memory/: {len([name for name in EXPECTED if name.startswith('memory/')])} files" in ran.out
    assert f"59 events of 10 days (10 recomputed): {len(EXPECTED)} files changed, 0 unchanged" in ran.out


def test_it_leaves_every_index_without_a_session_that_ends(store):
    _replay(store)

    assert {"knowledge.db", "conversations.index", "search.sqlite"} <= {one.name for one in (store / "cache").iterdir()}


def test_the_index_of_a_log_too_large_for_it_is_left_to_the_background(store, monkeypatch):
    monkeypatch.setattr("eventlog.app.build.rebuild._MAX_INDEXED", 0)
    start = Mock()
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", start)
    _replay(store)

    assert str(store) == start.call_args.args[0].root
    assert not (store / "cache" / "search.sqlite").exists()


@pytest.mark.slow
def test_once_the_background_has_indexed_a_large_log_replays_start_no_more_of_it(store, monkeypatch):
    monkeypatch.setattr("eventlog.app.build.rebuild._MAX_INDEXED", 1000)
    start = Mock()
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", start)
    call("settle", "--store", store)
    EventLog(store).append(TurnEnd(conversation_id="c"))
    _replay(store)

    assert not start.called
    assert {"search.sqlite", "dialogues.sqlite"} <= {one.name for one in (store / "cache").iterdir()}


def test_a_second_time_nothing_is_written(store):
    _replay(store)
    ran = _replay(store)

    assert 1 == len(ran.out.splitlines())
    assert f"0 files changed, {len(EXPECTED)} unchanged" in ran.out


def test_files_and_directories_are_for_the_owner_only(store):
    _replay(store)
    modes = {path.stat().st_mode & 0o777 for path in (store / "knowledge").rglob("*") if path.is_file()}
    rooms = {path.stat().st_mode & 0o777 for path in (store / "knowledge").rglob("*") if path.is_dir()}

    assert ({0o600}, {0o700}) == (modes, rooms)


def test_deleted_knowledge_is_rebuilt(store):
    _replay(store)
    (store / "knowledge" / "MEMORY.md").unlink()
    ran = _replay(store)

    assert EXPECTED == tree(store / "knowledge")
    assert "1 file changed" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_one_projection_alone_touches_its_files_only(store, name):
    _replay(store, "--projection", name)
    built = tree(store / "knowledge")

    assert {path: data for path, data in EXPECTED.items() if path in built} == built
    assert built
    assert all(FILES[name] in path for path in built)


def test_every_projection_has_a_name_the_help_tells():
    help_text = "".join(call("replay", "--help").out.split())  # names may be wrapped

    assert all(projection.name in help_text for projection in ALL)


def test_a_projection_that_does_not_exist_is_refused_with_those_that_do(store):
    ran = _replay(store, "--projection", "poems")

    assert 2 == ran.code
    assert "'poems'" in ran.err
    assert "sessions, summaries, memory" in ran.err


# ------------------------------------------------------------------------------------------------ --check


def test_check_finds_nothing_where_all_is_as_the_log_says(store):
    _replay(store)

    assert 0 == _replay(store, "--check").code


def test_check_names_what_differs_and_what_is_stale_and_writes_nothing(store):
    _replay(store)
    knowledge = store / "knowledge"
    (knowledge / "MEMORY.md").write_text("mine\n")
    (knowledge / "sessions.jsonl").unlink()
    (knowledge / "sessions" / "gone.md").write_bytes((knowledge / "sessions" / "notes.md").read_bytes())
    before = tree(knowledge)
    ran = _replay(store, "--check")

    assert 1 == ran.code
    assert ["differs    MEMORY.md", "differs    sessions.jsonl"] == [
        line for line in ran.out.splitlines() if line.startswith("differs")
    ]
    assert "stale      sessions/gone.md" in ran.out
    assert before == tree(knowledge)


@pytest.mark.parametrize("args", [[], ["--check"]])
def test_replay_of_an_empty_store_creates_nothing(tmp_path, monkeypatch, args):
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "nowhere"))

    assert 0 == call("replay", *args).code
    assert not (tmp_path / "nowhere").exists()


# ------------------------------------------------------------------------------------------------ --out, --as-of


def test_out_writes_elsewhere_and_leaves_the_knowledge_of_the_store_alone(store, tmp_path):
    ran = _replay(store, "--out", tmp_path / "out")

    assert 0 == ran.code
    assert EXPECTED == tree(tmp_path / "out")
    assert not (store / "knowledge").exists()


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["2026-02-20", "2026-02-20T23:59:59.999999Z", "2026-02-21T07:59:59.999999+08:00"])
def test_as_of_a_date_includes_that_day_and_a_time_is_that_moment(store, tmp_path, moment):
    _replay(store, "--out", tmp_path / "out", "--as-of", moment)
    for file in (store / "log").iterdir():
        if file.name >= "2026-02-21":
            file.unlink()
    _replay(store, "--out", tmp_path / "cut")

    assert tree(tmp_path / "cut") == tree(tmp_path / "out")


@pytest.mark.parametrize("name", ["sessions.jsonl", "projects.jsonl"])
def test_out_leaves_a_file_of_that_name_that_no_replay_wrote(store, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text('{"id": "sum-1", "mine": true}\n')
    before = tree(tmp_path / "out")
    ran = _replay(store, "--out", tmp_path / "out")

    assert (3, before) == (ran.code, tree(tmp_path / "out"))
    assert f"{name}: is there, and no replay wrote it" in ran.err


@pytest.mark.parametrize("inside", ["", "log", "knowledge/then", "../link/log"])
def test_out_is_refused_in_the_store_itself(store, inside):
    (store.parent / "link").symlink_to(store)
    before = tree(store)
    ran = _replay(store, "--out", store / inside, "--as-of", "2026-02-20")

    assert (2, before) == (ran.code, tree(store))
    assert "is in the store" in ran.err


def test_as_of_needs_out(store):
    ran = _replay(store, "--as-of", "2026-02-20")

    assert 2 == ran.code
    assert "--out" in ran.err
    assert not (store / "knowledge").exists()


@pytest.mark.parametrize(
    ("moment", "said"),
    [("someday", "is no time"), ("2026-02-30", "is no time"), ("2026-02-20T28:30:00", "say it like 2d, yesterday")],
)
def test_a_time_that_is_none_is_refused(store, tmp_path, moment, said):
    ran = _replay(store, "--out", tmp_path / "out", "--as-of", moment)

    assert 2 == ran.code
    assert said in ran.err


# ------------------------------------------------------------------------------------------------ --full, --json


def test_full_makes_the_cache_anew(store):
    _replay(store)

    assert "(0 recomputed)" in _replay(store).out
    assert "(10 recomputed)" in _replay(store, "--full").out


def test_json_is_the_same_report_for_programs(store):
    report = json.loads(_replay(store, "--json").out)

    assert (59, 10, 10) == (report["events"], report["days"], report["days_folded"])
    assert sorted(EXPECTED) == sorted(report["written"])
    assert ([], [], [], [], 0) == tuple(
        report[name] for name in ("removed", "set_aside", "left", "damage", "unchanged")
    )


def test_damage_is_told_and_stops_nothing(tmp_path):
    store = Path(copied(DAMAGED, tmp_path).store.root)
    ran = _replay(store)
    report = json.loads(_replay(store, "--json").out)

    assert 0 == ran.code
    assert "2026-02-20.jsonl:4 (byte 416) not-utf8" in ran.out
    assert {"bom", "blank", "conflict"} < {one["kind"] for one in report["damage"]}
    memories = (path.read_text() for path in store.joinpath("knowledge").rglob("MEMORY.md"))
    assert any("Kept: after the list" in memory for memory in memories)


def test_lines_that_differ_and_have_one_id_are_told_by_their_number_and_verify_names_them(tmp_path):
    store = copied(DAMAGED, tmp_path).store.root
    verified = call("verify", "--store", store)

    conflicts = [line for line in verified.out.splitlines() if " conflict: " in line]
    assert conflicts
    for _ in range(2):
        told = [line for line in _replay(Path(store)).out.splitlines() if "conflict" in line]
        assert [f"damaged    {len(conflicts)} conflict{'s' * (len(conflicts) > 1)}: eventlog verify"] == told


def test_of_much_damage_the_first_places_are_named(store):
    with (store / "log" / "2026-02-20.jsonl").open("ab") as opened:
        opened.write(b"no event\n" * 100)
    damaged = [line for line in _replay(store).out.splitlines() if line.startswith("damaged")]

    assert (9, "damaged    92 more: eventlog verify") == (len(damaged), damaged[-1])
    assert 100 == len(json.loads(_replay(store, "--json").out)["damage"])


def test_a_write_under_way_is_no_damage(store):
    with (store / "log" / "2026-02-25.jsonl").open("ab") as opened:
        opened.write(builders.line(day="2026-02-25")[:50])

    assert [] == json.loads(_replay(store, "--json").out)["damage"]


# ------------------------------------------------------------------------------------------------ what people did


def test_an_edited_file_is_set_aside_and_told(store):
    _replay(store)
    memory = store / "knowledge" / "MEMORY.md"
    memory.write_text(memory.read_text() + "mine\n")
    ran = _replay(store)
    (aside,) = (store / "knowledge").glob("MEMORY.md.edited-*")

    assert f"set aside  {aside.name}" in ran.out
    assert aside.read_text().endswith("mine\n")
    assert EXPECTED["MEMORY.md"] == memory.read_bytes()


def test_a_knowledge_directory_that_cannot_be_written_exits_with_3(store):
    (store / "knowledge").write_text("in the way")
    ran = _replay(store)

    assert 3 == ran.code
    assert "not stored" in ran.err


def _becomes_a_directory(path):
    path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize("takes_its_place", [os.mkfifo, _becomes_a_directory])
@pytest.mark.parametrize("name", ["MEMORY.md", "sessions.jsonl", "memory/2026-02-20.md", "memory/2020-01-01.md"])
def test_what_is_in_the_place_of_a_file_is_named_and_every_other_file_is_written(store, name, takes_its_place):
    path = store / "knowledge" / name
    path.parent.mkdir(parents=True)
    takes_its_place(path)
    ran = _replay(store)

    assert (3, 1) == (ran.code, ran.err.count(f"{path}: not stored: not a regular file"))
    path.rmdir() if path.is_dir() else path.unlink()
    assert {file: data for file, data in EXPECTED.items() if file != name} == tree(store / "knowledge")
    assert 0 == _replay(store).code
    assert EXPECTED == tree(store / "knowledge")
