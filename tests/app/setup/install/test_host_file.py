"""Files that belong to hosts, and the directories they are in: links, modes, and what is not there yet."""

import os
import stat
import sys
from multiprocessing import get_context

import pytest

from eventlog.app.setup.install import host_file
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.effort import rounds

SETTINGS = ".claude/settings.json"


def _put(home, content):
    (home / ".claude").mkdir()
    (home / SETTINGS).write_bytes(content)
    return home / SETTINGS


def test_the_mode_of_a_file_stays(home):
    path = _put(home, b"{}")
    path.chmod(0o640)
    call("install", "claude")
    installed = stat.S_IMODE(path.stat().st_mode)
    call("uninstall", "claude")

    assert (0o640, 0o640) == (installed, stat.S_IMODE(path.stat().st_mode))


def test_a_symbolic_link_stays_one(home, tmp_path):
    (tmp_path / "dotfiles.json").write_bytes(b"{}\n")
    (home / ".claude").mkdir()
    (home / SETTINGS).symlink_to(tmp_path / "dotfiles.json")
    call("install", "claude")
    installed = (tmp_path / "dotfiles.json").read_bytes()
    call("uninstall", "claude")

    assert b"hook.py" in installed
    assert (home / SETTINGS).is_symlink()
    assert b"{}\n" == (tmp_path / "dotfiles.json").read_bytes()


def test_a_link_that_leads_nowhere_stays_one(home, tmp_path):
    (home / ".claude").mkdir()
    (home / SETTINGS).symlink_to(tmp_path / "dotfiles.json")
    call("install", "claude")
    installed = (tmp_path / "dotfiles.json").read_bytes()
    call("uninstall", "claude")

    assert b"hook.py" in installed
    assert (home / SETTINGS).is_symlink()
    assert not (tmp_path / "dotfiles.json").exists()


@pytest.mark.parametrize("order", [("copilot", "vscode"), ("vscode", "copilot")])
def test_directories_made_for_several_files_go_with_the_last(home, order):
    call("install", "copilot", "vscode")
    call("uninstall", order[0])
    between = (home / ".copilot" / "hooks").exists()
    call("uninstall", order[1])

    assert between
    assert not (home / ".copilot").exists()


def test_a_directory_that_was_there_stays(home):
    (home / ".copilot").mkdir()
    call("install", "copilot", "vscode")
    call("uninstall", "copilot", "vscode")

    assert [] == list((home / ".copilot").iterdir())


def test_a_read_only_file_is_refused_and_left_alone(home):
    path = _put(home, b"{}")
    path.chmod(0o444)
    ran = call("install", "claude")

    assert 3 == ran.code
    assert "read-only" in ran.err
    assert f"chmod u+w {path}" in ran.err
    assert b"{}" == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_directories_of_hosts_are_never_open_to_all_whatever_the_umask(home, umask):
    before = os.umask(umask)
    try:
        ran = call("install", "claude", "cursor", "copilot", "--with-rules"), call("install", "claude", "--project")
    finally:
        os.umask(before)
    made = [
        path for top in (home, home.parent / "project" / ".claude") for path in [top, *top.rglob("*")] if path != home
    ]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in made}

    assert [0, 0] == [one.code for one in ran]
    assert [] == [path for path, mode in modes.items() if mode & 0o022]
    assert [] == [path for path, mode in modes.items() if path.is_dir() and mode & 0o700 != 0o700]


STEPS = ["install", "uninstall"] * rounds(fixed=4, fuzz=12)


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize(
    "content", [b'{\n  "hooks": {}\n}\n', b'{"hooks": {}}', None], ids=["lines", "a line", "no file"]
)
def test_installing_and_uninstalling_at_once_is_as_one_after_the_other(home, content):
    if content is not None:
        _put(home, content)
    call("doctor")  # loads what every process would have to load
    agents = ("claude", "copilot", "vscode")
    running = [get_context("fork").Process(target=_call, args=(verb, *agents)) for verb in STEPS]
    for one in running:
        one.start()
    for one in running:
        one.join()
    call("uninstall", *agents)

    assert [0] * len(STEPS) == [one.exitcode for one in running]
    assert content == ((home / SETTINGS).read_bytes() if (home / SETTINGS).exists() else None)
    assert not (home / ".copilot").exists()


def test_a_file_that_was_removed_meanwhile_is_not_made_for_nothing(home):
    assert "unchanged" == host_file.change(Store(str(home / "store")), home / SETTINGS, str.strip, str.strip).done
    assert not (home / SETTINGS).exists()


def _call(*args):
    sys.exit(call(*args).code)
