"""A missing or broken installation blocks nobody: what stands in a host's file, run as hosts run it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eventlog.app.setup.install.hook_entries import commands_in
from eventlog.hooks.command import HookCommand, command
from eventlog.hosts.profile import profiles
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.hook_calls import events_of
from tests.support.payloads import claude, data
from tests.support.tree import PACKAGE

STARTED = data(claude("UserPromptSubmit", prompt_id="p-1", prompt="hello"))
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """A Python and a package of their own, which may go away."""
    package = tmp_path / "site" / "eventlog"
    package.mkdir(parents=True)
    for name in ("hook.py", "__init__.py"):
        (package / name).symlink_to(PACKAGE / name)
    for path in PACKAGE.iterdir():
        if path.name not in ("hook.py", "__init__.py", "__pycache__"):
            (package / path.name).symlink_to(path)
    python = tmp_path / "venv" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.setattr("eventlog.hooks.command.eventlog.__file__", str(package / "__init__.py"))
    return tmp_path


def installed(tmp_path, agent="claude", event="UserPromptSubmit"):
    return command(agent, event, Store(str(tmp_path / "store")), str(tmp_path / "home"))


def say(text, shell="sh"):
    return subprocess.run([shell, "-c", text], input=STARTED, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("gone", ["site/eventlog/hook.py", "site", "venv", "venv/python"])
def test_what_is_gone_blocks_no_prompt_and_says_nothing(installation, gone, shell):
    text = installed(installation)
    place = installation / gone
    place.unlink() if place.is_symlink() else shutil.rmtree(place)
    ended = say(text, shell)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.slow
def test_half_an_installation_blocks_no_prompt_and_says_nothing(installation):
    text = installed(installation)
    (installation / "site" / "eventlog" / "hooks").unlink()
    ended = say(text)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.slow
def test_a_store_that_cannot_be_written_blocks_no_prompt(installation):
    (installation / "store").write_text("in the way")
    ended = say(installed(installation))

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_there_records_and_answers_as_ever(installation, shell):
    text = installed(installation, event="SessionStart")
    started = data(claude("SessionStart", source="startup", cwd=str(installation)))
    ended = subprocess.run([shell, "-c", text], input=started, capture_output=True, check=False)

    assert (0, b"") == (ended.returncode, ended.stderr)
    assert "additionalContext" in json.loads(ended.stdout)["hookSpecificOutput"]
    assert ["session_start"] == [event.type for event in events_of(installation / "store")]


# --------------------------------------------------------------------------- whoever recognises the command follows

OLD = "/usr/bin/python3 -I -S /opt/eventlog/hook.py --agent claude --event {event}"


def test_the_command_is_recognised_shared_or_not(tmp_path):
    store = Store(str(tmp_path))
    plain, shared = (HookCommand(command("claude", "Stop", store, "/", shared=shared)) for shared in (False, True))

    assert [True, True] == [plain.is_own, shared.is_own]
    assert [False, True] == [plain.is_shared, shared.is_shared]
    assert [False, True] == [HookCommand(text).is_shared for text in (OLD, OLD + " --session-type shared")]


def _old_form(home, agent="claude"):
    """What an earlier version left: no guard."""
    call("install", agent, "--no-mcp")
    path = next(path for path in home.rglob("*.json") if "backups" not in path.parts)
    path.write_text(path.read_text().replace(" 2>/dev/null || true", ""))
    return path


def test_uninstalling_removes_entries_of_the_old_form(home):
    path = _old_form(home)
    call("uninstall", "claude")

    assert not path.exists() or "hook.py" not in path.read_text()


def test_installing_again_replaces_the_old_form(home):
    path = _old_form(home)
    call("install", "claude")
    commands = [text for _, text in commands_in(json.loads(path.read_text()))]

    assert len(profiles()["claude"].hooks.events) == len(commands)
    assert all(text.endswith(" || true") for text in commands)


def test_doctor_asks_for_the_old_form_to_be_replaced(home):
    _old_form(home)
    ran = call("doctor")

    assert 1 == ran.code
    assert "eventlog install claude --user" in ran.out


def test_a_missing_script_is_told_by_doctor(home, installation):
    call("install", "claude")
    shutil.rmtree(Path(installation, "site"))

    assert "which is gone" in call("doctor").out
