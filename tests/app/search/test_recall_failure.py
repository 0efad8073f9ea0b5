"""After a command failed an agent is told what passed after the same failure in this project; once, if the user wants it."""

import json

import pytest

from eventlog.format.events import ContextInjected
from eventlog.hosts.transcripts.failures import signature
from eventlog.log.event_log import EventLog
from tests.support.command_line import call
from tests.support.host_calls import alone, tell
from tests.support.payloads import claude

SHOP = "/home/ada/shop"
COMMAND, OUTPUT = "pytest tests/checkout -x", "Exit code 2\nERROR: index is out of date: run a reindex"
PASSED = "make reindex && pytest tests/checkout"
FAILURE = signature(COMMAND, OUTPUT)
AGENTS = {
    "claude": ("claude", lambda **fields: claude("PostToolUseFailure", tool_name="Bash", **fields)),
    "qwen": ("qwen", lambda **fields: claude("PostToolUseFailure", tool_name="run_shell_command", timestamp="2026-02-20T12:00:00Z", **fields)),
}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    place = alone(tmp_path / "store")
    place.mkdir(exist_ok=True)
    (place / "config.yaml").write_text("version: 1\nrecall: {failure: true}\n")
    return place


def earlier(store, passed=PASSED, project=SHOP, conversation="earlier"):
    """A session that met the failure, and what passed after it."""
    fields = {"conversation_id": conversation, "project": project, "agent": "claude-code"}
    said = {"title": "Checkout", "prompts": ["Fix the checkout"], "fixes": [{"failure": FAILURE, "passed": passed}]}
    log = EventLog(store)
    log.append({"type": "session_start", **fields})
    log.append({"type": "stage_summary", **fields, "summary": "The checkout works."})
    return log.append({"type": "conversation_text", **fields, **said})


def fails(store, agent="claude", number=1, **fields):
    """What the agent is told when the command fails in another session."""
    name, payload = AGENTS[agent]
    called = {"tool_use_id": f"t-{number}", "tool_input": {"command": COMMAND}, "error": OUTPUT, **fields}
    answer = tell(store, payload(**called), "--agent", name)
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_is_told_what_passed_once(store, agent):
    fix = earlier(store)

    told, again = fails(store, agent), fails(store, agent, 2)

    assert f"{fix.id[-8:]}] `{PASSED}` passed after this" in told
    assert "" == again
    (receipt,) = [event for event in EventLog(store).read() if isinstance(event, ContextInjected)]
    assert (FAILURE, "prompt", [fix.id]) == (receipt.failure, receipt.trigger, receipt.sources)


def test_the_user_is_told_when_the_session_was_told(store):
    earlier(store)
    fails(store)

    assert "when a command failed" in call("--store", store, "why", "--session", "5f0c").out


@pytest.mark.parametrize(
    "fields",
    [
        {"error": "Exit code 1\nERROR: the database refused the connection"},
        {"error": "Exit code 1\nE   AssertionError: assert 3 == 4"},
        {"tool_input": {"command": "ruff check ."}},
        {"tool_input": {"file_path": "/x"}},
        {"is_interrupt": True},
        {"agent_id": "helper"},
        {"cwd": "/home/ada/other"},
        {"session_id": "earlier"},
    ],
    ids=str,
)
def test_nothing_is_told_after_another_failure_elsewhere_or_to_others(store, fields):
    earlier(store)

    assert "" == fails(store, **fields)


def test_by_default_nothing_is_told(tmp_path):
    store = alone(tmp_path / "plain")
    earlier(store)

    assert "" == fails(store)


def test_a_command_that_somebody_else_put_there_is_not_told_unless_it_may_be_repeated(store):
    earlier(store, passed="make reindex && rm -rf data && pytest tests/checkout")

    assert "" == fails(store)


def test_of_several_the_newest_is_told(store):
    earlier(store, passed="pytest tests/checkout --reindex", conversation="older")
    earlier(store)

    assert f"`{PASSED}`" in fails(store)


@pytest.mark.parametrize(
    "verb", [("forget", "--session", "earlier", "--yes"), ("redact", "make reindex && pytest", "--yes")]
)
def test_nothing_forgotten_or_erased_is_told(store, verb):
    earlier(store)
    assert 0 == call("--store", store, *verb).code

    told = fails(store)

    assert "reindex" not in told


def test_who_wants_it_gets_the_event_for_it_and_loses_it_again(home):
    settings, file = home / ".eventlog" / "config.yaml", home / ".claude" / "settings.json"
    settings.parent.mkdir()
    registered = {}
    for wanted in ("false", "true"):
        settings.write_text(f"recall: {{failure: {wanted}}}\n")
        call("install", "claude")
        registered[wanted] = json.loads(file.read_text())["hooks"]

    assert {"PostToolUseFailure"} == registered["true"].keys() - registered["false"].keys()
    (entry,) = registered["true"]["PostToolUseFailure"]
    assert ("Bash", False) == (entry["matcher"], entry["hooks"][0].get("async", False))
