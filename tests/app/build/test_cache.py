"""Rows are read as they were written, whichever parts their directories have; a part that is another's is told."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.app.build import cache
from eventlog.app.build.cache import StoreCache
from eventlog.projections.engine.row_store import MemoryRows, RowsDamaged
from tests.support.effort import rounds

_blocks = st.sampled_from(["", "2026-01-01", "2026-01-02", "2026-02-01", "/src/shop", "/src/billing", "a file"])
_rows = st.none() | st.binary(max_size=4) | st.just(b"x" * 300)
_writes = st.lists(st.tuples(st.sampled_from(["shop", ""]), _blocks, _rows), max_size=12)


def _open(path, **options):
    return closing(StoreCache(str(path), "this program", **options))


@settings(max_examples=rounds(fixed=20, fuzz=1000))
@given(replays=st.lists(_writes, max_size=4), limit=st.integers(0, 4))
def test_what_a_replay_writes_the_next_one_reads(tmp_path_factory, replays, limit):
    path, expected = tmp_path_factory.mktemp("cache") / "knowledge.db", MemoryRows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_MAX_LISTED", limit)
        for writes in replays:
            with _open(path) as rows:
                for name, block, data in writes:
                    rows.write("kind", name, block, data)
                    expected.write("kind", name, block, data)
                rows.save()
        with _open(path) as rows:
            for name in ("shop", ""):
                assert list(rows.rows("kind", name)) == expected.rows("kind", name)


def _written(path, days, monkeypatch):
    monkeypatch.setattr(cache, "_MAX_LISTED", 2)
    with _open(path) as rows:
        for day in days:
            rows.write("day", "", day, b"said")
        rows.save()


def test_a_day_rewrites_its_month_of_a_directory_and_no_journal_is_left(tmp_path, monkeypatch):
    path = tmp_path / "knowledge.db"
    _written(path, ["2026-01-01", "2026-01-02", "2026-02-01"], monkeypatch)
    put: list[str] = []
    really = StoreCache._put

    def spy(self, place, block, data):
        put.append(block)
        return really(self, place, block, data)

    monkeypatch.setattr(StoreCache, "_put", spy)
    with _open(path) as rows:
        rows.write("day", "", "2026-02-02", b"done")
        rows.save()

    assert put == ["day\0\0002026-02", "day\0", ""]
    assert [file.name for file in tmp_path.iterdir()] == ["knowledge.db"]


def test_a_part_that_is_older_than_the_others_or_missing_is_damage(tmp_path, monkeypatch):
    path = tmp_path / "knowledge.db"
    days = ["2026-01-01", "2026-01-02", "2026-02-01"]
    _written(path, days, monkeypatch)
    part = (cache._id("\0", "day\0\0002026-02"),)
    with closing(sqlite3.connect(path)) as database:
        (older,) = database.execute("SELECT data FROM kept WHERE id = ?", part).fetchone()
    _written(path, ["2026-02-02"], monkeypatch)
    for statement in ("UPDATE kept SET data = :older WHERE id = :id", "DELETE FROM kept WHERE id = :id"):
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(statement, {"older": older, "id": part[0]})
        with _open(path, writes=False) as rows, pytest.raises(RowsDamaged):
            rows.blocks("day", "")
