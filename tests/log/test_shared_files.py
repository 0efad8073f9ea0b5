"""A path below a root leads to a regular file below that root, through whatever links; else nothing is read."""

import os

import pytest

from eventlog.store import shared_files
from eventlog.store.shared_files import NotConfined, read_below, real_path


@pytest.fixture
def root(tmp_path):
    (tmp_path / "outside").write_text("theirs")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "file").write_text("ours")
    return tmp_path / "root"


def test_at_most_so_many_bytes_are_read(root):
    assert (b"ours", b"ou") == (read_below(root, root / "file", 9), read_below(root, root / "file", 2))


@pytest.mark.parametrize("target", ["../outside", "../root-beside", "/etc/hostname"])
def test_a_link_out_of_the_root_is_refused_before_it_is_opened(root, target):
    (root.parent / "root-beside").write_text("theirs")
    (root / "link").symlink_to(target)

    for path in (root / "link", root / target):
        with pytest.raises(NotConfined, match="leads out of"):
            read_below(root, path, 9)


def test_a_link_within_the_root_is_followed_and_a_root_may_be_a_link(root):
    (root / "link").symlink_to("file")
    (root.parent / "other").symlink_to(root)

    assert real_path(root.parent / "other" / "link", root.parent / "other") == str(root / "file")
    assert b"ours" == read_below(root.parent / "other", root / "link", 9)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_never_read(root, make):
    make(root / "thing")

    with pytest.raises((NotConfined, IsADirectoryError)):
        read_below(root, root / "thing", 9)


def test_links_in_a_circle_cannot_be_opened(root):
    (root / "circle").symlink_to("circle")

    with pytest.raises(OSError, match="links"):
        read_below(root, root / "circle", 9)


def test_a_directory_that_turns_into_a_link_before_a_file_is_opened_leads_nowhere(tmp_path, monkeypatch):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for directory in (root / "docs", outside):
        directory.mkdir(parents=True)
        (directory / "file").write_text("theirs")
    look = shared_files.real_path

    def planted(path, above):
        monkeypatch.undo()
        found = look(path, above)
        (root / "docs").rename(tmp_path / "moved")
        (root / "docs").symlink_to(outside)
        return found

    monkeypatch.setattr(shared_files, "real_path", planted)
    with pytest.raises(NotConfined, match="leads out"):
        read_below(root, root / "docs" / "file", 9)
