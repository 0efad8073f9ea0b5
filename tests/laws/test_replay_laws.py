"""The laws of replay, over generated histories: the set of events decides, and nothing else does."""

import copy
import os
import random
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.build import program
from eventlog.fast import fastjson
from eventlog.format import codec
from eventlog.format.ids import day_in_id
from eventlog.projections.catalog import ALL
from eventlog.projections.views.markdown import stamped_at
from eventlog.settings.schema import MemorySettings, Settings, SummarySettings
from tests.support import builders
from tests.support.builders import replay
from tests.support.golden import DEFAULTS, HISTORY, copied, rendered, tree
from tests.support.histories import DAYS, REPLICAS, histories, log_of, ts_of, write
from tests.support.machines import STORES, found_as
from tests.support.tree import IMPORT_PATH
from tests.support.typed_events import documents_of
from tests.support.use_cases import rebuild

pytestmark = pytest.mark.slow

SMALL = Settings(memory=MemorySettings(max_lines=14, max_bytes=1000), summaries=SummarySettings(keep=1, max_chars=50))
SETTINGS = st.sampled_from([Settings(), Settings(locale="zh", timezone="Asia/Shanghai"), SMALL])
moments = st.sampled_from(DAYS).flatmap(
    lambda day: st.integers(0, 1439).map(lambda minute: f"{day}T{minute // 60:02d}:{minute % 60:02d}:00.000000Z")
)


def fresh(lines, chosen=DEFAULTS, **options):
    """What these lines say, with nothing kept from earlier."""
    with log_of(lines) as log:
        return rendered(log, chosen, anew=True, **options)


@given(histories(), SETTINGS, st.data())
def test_neither_order_nor_files_nor_copies_of_lines_matter(lines, chosen, data):
    shuffled = data.draw(st.permutations([*lines, *data.draw(st.lists(st.sampled_from(lines), max_size=5))]))
    replicas = [data.draw(st.sampled_from(REPLICAS)) for _ in shuffled]
    with log_of([]) as other:
        write(other, shuffled, replicas)
        found = rendered(other, chosen)

    assert fresh(lines, chosen) == found


@given(histories(), st.data())
def test_an_event_told_again_on_a_later_day_changes_nothing(lines, data):
    assert fresh(lines) == fresh([*_some_told_again(lines, data), *lines])


@given(histories(), st.integers(1, 2000), st.data())
def test_in_what_pieces_a_day_is_read_does_not_matter(lines, size, data):
    again = _some_told_again(lines, data)
    with mock.patch("eventlog.log.envelope_scan._PIECE", size):
        found = fresh([*again, *lines])

    assert fresh(lines) == found


def _some_told_again(lines, data):
    """Some of the lines, as they would be told of the last day."""
    early = [line for line in lines if ts_of(line)[:10] < DAYS[-1] != day_in_id(codec.decode(line).id)]
    told = data.draw(st.lists(st.sampled_from(early), max_size=3, unique=True)) if early else []
    return [
        line.replace(ts_of(line).encode(), ts_of(line).replace(ts_of(line)[:10], DAYS[-1]).encode(), 1) for line in told
    ]


@given(histories(), st.data())
def test_of_two_lines_with_one_id_the_smaller_one_counts_whichever_comes_first(lines, data):
    line = data.draw(st.sampled_from(lines))
    larger = line[:-1] + b',"zzz":1}'
    smaller = min(line, larger)
    rest = [one for one in lines if one != line]

    assert fresh([*rest, smaller]) == fresh([*rest, line, larger]) == fresh([larger, *rest, line])


@given(histories(), moments, SETTINGS)
def test_as_of_a_moment_is_the_log_cut_at_that_moment(lines, moment, chosen):
    cut = [line for line in lines if ts_of(line) <= moment]

    assert fresh(cut, chosen) == fresh(lines, chosen, until=moment)


@given(histories(), moments)
def test_as_of_a_moment_what_is_kept_of_the_whole_log_does_not_matter(lines, moment):
    with log_of(lines) as log:
        rendered(log)
        found = rendered(log, until=moment)

    assert fresh(lines, until=moment) == found


@given(histories(max_size=20), SETTINGS)
def test_a_file_is_what_the_log_said_at_the_time_it_carries(lines, chosen):
    for path, data in fresh(lines, chosen).items():
        stamp = stamped_at(data)

        assert path.endswith(".jsonl") or (stamp and data == fresh(lines, chosen, until=stamp).get(path))


@given(histories(), SETTINGS, st.data())
def test_merged_parts_are_the_whole_in_any_order(lines, chosen, data):
    events = [codec.decode(line) for line in lines]
    owners = [data.draw(st.integers(0, 2)) for _ in events]
    parts = [[event for event, owner in zip(events, owners, strict=True) if owner == part] for part in range(3)]
    orders = ([0, 1, 2], [2, 1, 0], [1, 0, 2])

    for projection in ALL:
        whole = _folded(projection, data.draw(st.permutations(events)))
        states = [_folded(projection, part) for part in parts]
        before = copy.deepcopy(states)
        for order in orders:
            merged = projection.state()
            for part in order:
                merged.merge(states[part])

            assert documents_of(projection, whole, chosen) == documents_of(projection, merged, chosen)
            assert before == states


def _folded(projection, events):
    state = projection.state()
    for event in events:
        state.fold(event)
    return state


# ------------------------------------------------------------------------------------------------ the cache


def _database(log):
    return Path(log.store.cached("knowledge.db"))


@given(histories())
def test_what_is_kept_changes_nothing_and_no_day_is_folded_again(lines):
    with log_of(lines) as log:
        first = replay(log, Settings())
        documents = first.documents
        first.save()  # what rendering wrote holds the cache until then
        second = replay(log, Settings())

        assert fresh(lines) == {document.path: document.data for document in second.documents}
        assert documents == second.documents
        assert first.events == second.events
        assert second.days_folded == 0


