"""Files are replaced whole, only where they differ, and nothing a person wrote is lost."""

import os
from pathlib import Path

import pytest

from eventlog.app.build.publish import publish
from eventlog.format.errors import NotStored
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.views.markdown import stamped
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.sessions import SESSIONS
from eventlog.projections.views.summaries import SUMMARIES
from eventlog.settings.schema import Settings
from tests.support.golden import tree
from tests.support.typed_events import documents_of, fact, folded

NEWEST = "2026-02-21T08:35:44.123456Z"
VIEWS = (SESSIONS, SUMMARIES, MEMORY)
PLAIN = Projection("plain", object, lambda _state, _settings: (), ("*.jsonl", "*.md", "deep/*.md"))


def _markdown(path, *texts):
    return stamped(path, [Line(text) for text in texts], NEWEST)


NOTES, DEEP = _markdown("notes.md", "# Notes"), _markdown("deep/one.md", "# One")
TABLE = Document("table.jsonl", (Line("{}"),))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "knowledge"


def _publish(root, *documents, **options):
    return publish(documents, str(root), [PLAIN], **options)


def test_every_document_becomes_a_file_with_its_bytes(root):
    done = _publish(root, NOTES, DEEP, TABLE)

    assert {one.path: one.data for one in (NOTES, DEEP, TABLE)} == tree(root)
    assert (["notes.md", "deep/one.md", "table.jsonl"], 0) == (done.written, done.unchanged)


def test_only_files_that_differ_are_written(root):
    _publish(root, NOTES, DEEP)
    before = (root / "notes.md").stat()
    done = _publish(root, NOTES, _markdown("deep/one.md", "# Two"))
    after = (root / "notes.md").stat()

    assert (["deep/one.md"], 1) == (done.written, done.unchanged)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_dry_run_says_the_same_and_writes_nothing(root):
    _publish(root, NOTES, DEEP)
    (root / "notes.md").write_text("mine\n")
    before = tree(root)
    said = _publish(root, NOTES, TABLE, dry_run=True)

    assert before == tree(root)
    assert (["notes.md", "table.jsonl"], ["deep/one.md"]) == (said.written, said.removed)
    assert 3 == said.changes


# ------------------------------------------------------------------------------------------------ what people did


def test_a_file_a_person_edited_is_set_aside_with_the_time_they_saved_it(root):
    _publish(root, NOTES)
    (root / "notes.md").write_text("mine\n")
    os.utime(root / "notes.md", (1_000_000_000, 1_000_000_000))
    done = _publish(root, NOTES)

    assert ["notes.md.edited-20010909-014640"] == done.set_aside
    assert "mine\n" == (root / done.set_aside[0]).read_text()
    assert NOTES.data == (root / "notes.md").read_bytes()


def test_edits_of_the_same_second_do_not_overwrite_each_other(root):
    for text in ("one\n", "two\n", "one\n"):
        _publish(root, NOTES)
        (root / "notes.md").write_text(text)
        os.utime(root / "notes.md", (1_000_000_000, 1_000_000_000))
    _publish(root, NOTES)
    kept = sorted(path.read_text() for path in root.glob("notes.md.edited-*"))

    assert ["one\n", "two\n"] == kept


def test_a_file_that_was_there_before_the_first_replay_is_set_aside(root):
    root.mkdir()
    (root / "notes.md").write_bytes(b"\xff of an earlier tool\r\n")
    (aside,) = _publish(root, NOTES).set_aside

    assert b"\xff of an earlier tool\r\n" == (root / aside).read_bytes()


def test_an_edit_that_says_what_the_log_says_is_no_edit(root):
    _publish(root, NOTES)
    (root / "notes.md").write_bytes(NOTES.data)

    assert ([], 1) == (_publish(root, NOTES).set_aside, _publish(root, NOTES).unchanged)


# ------------------------------------------------------------------------------------------------ what is stale


def test_what_is_no_longer_rendered_is_removed_and_set_aside_if_edited(root):
    _publish(root, NOTES, DEEP, TABLE)
    edited = b"mine\n" + NOTES.data
    (root / "notes.md").write_bytes(edited)
    os.utime(root / "notes.md", (1_000_000_000, 1_000_000_000))
    aside = "notes.md.edited-20010909-014640"
    would, done = _publish(root, dry_run=True), _publish(root)

    assert (["deep/one.md", "notes.md", "table.jsonl"], [aside], []) == (done.removed, done.set_aside, done.left)
    assert would == done
    assert {aside: edited} == tree(root)


