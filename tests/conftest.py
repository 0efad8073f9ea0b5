"""A store of one's own for every test, a clock that is told what time it is, and a home that is nobody's."""

import pytest
from hypothesis import settings

from eventlog.log import EventLog
from tests.support.builders import Clock

# `make test` tries the same examples every time, on every machine; `make fuzz` looks for new ones.
settings.register_profile("fixed", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=200, print_blob=True)
settings.load_profile("fixed")


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
