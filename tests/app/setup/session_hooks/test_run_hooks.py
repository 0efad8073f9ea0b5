import os
import subprocess
import sys
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from eventlog import Memory
from eventlog.app.setup.session_hooks import HookResult, SessionLifecycleHook, SessionUsage, get_registry
from eventlog.app.setup.session_hooks.run import _issue_key, run_hooks
from eventlog.cli.group import VerbGroup
from eventlog.format.events import HostEvent, SaveRequested, SessionEnd, SessionStart, StageSummary, TurnEnd
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from tests.support.repositories import branch, git, repository_on_a_merged_branch
from tests.support.tree import IMPORT_PATH

pytestmark = pytest.mark.slow

MINUTE = 60 * 10**9


@pytest.fixture
def project(tmp_path):
    return str(repository_on_a_merged_branch(tmp_path / "project"))


def cleaning():
    return Settings(session_hooks={"git_cleanup": True})


def at_end(log, project, session="s", **fields):
    end = log.append(SessionEnd(conversation_id=session, project=project, agent="codex", **fields))
    return run_hooks(log, cleaning(), end)


def test_a_session_that_ended_an_hour_ago_or_has_ended_is_not_at_work(log, project, clock):
    log.append(SessionStart(conversation_id="long ago", project=project))
    clock.now += 61 * MINUTE
    log.append(SessionStart(conversation_id="ended", project=project))
    log.append(SessionEnd(conversation_id="ended", project=project))
    log.append(SessionStart(conversation_id="elsewhere", project="/other"))
    at_end(log, project)

    assert branch(project) == "main"


def test_what_is_added_to_a_session_after_its_end_does_not_keep_it_at_work(log, project):
    log.append(SessionEnd(conversation_id="other", project=project))
    log.append(StageSummary(conversation_id="other", project=project, summary="Drawn", layer=3))
    log.append(HostEvent(conversation_id="other", project=project, name="session_hooks"))
    at_end(log, project)

    assert branch(project) == "main"


def test_a_session_that_came_back_is_at_work(log, project):
    log.append(SessionEnd(conversation_id="other", project=project))
    log.append(TurnEnd(conversation_id="other", project=project))
    at_end(log, project)

    assert branch(project) == "work"


def test_a_session_at_work_in_the_same_project_keeps_the_branch(log, project, clock):
    log.append(SessionStart(conversation_id="other", project=project))
    clock.now += 30 * MINUTE
    (outcome,) = at_end(log, project)

    assert "other" in outcome.result.message
    assert branch(project) == "work"


def test_what_a_hook_did_is_part_of_the_sessions_story(log, project):
    at_end(log, project)
    told = log.session("s")[-1]

    assert isinstance(told, HostEvent)
    assert (told.name, told.agent, told.project) == ("session_hooks", "codex", project)
    assert told.payload["git_cleanup"]["status"] == "success"


def test_where_there_was_nothing_to_do_nothing_is_told(log, tmp_path):
    run_hooks(log, Settings(), log.append(SessionStart(conversation_id="s", project=str(tmp_path))))

    assert len(log.session("s")) == 1


def test_starts_and_ends_are_logged(log, tmp_path):
    start = log.append(SessionStart(conversation_id="s\x1b[31m", project=str(tmp_path), source="startup"))
    end = log.append(SessionEnd(conversation_id="s", agent="codex", reason="done"))
    for event in (start, end):
        run_hooks(log, Settings(), event)
    lines = (tmp_path / "store" / "cache" / "sessions.log").read_text().splitlines()

    assert [
        f"{start.ts} INFO session start session=s project={tmp_path} reason=startup",
        f"{end.ts} INFO session end session=s agent=codex reason=done",
    ] == [line.replace("s[31m", "s") for line in lines]


@pytest.mark.parametrize("option", ["log_start", "log_end"])
def test_logging_obeys_its_options(log, tmp_path, option):
    settings = Settings(session_hooks={"logging": {option: False, "log_level": "DEBUG"}})
    for event in (SessionStart(conversation_id="s"), SessionEnd(conversation_id="s")):
        run_hooks(log, settings, log.append(event))
    (line,) = (tmp_path / "store" / "cache" / "sessions.log").read_text().splitlines()

    assert ("DEBUG session end" if option == "log_start" else "DEBUG session start") in line


