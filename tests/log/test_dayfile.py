import errno
import os
from contextlib import nullcontext
from pathlib import Path
from stat import S_ISDIR

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.format.errors import NotStored
from eventlog.store import files
from eventlog.store.dayfile import DayFile, path_of
from eventlog.store.files import make_dirs
from tests.support.builders import DAY


@pytest.fixture
def directory(tmp_path):
    return str(tmp_path / "log")


def append(directory, *chunks, sync=False):
    with DayFile(directory, DAY, sync=sync) as file:
        for chunk in chunks:
            file.append(chunk)
    return read(directory)


def read(directory):
    with open(path_of(directory, DAY), "rb") as file:  # noqa: PTH123
        return file.read()


def mode(path):
    return os.stat(path).st_mode & 0o777  # noqa: PTH116


def test_lines_stand_in_the_order_they_were_appended(directory):
    append(directory, b"one\n", b"two\n")

    assert b"one\ntwo\nthree\n" == append(directory, b"three\n")


@pytest.mark.parametrize("there", [b"", b"whole\n", b"torn", b"whole\ntorn"])
def test_a_line_never_continues_another(directory, there):
    append(directory, there)
    whole = there if there.endswith(b"\n") or not there else there + b"\n"

    assert whole + b"next\n" == append(directory, b"next\n")


@pytest.mark.parametrize("size", [1, 4, 10, 100])
def test_the_tail_is_what_the_file_ends_with(directory, size):
    append(directory, b"0123456789")
    with DayFile(directory, DAY, sync=False) as file:
        assert b"0123456789"[-size:] == file.tail(size)


@given(st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")), max_size=9), st.integers(-60, 60))
@example([b"ab", b"c"], 3)  # where a line begins
@example([b"a" * 30, b"c"], 1)  # within a line that is longer than a piece
def test_pieces_hold_the_lines_that_begin_where_they_are_asked_for(tmp_path_factory, lines, start):
    path = tmp_path_factory.mktemp("log") / "file"
    text = b"\n".join(lines)
    path.write_bytes(text)
    begin = start if start >= 0 else max(0, len(text) + start)
    whole = [line + b"\n" for line in lines[:-1]] + lines[-1:]
    offsets = [sum(map(len, whole[:number])) for number in range(len(whole))]
    wanted = b"".join(line for line, offset in zip(whole, offsets, strict=True) if offset >= begin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", 8)
        found = list(filter(None, files.pieces_of(str(path), start)))

    assert wanted == b"".join(found)
    assert all(piece.endswith(b"\n") for piece in found[:-1])


def test_opening_writes_nothing(directory):
    assert b"" == append(directory)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_file_and_directories_are_the_owners_only(tmp_path, umask):
    directory = str(tmp_path / "store" / "log")
    before = os.umask(umask)
    try:
        append(directory, b"x\n")
    finally:
        os.umask(before)

    assert (0o700, 0o700, 0o600) == (mode(tmp_path / "store"), mode(directory), mode(path_of(directory, DAY)))


def test_a_directory_that_is_there_is_left_as_it_is(directory):
    make_dirs(directory)
    os.chmod(directory, 0o750)  # noqa: PTH101
    make_dirs(directory)

    assert 0o750 == mode(directory)


@pytest.mark.parametrize(("number", "is_stored"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_disk_that_knows_no_sync_of_directories_takes_events(directory, monkeypatch, number, is_stored):
    def fsync(fd):
        if S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr("eventlog.store.files.os.fsync", fsync)
    with nullcontext() if is_stored else pytest.raises(NotStored):
        assert b"x\n" == append(directory, b"x\n", sync=True)


def test_a_disk_whose_directories_are_another_users_takes_events(directory, monkeypatch):
    def chmod(path, mode):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)

    monkeypatch.setattr("eventlog.store.files.os.chmod", chmod)

    assert b"x\n" == append(directory, b"x\n", sync=True)


def test_what_was_appended_is_synced_after_unlocking(directory, monkeypatch):
    calls: list[object] = []
    monkeypatch.setattr("eventlog.store.dayfile._sync", lambda fd: calls.append("sync"))
    monkeypatch.setattr(DayFile, "_unlock", lambda self: calls.append("unlock"))
    append(directory, b"x\n", sync=True)

    assert ["unlock", "sync"] == calls


@pytest.mark.parametrize(("sync", "chunks"), [(False, [b"x\n"]), (True, [])])
def test_nothing_is_synced_where_nobody_wants_it_or_nothing_was_written(directory, monkeypatch, sync, chunks):
    calls: list[object] = []
    monkeypatch.setattr("eventlog.store.dayfile._sync", calls.append)
    append(directory, *chunks, sync=sync)

    assert [] == calls


def test_the_name_of_a_new_file_is_made_durable_once(directory, monkeypatch):
    make_dirs(directory)
    synced: list[tuple[str, bytes]] = []
    monkeypatch.setattr("eventlog.store.dayfile.sync_dir", lambda path: synced.append((path, read(directory))))
    append(directory, b"one\n", sync=True)
    append(directory, b"two\n", sync=True)

    assert [(directory, b"")] == synced


def test_the_names_of_the_directories_are_made_durable_once_before_there_is_a_file(directory, monkeypatch):
    synced: list[tuple[str, bool]] = []
    for module in ("files", "dayfile"):
        seen = lambda path: synced.append((path, Path(path_of(directory, DAY)).exists()))  # noqa: E731
        monkeypatch.setattr(f"eventlog.store.{module}.sync_dir", seen)
    append(directory, b"one\n", sync=True)
    with DayFile(directory, "2026-02-21", sync=True) as file:
        file.append(b"two\n")
    above = [(str(path), False) for path in Path(directory).parents[:2]]

    assert [*above, (directory, True), (directory, True)] == synced


def test_the_name_of_a_file_whose_maker_died_is_made_durable_by_the_next_writer(directory, monkeypatch):
    append(directory)  # made, and nothing written
    synced: list[str] = []
    monkeypatch.setattr("eventlog.store.dayfile.sync_dir", synced.append)
    append(directory, b"x\n", sync=True)

    assert [directory] == synced


@pytest.mark.parametrize("there", ["store", "store/log"])
def test_a_file_in_the_place_of_a_directory_is_an_error_that_says_where(tmp_path, there):
    path = tmp_path / there
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")

    with pytest.raises(NotStored) as caught:
        append(str(tmp_path / "store" / "log"), b"x\n")
    assert path_of(str(tmp_path / "store" / "log"), DAY) == caught.value.where
    assert caught.value.hint


def test_a_directory_in_the_place_of_the_file_is_an_error(directory):
    make_dirs(path_of(directory, DAY))

    with pytest.raises(NotStored, match="a directory is where a file should be"):
        append(directory, b"x\n")


def test_an_error_of_the_caller_releases_the_lock(directory):
    with pytest.raises(ZeroDivisionError), DayFile(directory, DAY, sync=False):
        _ = 1 / 0

    assert b"x\n" == append(directory, b"x\n")


def test_no_descriptor_is_left_open(directory):
    append(directory, b"x\n")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208
    append(directory, b"y\n", sync=True)

    assert before == len(os.listdir("/dev/fd"))  # noqa: PTH208


def test_without_fcntl_a_lock_file_beside_it_serves(directory, monkeypatch):
    monkeypatch.setattr("eventlog.store.dayfile.fcntl", None)
    make_dirs(directory)

    assert append(directory, b"x\n") + b"y\n" == append(directory, b"y\n")
