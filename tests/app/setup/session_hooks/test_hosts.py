"""Session hooks of hosts that have hooks of their own: run where nobody waits."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from eventlog.cli.group import VerbGroup
from eventlog.format.events import HostEvent
from eventlog.hooks import background, safety_nets
from eventlog.hooks.hook_main import handle, hints_in, start_context
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.payloads import claude, data
from tests.support.repositories import branch, git, repository_on_a_merged_branch

pytestmark = pytest.mark.slow


@pytest.fixture
def repository(tmp_path):
    return repository_on_a_merged_branch(tmp_path / "repository")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store whose hooks start nothing by themselves."""
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", lambda store: None)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.yaml").write_text("session_hooks: {logging: true, git_cleanup: true}\n")
    return Store(str(tmp_path / "store"))


def tell(store, event, cwd, **fields):
    payload = claude(event, cwd=str(cwd), **fields)
    _, told, hook_call = handle(data(payload), hints_in(["--store", store.root]), {}, start_context)
    if told and hook_call:
        safety_nets.note_and_start(told, hook_call)


def settle(store):
    result = CliRunner().invoke(VerbGroup(), ["settle", "--store", store.root], standalone_mode=False)
    assert result.exception is None


def sessions_log(store):
    return [line.split(" ")[2:4] for line in Path(store.cache, "sessions.log").read_text().splitlines()]


def test_hooks_run_for_a_start_and_for_an_end(store, repository):
    tell(store, "SessionStart", repository, source="startup")
    settle(store)
    tell(store, "SessionEnd", repository, reason="other")
    settle(store)

    assert [["session", "start"], ["session", "end"]] == sessions_log(store)
    assert branch(repository) == "main"


@pytest.mark.parametrize(
    "declare",
    [
        ["plan", "--path", "user", "--heading", "P", "--content", "x"],
        ["append", "plan_entry", "--json", '{"key":{"path":"user","heading":"P"},"content":"x"}'],
    ],
)
def test_entries_of_a_killed_session_are_applied_when_the_next_one_starts(store, repository, monkeypatch, declare):
    """No hook tells of the end of a session that was killed; the next start lets them be applied, once."""
    begun: list[Store] = []
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", begun.append)
    (Path(store.root) / "config.yaml").unlink()
    tell(store, "SessionStart", repository, source="startup")
    settle(store)
    begun.clear()
    assert 0 == call(*declare, "--session", "killed", "--store", store.root).code
    tell(store, "SessionStart", repository, session_id="next", source="startup")

    assert 1 == len(begun)
    settle(store)
    assert "## P\n\nx" in Path.home().joinpath(".config/agents/USER.md").read_text()
    tell(store, "SessionStart", repository, session_id="third", source="startup")
    assert 1 == len(begun)


def test_each_runs_once(store, repository):
    tell(store, "SessionStart", repository, source="startup")
    tell(store, "SessionEnd", repository, reason="other")
    for _ in range(3):
        settle(store)

    assert [["session", "start"], ["session", "end"]] == sessions_log(store)


def test_the_worktree_the_session_worked_in_is_cleaned_up_and_not_the_main_one(store, repository, tmp_path):
    """The main one is on a merged branch of its own, which is nobody else's business."""
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-b", "mine", str(linked))
    tell(store, "SessionStart", linked, source="startup")
    tell(store, "SessionEnd", linked, reason="other")
    settle(store)

    assert branch(repository) == "work"
    assert branch(linked) == "main"


def test_a_warning_of_the_cleanup_is_in_the_sessions_story(store, repository):
    (repository / "untracked.txt").write_text("x")
    tell(store, "SessionStart", repository, source="startup")
    tell(store, "SessionEnd", repository, reason="other")
    settle(store)
    (told,) = (event for event in EventLog(store).read() if isinstance(event, HostEvent))

    assert told.payload["git_cleanup"]["status"] == "warning"
    assert "1 uncommitted" in told.payload["git_cleanup"]["message"]


def test_a_start_alone_is_nothing_to_hurry_for(store, repository):
    tell(store, "SessionStart", repository, source="startup")

    assert not background.has_open(store)
