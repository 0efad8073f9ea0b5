"""The wheel holds exactly the tree, under one name; what a user installs works without the checkout."""

import os
import subprocess
import sys
import zipfile

import pytest
from filelock import FileLock

from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from tests.support.builders import replay
from tests.support.tree import ROOT, needs_tree
from tests.support.wheel import build

needs_tree()
pytestmark = pytest.mark.slow  # each needs the wheel, which pip builds


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


def test_the_wheel_holds_the_source_of_what_asks_a_live_process_and_no_binary(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert "eventlog/hooks/live.c" in names
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_the_pages_of_help(wheel):
    pages = {f"eventlog/docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}

    assert pages
    assert pages <= set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The environment of a user who has installed the wheel, and where it is."""
    target = tmp_path_factory.mktemp("installed") / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(target)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    return {**os.environ, "PYTHONPATH": str(target), "EVENTLOG_HOME": str(target.parent / "store")}, target


def ran(environ, tmp_path, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )


def test_an_installed_wheel_runs_from_any_directory(installed, tmp_path):
    environ, target = installed
    where = "import eventlog, eventlog.projections, eventlog.app, eventlog.cli; print(eventlog.__file__)"
    helped = ran(environ, tmp_path, "-m", "eventlog", "--help")

    assert str(target) in ran(environ, tmp_path, "-c", where).stdout
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "replay" in helped.stdout


def test_two_installations_of_one_version_share_the_cache_whenever_they_were_made(installed, tmp_path):
    """Hooks from one environment and tools from another, at one store: no day is folded anew at each change."""
    environ, target = installed
    for module in target.rglob("*.py"):
        os.utime(module, (1, 1))
    store = EventLog(tmp_path / "store")
    store.append({"type": "fact", "conversation_id": "c", "content": "x"})
    replay(store, Settings())
    folded = f"""
from eventlog.app.build.replay import replay
from eventlog import EventLog
from eventlog.settings.schema import Settings
print(replay(EventLog({str(tmp_path / "store")!r}), Settings()).days_folded)
"""

    cache = tmp_path / "store" / "cache" / "knowledge.db"
    made = cache.stat()

    assert "0\n" == ran(environ, tmp_path, "-c", folded).stdout
    assert 0 == replay(store, Settings()).days_folded
    assert made.st_mtime_ns == cache.stat().st_mtime_ns
    record = next(target.glob("agent_eventlog-*.dist-info/RECORD"))
    record.write_text(
        record.read_text().replace("eventlog/format/text.py,sha256=", "eventlog/format/text.py,sha256=another")
    )
    assert "0\n" == ran(environ, tmp_path, "-c", folded).stdout
    assert made.st_mtime_ns < cache.stat().st_mtime_ns  # another program's is made anew
