"""The wheel holds exactly the tree, under one name; what a user installs works without the checkout."""

import os
import subprocess
import sys
import zipfile

import pytest
from filelock import FileLock

from tests.support.tree import ROOT, needs_tree
from tests.support.wheel import build

needs_tree()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, testrun_uid):
    """Built through the sdist, as an index would get it; once, by one of the processes of a run."""
    out = tmp_path_factory.getbasetemp().parent / f"dist-{testrun_uid}"
    with FileLock(f"{out}.lock"):
        return next(out.glob("*.whl"), None) or build(out)


def test_the_wheel_holds_every_module_of_the_four_folders_and_nothing_else(wheel):
    folders = {
        "eventlog": "eventlog",
        **{name: f"eventlog/{name}" for name in ("projections", "app", "cli")},
    }
    tree = {
        f"{inside}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, inside in folders.items()
        for file in (ROOT / folder).rglob("*.py")
        if not any(part in ("projections", "app", "cli") for part in file.relative_to(ROOT / folder).parts[:-1])
    }
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}

    assert tree == shipped


def test_the_wheel_owns_one_name(wheel):
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {"eventlog"} == {name for name in names if not name.endswith(".dist-info")}


def test_the_wheel_says_that_it_is_typed(wheel):
    assert "eventlog/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_holds_the_pages_of_help(wheel):
    pages = {f"eventlog/cli/topics/{page.name}" for page in (ROOT / "cli" / "topics").iterdir()}

    assert pages
    assert pages <= set(zipfile.ZipFile(wheel).namelist())


def test_an_installed_wheel_runs_from_any_directory(wheel, tmp_path):
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    environ = {**os.environ, "PYTHONPATH": str(target), "EVENTLOG_HOME": str(tmp_path / "store")}
    where = "import eventlog, eventlog.projections, eventlog.app, eventlog.cli; print(eventlog.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=environ, check=True, capture_output=True, text=True
    )
    helped = subprocess.run(
        [sys.executable, "-m", "eventlog", "--help"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert str(target) in found.stdout
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "replay" in helped.stdout
