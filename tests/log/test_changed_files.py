"""What was changed lately in a working tree is read from git's index, in whatever state that is."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projects.repository import changed_files
from tests.support.repositories import git

pytestmark = pytest.mark.slow

LATER = 1_900_000_000 * 10**9


@pytest.fixture
def tree(tmp_path):
    """Three files, each staged as it was at another hour."""
    git(tmp_path, "init", "-q")
    for number, name in enumerate(("a.py", "src/b.py", "src/数据.py")):
        write(tmp_path / name, "x" * number, LATER + number * 3600 * 10**9)
    (tmp_path / "link.py").symlink_to("a.py")
    git(tmp_path, "add", ".")
    return tmp_path


def write(path, text, when):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(when, when))


def test_nothing_is_changed_in_a_tree_that_is_as_it_was_staged(tree):
    assert changed_files(str(tree), 9) == []
    assert changed_files(str(tree), 9, committed=True) == ["src/数据.py", "src/b.py", "a.py"]
    assert changed_files(str(tree), 2, committed=True) == ["src/数据.py", "src/b.py"]


def test_what_was_changed_or_deleted_comes_first_the_newest_before(tree):
    write(tree / "a.py", "longer", LATER + 10**15)
    (tree / "src/b.py").unlink()
    (tree / "untracked.py").write_text("x")

    assert changed_files(str(tree / "src"), 9) == ["a.py", "src/b.py"]
    assert changed_files(str(tree), 9, committed=True) == ["a.py", "src/b.py", "src/数据.py"]


def test_a_file_of_the_same_length_is_known_by_its_time(tree):
    write(tree / "src/b.py", "y", LATER + 10**15)

    assert changed_files(str(tree), 9) == ["src/b.py"]


def test_what_a_checkout_wrote_was_changed_by_nobody(tree):
    for number in range(13):
        write(tree / f"many-{number}.py", "x", LATER + 10**15)
    git(tree, "add", ".")

    assert "many-3.py" not in changed_files(str(tree), 99, committed=True)
    for number in range(13):
        write(tree / f"many-{number}.py", "xx", LATER + 2 * 10**15)
    write(tree / "a.py", "longer", LATER + 3 * 10**15)
    assert changed_files(str(tree), 99) == ["a.py"]


def test_what_git_does_not_watch_is_not_looked_at(tree):
    git(tree, "update-index", "--skip-worktree", "a.py")
    git(tree, "update-index", "--assume-unchanged", "src/b.py")
    for name in ("a.py", "src/b.py", "src/数据.py"):
        write(tree / name, "changed", LATER + 10**15)

    assert changed_files(str(tree), 9) == ["src/数据.py"]


def test_a_linked_worktree_has_files_of_its_own(tree):
    git(tree, "commit", "-q", "-m", "first")
    git(tree, "worktree", "add", "-q", str(tree / "linked"), "-b", "other")
    write(tree / "linked/a.py", "changed", LATER + 10**15)

    assert changed_files(str(tree), 9) == []
    assert changed_files(str(tree / "linked"), 9) == ["a.py"]


@pytest.mark.parametrize("settings", [("--index-version", "4")])
def test_an_index_in_another_form_tells_nothing(tree, settings):
    git(tree, "update-index", *settings)
    write(tree / "a.py", "changed", LATER + 10**15)

    assert changed_files(str(tree), 9) == []


def test_outside_of_a_repository_nothing_is_known(tmp_path):
    assert changed_files(str(tmp_path), 9) == changed_files(str(tmp_path / "nowhere"), 9) == []


@given(at=st.integers(0, 500), value=st.binary(max_size=40))
def test_an_index_that_is_damaged_anywhere_raises_nothing(damaged, at, value):
    repository, data = damaged
    (repository / ".git/index").write_bytes(data[:at] + value)
    assert len(changed_files(str(repository), 9, committed=True)) <= 9
    (repository / ".git/index").write_bytes(data[:at] + value + data[at + len(value) :])
    assert len(changed_files(str(repository), 9, committed=True)) <= 9


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged")
    git(path, "init", "-q")
    for number in range(5):
        write(path / f"file-{number}.py", "x", LATER)
    git(path, "add", ".")
    return path, (path / ".git/index").read_bytes()
