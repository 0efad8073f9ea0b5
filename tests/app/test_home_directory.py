"""What is said in a home directory that is no repository is said of the user, in no project."""

import contextlib
import json

import pytest

from eventlog.log.event_log import EventLog
from tests.support import command_line
from tests.support.payloads import claude, data

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path, monkeypatch):
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.setenv("EVENTLOG_HOME", str(path / ".eventlog"))
    return path


def _run(home, *words, cwd=None, stdin=b""):
    """Run a verb there: in this process, but for a hook, which ends the one it is in."""
    if words[0] == "hook":
        return command_line.run(*words, cwd=home, stdin=stdin, HOME=str(home), EVENTLOG_HOME=str(home / ".eventlog"))
    with contextlib.chdir(cwd or home):
        return command_line.call(*words, stdin=stdin)


def _events(home):
    return list(EventLog(home / ".eventlog").read())


def test_a_hook_a_fact_and_a_session_at_home_are_of_no_project(home):
    _run(home, "hook", "--agent", "claude", stdin=data(claude("SessionStart", cwd=str(home), source="startup")))
    _run(home, "hook", "--agent", "claude", stdin=data(claude("UserPromptSubmit", cwd=str(home), prompt="hello")))
    _run(home, "fact", "unrelated thing at home", "--session", "s")
    _run(home, "append", "fact", "content=another")
    _run(home, "lifecycle", "run", "start", "--session", "t")
    found = _events(home)

    assert {"session_start", "host_event", "fact"} <= {event.type for event in found}
    assert {None} == {event.project for event in found if event.type != "project_seen"}
    assert {"user"} == {event.effective_scope for event in found if event.type == "fact"}


def test_what_is_known_at_home_is_that_of_the_user(home):
    (home / "shop" / ".git").mkdir(parents=True)
    _run(home, "fact", "prices are integers", "--session", "s", cwd=home / "shop")
    _run(home, "fact", "tabs, not spaces", "--session", "s")
    _run(home, "replay")
    told = _run(home, "context").out

    assert ["MEMORY.md"] == sorted(path.name for path in (home / ".eventlog" / "knowledge").glob("MEMORY.md"))
    assert 1 == len(list((home / ".eventlog" / "knowledge" / "projects").iterdir()))
    assert "tabs, not spaces" in told
    assert "prices are integers" not in told
    for verb in (
        ["memory"],
        ["search", "tabs"],
        ["status"],
        ["install", "claude", "--project"],
        ["plan", "--path", "user", "--heading", "H", "--content", "x", "--session", "s"],
        ["validate", "--schema"],
        ["doctor"],
        ["lifecycle", "hooks"],
    ):
        ran = _run(home, *verb)

        assert "Traceback" not in ran.err
        assert ran.code in (0, 1), (verb, ran)


def test_what_was_filed_under_home_before_is_found_by_its_path(home):
    old = {"type": "fact", "conversation_id": "s", "project": str(home), "content": "of old"}
    EventLog(home / ".eventlog").append(old)
    found = _run(home, "query", "--project", "~", "--format", "jsonl").out

    assert ["of old"] == [json.loads(line)["content"] for line in found.splitlines()]
