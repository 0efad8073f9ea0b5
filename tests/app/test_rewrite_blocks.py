"""A long file is made of what was there: the same bytes as written whole, and never of a file that became another."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.build import publish as module
from eventlog.app.build.publish import _rewrite_blocks
from eventlog.projections.base import Pieces
from eventlog.projections.engine.documents import Layout
from eventlog.settings.schema import Settings
from eventlog.store.files import file_stamp
from eventlog.store.shared_files import ChangedMeanwhile
from tests.support.use_cases import rebuild

BLOCKS = st.dictionaries(st.sampled_from("abcdefg"), st.binary(max_size=9), max_size=6).map(
    lambda found: dict(sorted(found.items()))
)


def laid_out(path, blocks):
    Path(path).write_bytes(b"".join(blocks.values()))
    return Layout("x.jsonl", file_stamp(str(path)), {block: len(said) for block, said in blocks.items()})


@given(BLOCKS, BLOCKS, st.sets(st.sampled_from("abcdefg")), st.booleans())
def test_a_spliced_file_holds_the_bytes_of_all_its_blocks(before, now, told, is_long):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LONG", 0 if is_long else 1 << 17)
        path = Path(folder, "x.jsonl")
        layout = laid_out(path, before)
        kept = {block for block in now if before.get(block) == now[block]} - told
        pieces = Pieces(("line", ""), {block: None if block in kept else said for block, said in now.items()})
        differs, after = _rewrite_blocks(str(path), pieces, layout)

        assert b"".join(now.values()) == path.read_bytes()
        assert (now != before) == differs
        assert ({block: len(said) for block, said in now.items()}, file_stamp(str(path))) == (
            after.lengths,
            after.stamp,
        )
        assert [path] == list(Path(folder).iterdir())


def test_what_would_be_spliced_is_told_and_not_written(tmp_path):
    path = tmp_path / "x.jsonl"
    layout = laid_out(path, {"a": b"1\n", "b": b"2\n"})

    assert _rewrite_blocks(str(path), Pieces(("line", ""), {"a": None, "b": b"3\n"}), layout, dry_run=True)[0]
    assert b"1\n2\n" == path.read_bytes()


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"9\n2\n"), lambda path: path.touch()])
def test_a_file_that_became_another_is_not_spliced(tmp_path, change):
    path = tmp_path / "x.jsonl"
    layout = laid_out(path, {"a": b"1\n", "b": b"2\n"})
    os.utime(path, ns=(1, 1))
    change(path)
    left = path.read_bytes() if path.exists() else None
    with pytest.raises(ChangedMeanwhile):
        _rewrite_blocks(str(path), Pieces(("line", ""), {"a": None, "b": b"3\n"}), layout)

    assert left == (path.read_bytes() if path.exists() else None)


def test_a_file_that_changes_while_it_is_copied_is_not_spliced(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    layout = laid_out(path, {"a": b"1\n", "b": b"2\n"})
    bytes_of = module._bytes_of

    def meanwhile(*arguments):
        yield from bytes_of(*arguments)
        with path.open("ab") as opened:
            opened.write(b"mine\n")

    monkeypatch.setattr(module, "_bytes_of", meanwhile)
    with pytest.raises(ChangedMeanwhile):
        _rewrite_blocks(str(path), Pieces(("line", ""), {"a": None, "b": b"3\n"}), layout)

    assert ([path], b"1\n2\nmine\n") == ([*tmp_path.iterdir()], path.read_bytes())


@pytest.mark.parametrize("end", [b"3\n", b"3\n4\n", b""])
def test_a_long_file_that_differs_at_its_end_is_not_copied(tmp_path, end):
    path, start = tmp_path / "x.jsonl", b"1\n" * module._LONG
    layout = laid_out(path, {"a": start, "b": b"2\n"})
    inode = path.stat().st_ino
    differs, after = _rewrite_blocks(str(path), Pieces(("line", ""), {"a": None, "b": end}), layout)

    assert (True, inode, start + end) == (differs, path.stat().st_ino, path.read_bytes())
    assert file_stamp(str(path)) == after.stamp


def test_a_long_file_with_a_second_name_is_copied_so_that_what_has_the_other_stays(tmp_path):
    path, start = tmp_path / "x.jsonl", b"1\n" * module._LONG
    layout = laid_out(path, {"a": start, "b": b"2\n"})
    os.link(path, tmp_path / "snapshot.jsonl")
    layout.stamp = file_stamp(str(path))
    _rewrite_blocks(str(path), Pieces(("line", ""), {"a": None, "b": b"3\n"}), layout)

    assert [start + b"3\n", start + b"2\n"] == [path.read_bytes(), (tmp_path / "snapshot.jsonl").read_bytes()]


def _turn(log, ts, conversation="c"):
    log.put([{"type": "turn_end", "conversation_id": conversation, "ts": ts}])


def test_of_the_list_of_sessions_only_the_days_that_differ_are_written(log, monkeypatch):
    for day in (1, 2, 3):
        _turn(log, f"2026-02-0{day}T10:00:00Z", f"c{day}")
    rebuild(log, Settings())
    written: list[int] = []
    bytes_of = module._bytes_of

    def counted(file, segments):
        written.extend(segment[1] for segment in segments if isinstance(segment, tuple))
        return bytes_of(file, segments)

    monkeypatch.setattr(module, "_bytes_of", counted)
    _turn(log, "2026-02-02T11:00:00Z", "c2")
    rebuild(log, Settings())
    file = Path(log.store.knowledge, "sessions.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)

    assert [len(lines[0]), len(lines[2])] == written
    assert b'"turns":2' in lines[1]


@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda file: file.write_bytes(b""), lambda file: file.write_bytes(b"x")]
)
def test_a_list_of_sessions_that_is_not_as_it_was_written_is_written_whole(log, damage):
    for day in (1, 2):
        _turn(log, f"2026-02-0{day}T10:00:00Z", f"c{day}")
    rebuild(log, Settings())
    file = Path(log.store.knowledge, "sessions.jsonl")
    _turn(log, "2026-02-02T11:00:00Z", "c2")
    damage(file)
    done = rebuild(log, Settings())

    assert ["sessions.jsonl"] == [name for name in done.published.written if name == "sessions.jsonl"]
    assert [1, 2] == [
        line.count(b'"turns":1') + 2 * line.count(b'"turns":2') for line in file.read_bytes().splitlines()
    ]
    assert 0 == rebuild(log, Settings()).published.changes