def test_a_file_with_the_name_of_one_of_ours_that_never_was_is_left(root):
    _publish(root, TABLE)
    (root / "notes.md").write_text("mine\n")
    done = _publish(root)

    assert (["table.jsonl"], [], ["notes.md"]) == (done.removed, done.set_aside, done.left)
    assert {"notes.md": b"mine\n"} == tree(root)


def test_files_no_projection_owns_are_never_touched(root):
    _publish(root, NOTES)
    foreign = {"mine.txt": b"1", "deep/er/x.md": b"2", "other/one.md": b"3"}
    for name, data in foreign.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    _publish(root)

    assert foreign == tree(root)


# ------------------------------------------------------------------------------------------------ atomicity


@pytest.mark.parametrize("failing", ["fsync", "replace", "open"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(root, monkeypatch, failing):
    _publish(root, NOTES)

    def fail(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(NotStored, match="the disk is full"):
        _publish(root, _markdown("notes.md", "# New"))
    monkeypatch.undo()

    assert {"notes.md": NOTES.data} == tree(root)


def test_an_edited_file_that_cannot_be_set_aside_is_not_replaced(root, monkeypatch):
    _publish(root, NOTES)
    (root / "notes.md").write_text("mine\n")

    def fail(path, *_args, **_options):
        raise NotStored("not stored", where=path)

    monkeypatch.setattr("eventlog.app.build.publish.replace_file", fail)
    with pytest.raises(NotStored):
        _publish(root, NOTES)

    assert {"notes.md": b"mine\n"} == tree(root)


def test_a_directory_in_the_place_of_a_file_is_an_error(root):
    (root / "notes.md").mkdir(parents=True)

    with pytest.raises(NotStored, match="notes"):
        _publish(root, NOTES)


def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_points_to_is_not(root, tmp_path):
    root.mkdir()
    (tmp_path / "precious").write_text("precious\n")
    (root / "notes.md").symlink_to(tmp_path / "precious")
    _publish(root, NOTES)

    assert "precious\n" == (tmp_path / "precious").read_text()
    assert NOTES.data == (root / "notes.md").read_bytes()


HOSTILE = ["../../up", "/etc/passwd", "..", ".", "a/../../b", "\x00", "~", "x" * 500, "con\n"]


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_written_outside_the_directory_whatever_ids_and_projects_say(tmp_path, name):
    events = [
        fact(1, conversation_id=name),
        fact(2, project=f"/p/{name}", conversation_id=f"d{name}"),
        fact(3, project=name),
    ]
    documents = [one for projection in VIEWS for one in documents_of(projection, folded(*events), Settings())]
    publish(documents, str(tmp_path / "a" / "knowledge"), VIEWS)

    assert {"a/knowledge"} == {"/".join(Path(path).parts[:2]) for path in tree(tmp_path)}
    assert len({one.path for one in documents}) == len(documents) == len(tree(tmp_path))


def test_a_save_in_the_moment_of_the_exchange_is_set_aside(root, monkeypatch):
    from eventlog.store import shared_files

    _publish(root, NOTES)
    exchange, saves = shared_files._exchange, iter([b"saved\n"])

    def late(one, other):
        for data in saves:
            (root / "notes.md").write_bytes(data)
        return exchange(one, other)

    monkeypatch.setattr(shared_files, "_exchange", late)
    new = _markdown("notes.md", "# New")
    done = _publish(root, new)

    assert new.data == (root / "notes.md").read_bytes()
    assert b"saved\n" == (root / done.set_aside[0]).read_bytes()


def test_what_was_saved_after_an_edit_was_taken_in_is_set_aside(root):
    _publish(root, NOTES)
    (root / "notes.md").write_bytes(b"newer\n")
    taken = _publish(root, NOTES, taken_in={"notes.md": b"newer\n"})
    (root / "notes.md").write_bytes(b"newest\n")
    later = _publish(root, NOTES, taken_in={"notes.md": b"newer\n"})

    assert [] == taken.set_aside
    assert [b"newest\n"] == [(root / name).read_bytes() for name in later.set_aside]


@pytest.mark.parametrize("kind", ["device", "FIFO"])
def test_what_never_ends_in_the_place_of_a_file_is_an_error(root, kind):
    root.mkdir()
    path = root / "notes.md"
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)

    with pytest.raises(NotStored, match="not a regular file"):
        _publish(root, NOTES)
