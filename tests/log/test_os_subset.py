"""The part of `os` that a hook has says what `os` says."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import fast
from tests.support.effort import rounds
from tests.support.tree import IMPORT_PATH

lean_os = pytest.importorskip("eventlog.fast.os_subset", exc_type=ImportError)  # POSIX only

ROUNDS = rounds(fixed=60, fuzz=2000)
PATHS = st.text(st.sampled_from("/.~a b写\n"), max_size=12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["abspath", "basename", "dirname", "exists", "expanduser", "isabs", "isdir", "normpath"]
)
def test_a_path_is_read_as_os_reads_it(name, monkeypatch):
    monkeypatch.setattr(lean_os, "_variables", os.environ)  # every test has a home of its own

    @settings(max_examples=ROUNDS)
    @given(PATHS)
    def holds(path):
        assert getattr(os.path, name)(path) == getattr(lean_os.path, name)(path)

    holds()


@pytest.mark.slow
@settings(max_examples=ROUNDS)
@given(PATHS, st.lists(PATHS, max_size=3))
def test_paths_are_joined_as_os_joins_them(path, more):
    joined = os.path.join(path, *more)  # noqa: PTH118

    assert joined == lean_os.path.join(path, *more)


def test_directories_and_files_are_told_apart(tmp_path):
    (tmp_path / "file").write_text("")
    told = [
        (lean_os.path.exists(path), lean_os.path.isdir(path))
        for path in map(str, (tmp_path, tmp_path / "file", tmp_path / "no", "\0"))
    ]

    assert [(True, True), (True, False), (False, False), (False, False)] == told


def test_what_it_has_not_is_of_os():
    assert os.path.commonpath is lean_os.path.commonpath
    assert os.get_terminal_size is lean_os.get_terminal_size
    with pytest.raises(AttributeError):
        _ = lean_os.no_such_name


def test_it_is_python_s_own_where_that_is_loaded():
    assert os is fast.os


@pytest.mark.slow
def test_the_environment_is_that_of_the_process():
    asked = "import sys; sys.path.insert(0, sys.argv[1]); from eventlog.fast import os_subset as lean_os; print(ascii(dict(lean_os.environ)))"
    shown = "import os, sys; print(ascii(dict(os.environ)))"
    given = {"HOME": "/home/写", "ODD": b"\xff=".decode(errors="surrogateescape"), "EMPTY": ""}
    said = [
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, IMPORT_PATH], env=given, capture_output=True, check=True
        )
        for code in (asked, shown)
    ]

    assert said[1].stdout == said[0].stdout
