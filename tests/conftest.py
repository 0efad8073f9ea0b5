"""A store of one's own for every test, a clock that is told what time it is, and a home that is nobody's."""

import os

import pytest
from hypothesis import HealthCheck, settings

from eventlog import dayfile
from eventlog.log import EventLog
from tests.support.builders import Clock
from tests.support.effort import FUZZ

# `make test` tries the same examples every time, on every machine however slow; `make fuzz` looks for new ones.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _common, max_examples=25, derandomize=True)
settings.register_profile("fuzz", _common, max_examples=200, print_blob=True)
settings.load_profile("fuzz" if FUZZ else "fixed")


@pytest.fixture(autouse=True, scope="session")
def _no_loss_of_power():
    """Syncs of this process cost nothing and do nothing: no test cuts the power, those that count syncs put in their own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, _nothing(name), raising=False)
        patch.setattr(dayfile, "_sync", _nothing("fdatasync"))
        yield


def _nothing(name):
    def nothing(fd):
        pass

    nothing.__name__ = name
    return nothing


@pytest.fixture(autouse=True)
def _nobodys_home(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("EVENTLOG_HOME", str(home / "store"))
    for name in ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "CURSOR_CONVERSATION_ID"):
        monkeypatch.delenv(name, raising=False)  # whoever runs the tests


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(tmp_path, clock):
    return EventLog(tmp_path / "store", fsync=False, clock=clock)


@pytest.fixture
def log_dir(tmp_path):
    path = tmp_path / "store" / "log"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home of someone who works in a project beside it, with none of this machine's programs or settings."""
    for name in ("EVENTLOG_HOME", "EVENTLOG_DISABLED", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"