def test_a_withdrawn_decision_of_a_closed_day_dates_the_file_whether_or_not_its_words_were_kept(log):
    log.append_many([builders.fact(day=DAYS[0]), builders.fact(1, day=DAYS[2])])
    decided = {"type": "stage_summary", "conversation_id": "c", "summary": "x", "decisions": ["RS256"], "done": ["a"]}
    decided = log.append({**decided, "ts": builders.at(0, DAYS[1])})
    log.append({"type": "retraction", "conversation_id": "c", "target": decided.id, "ts": builders.at(0, DAYS[0])})
    rendered(log)

    assert rendered(log, anew=True, save=False) == rendered(log)
    assert b"RS256" not in _database(log).read_bytes()


@given(histories(), st.data())
def test_a_damaged_cache_is_made_anew(lines, data):
    with log_of(lines) as log:
        rebuild(log, Settings())
        whole = _database(log).read_bytes()
        _database(log).write_bytes(data.draw(_damage(whole)))
        found = rendered(log)
        again = rendered(log)

        assert fresh(lines) == found == again


def _damage(whole):
    flipped = st.integers(0, len(whole) - 1).map(lambda at: whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
    cut = st.integers(0, len(whole) - 1).map(lambda at: whole[:at])
    blank = st.integers(0, len(whole) // 512 - 1).map(
        lambda at: whole[: at * 512] + bytes(512) + whole[at * 512 + 512 :]
    )
    return flipped | cut | blank | st.binary(max_size=8)


@given(histories(), histories(max_size=4))
def test_what_is_outdated_in_the_cache_is_made_anew(lines, late):
    with log_of(lines) as log:
        replay(log, Settings())
        lines = list({codec.decode(line).id: line for line in (*late, *lines)}.values())
        write(log, lines)
        found = rendered(log)

    assert fresh(lines) == found


@given(histories(), histories())
def test_the_cache_of_another_log_says_nothing(lines, others):
    with log_of(lines) as log, log_of(others) as other:
        replay(other, Settings())
        _database(log).parent.mkdir()
        _database(other).rename(_database(log))
        found = rendered(log)

    assert fresh(lines) == found


def test_a_cache_of_another_program_is_made_anew(tmp_path, monkeypatch):
    log = copied(HISTORY, tmp_path)
    first = replay(log, Settings())
    monkeypatch.setattr(program, "program_key", lambda: "another")
    second = replay(log, Settings())

    assert first.documents == second.documents
    assert second.days == second.days_folded


def test_a_late_event_in_an_old_day_folds_that_day_only(tmp_path):
    log = copied(HISTORY, tmp_path)
    replay(log, Settings())
    log.append(builders.fact(day="2026-02-18"))
    late = replay(log, Settings())

    assert late.days == 10
    assert late.days_folded == 1
    assert rendered(log, anew=True, save=False) == {document.path: document.data for document in late.documents}


@pytest.mark.parametrize(("home", "other"), [(0, 1), (1, 0)])
def test_an_event_that_comes_home_takes_its_copies_out_of_the_cache(tmp_path, home, other):
    event = builders.fact(day=DAYS[home])
    again = {**event, "ts": builders.at(0, DAYS[other]), "content": "a copy"}
    log = copied(HISTORY, tmp_path)
    with Path(log.store.log, f"{DAYS[other]}.jsonl").open("ab") as file:
        file.write(fastjson.dumps(again) + b"\n")
    replay(log, Settings())
    log.append(event)

    assert rendered(log, anew=True, save=False) == rendered(log)


@given(histories(plans=True), STORES, st.data())
def test_twice_in_a_row_the_second_writes_nothing_and_nobody_edited_anything(lines, store, data):
    with log_of([]) as log, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{log.store.root}-home")
        write(log, lines, [data.draw(st.sampled_from(REPLICAS)) for _ in lines])
        found_as(log.store, store)
        first = rebuild(log, Settings())
        before, said = _times(log.store.knowledge), list(log.read())
        second = rebuild(log, Settings())

        assert (0, before, said) == (second.published.changes, _times(log.store.knowledge), list(log.read()))
        assert [] == [*first.applied.pending, *(event for event in said if event.type == "knowledge_edited")]


def _times(directory):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in Path(directory).rglob("*")}


# ------------------------------------------------------------------------------------------------ real processes

SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4711", "TZ": "America/Los_Angeles", "LC_ALL": "zh_CN.GBK", "LANG": "zh_CN.GBK"},
]


def test_two_processes_in_other_surroundings_write_identical_trees(tmp_path):
    lines = sorted({line for file in (HISTORY / "log").iterdir() for line in file.read_bytes().splitlines()})
    trees = []
    for number, surroundings in enumerate(SURROUNDINGS):
        store, out = tmp_path / f"store-{number}", tmp_path / f"out-{number}"
        _scatter(lines, store / "log", random.Random(number))
        command = [sys.executable, "-m", "eventlog", "replay", "--store", store, "--out", out]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": IMPORT_PATH, **surroundings})
        trees.append(tree(out))

    assert tree(HISTORY / "expected" / "en") == trees[0] == trees[1]


def _scatter(lines, log_dir, chance):
    """The lines in any order, each in one or two of the files of its day."""
    files: dict[str, list[bytes]] = {}
    for line in chance.sample(lines, len(lines)):
        for replica in chance.sample(REPLICAS, chance.randint(1, 2)):
            files.setdefault(f"{ts_of(line)[:10]}{replica}.jsonl", []).append(line)
    for name, there in files.items():
        builders.write(log_dir, b"".join(line + b"\n" for line in there), name)