def test_the_log_of_sessions_is_bounded(log, tmp_path):
    path = tmp_path / "store" / "cache" / "sessions.log"
    path.parent.mkdir(parents=True)
    path.write_text("x" * (1 << 20) + "\n")
    for _ in range(2):
        run_hooks(log, Settings(), log.append(SessionStart(conversation_id="s")))

    assert path.stat().st_size < 1000
    assert path.with_name("sessions.log.1").stat().st_size > 1 << 20


# ---------------------------------------------------------------------------------------------------- what hooks are told


class Listens(SessionLifecycleHook):
    """Keeps the context it is called with."""

    def on_session_start(self, context):
        self.told = context
        return HookResult.success()

    on_session_end = on_session_start


class Tracker(Listens):
    """Knows the state of one issue, or raises, or hangs in its own way."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def issue_state(self, context):
        self.asked.append(context.issue)
        return self.answer(context)


def _breaks(_context):
    raise ValueError("the tracker is down")


@pytest.fixture
def listener():
    listening = Listens()
    get_registry().register(listening)
    yield listening
    get_registry().clear()


def test_a_hook_is_told_of_branch_issue_and_usage(log, project, listener):
    git(project, "switch", "-c", "feature/123-login")
    about: dict[str, Any] = {"conversation_id": "s", "project": project}
    log.append(SessionStart(**about, git_branch="work"))
    for used in (60.0, 85.0):
        log.append(TurnEnd(**about))
        log.append(SaveRequested(**about, trigger="pre_compact", context_usage_percent=used, message_count=42))
    log.append(TurnEnd(**about, subagent="helper"))
    run_hooks(log, Settings(session_hooks={}), log.append(SessionEnd(**about, duration_ms=5.0)))

    assert ("work", "feature/123-login", "123") == (
        listener.told.start_branch,
        listener.told.branch,
        listener.told.issue,
    )
    assert SessionUsage(2, 85.0, 42, 5.0) == listener.told.usage


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([lambda context: "open" if context.issue == "123" else None], "open"),
        ([_breaks, lambda _: 7, lambda _: None, lambda _: "closed"], "closed"),
        ([_breaks], None),
    ],
)
def test_hooks_are_told_the_state_of_the_issue_by_the_first_that_knows_it(log, project, listener, answers, state):
    git(project, "switch", "-c", "feature/123-login")
    trackers = [Tracker(answer) for answer in answers]
    for number, tracker in enumerate(trackers):
        get_registry().register(tracker, name=f"tracker {number}")
    outcomes = run_hooks(log, Settings(session_hooks={}), log.append(SessionEnd(conversation_id="s", project=project)))

    assert state == listener.told.issue_state
    assert len(trackers) + 1 == len(outcomes)
    assert all(tracker.asked == ["123"] for tracker in trackers)


def test_where_there_is_no_issue_nobody_is_asked_for_its_state(log, tmp_path, listener):
    tracker = Tracker(_breaks)
    get_registry().register(tracker)
    run_hooks(log, Settings(session_hooks={}), log.append(SessionStart(conversation_id="s", project=str(tmp_path))))

    assert [] == tracker.asked
    assert listener.told.issue_state is None


def test_a_program_that_starts_and_ends_a_session_runs_its_hooks(tmp_path, project, listener):
    memory = Memory(tmp_path / "store")
    started = memory.start("s", project=project, agent="my-agent", issue="PROJ-7")
    told = listener.told
    ended = memory.end("s", project=project, agent="my-agent", reason="done")

    assert ("s", project, "my-agent", "startup", "PROJ-7") == (
        told.session_id, told.project, told.agent, told.reason, told.issue
    )  # fmt: skip
    told_by_hooks = [event for event in memory.log.session("s") if isinstance(event, HostEvent)]
    assert [started.event, ended.event] == [event for event in memory.log.session("s") if event not in told_by_hooks]
    assert ("logging", "Listens") == tuple(outcome.hook for outcome in ended.outcomes)
    assert "done" == listener.told.reason


def test_what_nobody_told_is_not_made_up(log, tmp_path, listener):
    run_hooks(log, Settings(session_hooks={}), log.append(SessionStart(conversation_id="s", project=str(tmp_path))))

    assert (None, None, SessionUsage()) == (listener.told.branch, listener.told.issue, listener.told.usage)


def test_the_issue_a_caller_names_counts_more_than_the_branch(tmp_path, project, listener):
    git(project, "switch", "-c", "feature/123-login")
    run("start", "--session", "s", "--project", project, "--issue", "PROJ-7", *store(tmp_path))

    assert "PROJ-7" == listener.told.issue


@pytest.mark.parametrize(
    ("branch_name", "issue"),
    [
        ("feature/123-login", "123"), ("123-login", "123"), ("fix/issue-42", "42"), ("gh-7/x", "7"), ("#9", "9"),
        ("FEAT-0120-hooks", "FEAT-0120"), ("ada/PROJ-7", "PROJ-7"), ("PROJ-7_login", "PROJ-7"),
        ("main", None), ("release/1.2", None), ("release/12-x", None), ("2026-02-20-notes", None), ("v2", None),
        ("login-123", None), ("12ab", None), (None, None), ("", None),
    ],
)  # fmt: skip
def test_an_issue_is_found_where_a_branch_is_named_for_one(branch_name, issue):
    assert issue == _issue_key(branch_name)


# ---------------------------------------------------------------------------------------------------------- the verb


def run(*args):
    result = CliRunner().invoke(VerbGroup(), ["lifecycle", "run", *args], standalone_mode=False)
    return result.return_value, [orjson.loads(line) for line in result.stdout.splitlines()], result.exception


def store(tmp_path, config=""):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config.yaml").write_text(config)
    return ["--store", str(tmp_path / "store")]


def test_the_verb_records_the_event_and_runs_the_hooks(tmp_path, project):
    where = store(tmp_path, "session_hooks: {logging: true, git_cleanup: true}\n")
    run("start", "--session", "s", "--project", project, "--reason", "startup", *where)
    code, lines, _ = run("end", "--session", "s", "--project", project, "--agent", "mine", *where)
    events = EventLog(tmp_path / "store").session("s")

    assert code == 0
    assert ["session_start", "session_end", "host_event"] == [event.type for event in events]
    assert isinstance(events[0], SessionStart)
    assert (events[0].git_branch, events[0].source, events[1].agent) == ("work", "startup", "mine")
    assert [("logging", "success"), ("git_cleanup", "success")] == [(one["hook"], one["status"]) for one in lines[1:]]
    assert branch(project) == "main"


def test_a_failing_hook_is_told_by_the_exit_code(tmp_path, project):
    where = store(tmp_path)
    (tmp_path / "store" / "cache").write_text("a file where a directory should be")
    code, lines, _ = run("start", "--session", "s", "--project", project, *where)

    assert code == 1
    assert lines[1]["status"] == "failure"


def test_a_mistake_in_the_settings_loses_no_event(tmp_path, project):
    where = store(tmp_path, "session_hooks: {git_cleanup: {main_brunch: x}}\n")
    code, lines, _ = run("start", "--session", "s", "--project", project, *where)

    assert code == 1
    assert "main_brunch" in lines[1]["message"]
    assert isinstance(EventLog(tmp_path / "store").session("s")[0], SessionStart)


NOISY = """
import os
from eventlog.app.setup.session_hooks import HookResult, SessionLifecycleHook

class Noisy(SessionLifecycleHook):
    def on_session_start(self, context):
        print("NOISE of a print")
        os.system("echo NOISE of a program")
        return HookResult.success("done")

    on_session_end = on_session_start
"""


def test_what_a_hook_prints_does_not_mix_with_the_answer(tmp_path, project):
    where = store(tmp_path, "session_hooks: {noisy: true}\n")
    (tmp_path / "noisy.py").write_text(NOISY)
    about = tmp_path / "noisy-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[eventlog.session_hooks]\nnoisy = noisy:Noisy\n")
    command = [sys.executable, "-m", "eventlog", "lifecycle", "run", "start", "--session", "s", *where]
    environ = {**os.environ, "PYTHONPATH": f"{IMPORT_PATH}:{tmp_path}"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ, cwd=project)

    assert ["ok", "success"] == [orjson.loads(line)["status"] for line in done.stdout.splitlines()]
    assert done.stderr.count("NOISE") == 2
