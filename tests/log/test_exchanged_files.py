"""Two files are exchanged in one step: a save in that very moment stays, also where the system cannot exchange."""

import os
from pathlib import Path

import pytest

from eventlog.format.errors import NotStored
from eventlog.store import shared_files
from eventlog.store.shared_files import ChangedMeanwhile, sweep


@pytest.fixture
def path(tmp_path):
    return tmp_path / "USER.md"


@pytest.fixture(params=["exchange", "rename"])
def system(request, monkeypatch):
    """With, and without, a system that can exchange files."""
    if request.param == "rename":
        monkeypatch.setattr(shared_files, "_exchange", lambda *_names: False)


def left(path):
    return {other.name: other.read_bytes() for other in path.parent.iterdir()}


def test_a_new_file_is_its_owners_and_an_old_one_is_replaced(path, system):
    shared_files.replace_if_unchanged(str(path), b"one", None)
    mode = path.stat().st_mode & 0o777
    shared_files.replace_if_unchanged(str(path), b"two", b"one", mode=0o644)

    assert {"USER.md": b"two"} == left(path)
    assert (0o600, 0o644) == (mode, path.stat().st_mode & 0o777)


@pytest.mark.parametrize("seen", [None, b"read before"])
def test_what_was_saved_meanwhile_stays(path, system, seen):
    path.write_bytes(b"saved")
    with pytest.raises(ChangedMeanwhile):
        shared_files.replace_if_unchanged(str(path), b"ours", seen)

    assert {"USER.md": b"saved"} == left(path)


def test_a_save_between_the_last_look_and_the_exchange_goes_back_to_its_place(path, monkeypatch):
    path.write_bytes(b"seen")
    exchange = shared_files._exchange

    def late(one, other, saves=iter([b"saved"])):  # noqa: B008
        for data in saves:
            path.write_bytes(data)
        return exchange(one, other)

    monkeypatch.setattr(shared_files, "_exchange", late)
    with pytest.raises(ChangedMeanwhile):
        shared_files.replace_if_unchanged(str(path), b"ours", b"seen")

    assert {"USER.md": b"saved"} == left(path)


def test_of_two_saves_the_newer_is_the_file_and_the_older_is_kept_beside(path, monkeypatch):
    path.write_bytes(b"seen")
    exchange = shared_files._exchange
    saves = iter([b"first save", b"second save"])

    def late(one, other):
        if data := next(saves, None):
            path.write_bytes(data)
        return exchange(one, other)

    monkeypatch.setattr(shared_files, "_exchange", late)
    with pytest.raises(ChangedMeanwhile):
        shared_files.replace_if_unchanged(str(path), b"ours", b"seen")

    assert path.read_bytes() == b"second save"
    assert sorted(left(path).values()) == [b"first save", b"second save"]


@pytest.mark.slow
def test_killed_after_the_exchange_a_persons_save_is_kept_and_ours_is_swept(path, monkeypatch):
    path.write_bytes(b"seen")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(shared_files, "_content", lambda _path: os._exit(0))
        path.write_bytes(b"saved")
        shared_files.replace_if_unchanged(str(path), b"ours", b"seen")
    os.waitpid(child, 0)
    sweep(str(path))

    assert sorted(left(path).values()) == [b"ours", b"saved"]


@pytest.mark.parametrize("failing", ["fsync", "replace", "open"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(path, monkeypatch, failing):
    path.write_bytes(b"seen")

    def fail(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(NotStored, match="the disk is full"):
        shared_files.replace_if_unchanged(str(path), b"ours", b"seen")
    monkeypatch.undo()

    assert {"USER.md": b"seen"} == left(path)


def test_a_link_to_nowhere_is_not_written_through(path):
    Path(path).symlink_to("nowhere")
    with pytest.raises(ChangedMeanwhile):
        shared_files.replace_if_unchanged(str(path), b"ours", None)

    assert path.is_symlink()


# ------------------------------------------------------------------------------------------------ removing


def _by_write(path, data):
    path.write_bytes(data)


def _by_rename(path, data):
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


def in_the_moment(monkeypatch, name, save):
    """Save once, just before the first call of os.<name>."""
    real, saves = getattr(os, name), iter([save])

    def late(*args, **options):
        for once in saves:
            once()
        return real(*args, **options)

    monkeypatch.setattr(os, name, late)


@pytest.mark.parametrize("save", [_by_write, _by_rename])
def test_what_was_saved_before_a_removal_goes_back_to_its_place(path, save, monkeypatch):
    path.write_bytes(b"seen")
    in_the_moment(monkeypatch, "replace", lambda: save(path, b"saved"))
    with pytest.raises(ChangedMeanwhile):
        shared_files.remove_if_unchanged(str(path), b"seen")

    assert {"USER.md": b"saved"} == left(path)


@pytest.mark.parametrize("save", [_by_write, _by_rename])
def test_what_is_saved_while_the_file_goes_is_a_new_file(path, save, monkeypatch):
    path.write_bytes(b"seen")
    in_the_moment(monkeypatch, "unlink", lambda: save(path, b"saved"))
    shared_files.remove_if_unchanged(str(path), b"seen")

    assert {"USER.md": b"saved"} == left(path)


def test_of_two_saves_around_a_removal_the_older_is_kept_beside(path, monkeypatch):
    path.write_bytes(b"first save")
    in_the_moment(monkeypatch, "link", lambda: _by_write(path, b"second save"))
    with pytest.raises(ChangedMeanwhile):
        shared_files.remove_if_unchanged(str(path), b"seen")

    assert path.read_bytes() == b"second save"
    assert sorted(left(path).values()) == [b"first save", b"second save"]


@pytest.mark.slow
def test_killed_before_it_looks_at_what_it_removes_a_persons_save_is_kept(path, monkeypatch):
    path.write_bytes(b"saved")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(shared_files, "_content", lambda _path: os._exit(0))
        shared_files.remove_if_unchanged(str(path), b"seen")
    os.waitpid(child, 0)
    sweep(str(path))

    assert [b"saved"] == list(left(path).values())


def test_what_nobody_saved_is_removed_and_so_is_what_is_gone(path):
    path.write_bytes(b"seen")
    for _ in range(2):
        shared_files.remove_if_unchanged(str(path), b"seen")

    assert {} == left(path)
