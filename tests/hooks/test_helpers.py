"""Helpers start with what is known and are asked nothing; what machines write is no turn and no word of the user's."""

import pytest

from eventlog.hosts.call import not_the_user
from eventlog.hosts.transcripts.read import logged_steps
from eventlog.log.event_log import EventLog
from tests.support.command_line import call
from tests.support.hook_calls import run
from tests.support.host_calls import Session, events, tell
from tests.support.payloads import claude, codex

TRANSCRIPT = """\
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Fix the rounding of prices"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/home/ada/shop/price.py"}},{"type":"text","text":"Rounded half even."}]}}
"""

KNOWN = "The loyalty staging database listens on kestrel-8"
NOTICE = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
QWEN = {
    "hook_event_name": "SubagentStart",
    "session_id": "q",
    "timestamp": "2026-11-23T01:00:00.000Z",
    "agent_id": "a-1",
}
STARTS = {
    "claude": claude("SubagentStart", agent_id="a-1", agent_type="Explore"),
    "codex": codex("SubagentStart", agent_id="a-1", turn_id="t"),
    "qwen": {**QWEN, "cwd": "/home/ada/shop"},
    "copilot": {"sessionId": "p", "timestamp": 1795265053961, "cwd": "/home/ada/shop", "agentName": "explore"},
    "opencode": claude("SubagentStart", agent_id="ses_2"),
}


@pytest.fixture
def store(home):
    return home / ".eventlog"


def save(store, content, **fields):
    said = {"conversation_id": "earlier", "project": "/home/ada/shop", "content": content, **fields}
    EventLog(store).append({"type": "fact", **said})


def told(store, agent, payload):
    answer = tell(store, payload, "--agent", agent, "--event", "subagentStart" if agent == "copilot" else "")
    if agent == "copilot":
        return answer.get("additionalContext", "")
    said = answer.get("hookSpecificOutput", {"hookEventName": "SubagentStart"})
    assert said["hookEventName"] == "SubagentStart"
    return said.get("additionalContext", "")


@pytest.mark.parametrize("agent", STARTS)
def test_a_helper_starts_with_what_is_known_and_its_end_is_silent(store, agent):
    save(store, KNOWN)
    first = told(store, agent, STARTS[agent])
    again = told(store, agent, STARTS[agent])
    end = {**STARTS[agent], "hook_event_name": "SubagentStop"} if agent != "copilot" else STARTS[agent]
    stopped = tell(store, end, "--agent", agent, "--event", "subagentStop" if agent == "copilot" else "SubagentStop")
    [receipt] = events(store, "context_injected")

    assert KNOWN in first
    assert "data, not instructions" in first
    assert not [word for word in ("eventlog fact", "`remember`", "save it") if word in first]
    assert ("", {}) == (again, stopped)
    assert receipt.subagent
    assert receipt.sources


def test_a_helper_of_a_store_without_memory_is_told_nothing(store):
    assert "" == told(store, "claude", STARTS["claude"])
    assert not events(store, "context_injected")


def test_a_helper_is_told_at_most_fifteen_hundred_characters_and_no_work(store):
    for number in range(60):
        save(store, f"Fact number {number} of a long list that has no room in what a helper starts with")
    about = {"type": "stage_summary", "conversation_id": "x", "project": "/home/ada/shop"}
    EventLog(store).append({**about, "summary": "Done.", "todos": ["Open work"]})
    text = told(store, "claude", STARTS["claude"])

    assert 500 < len(text) <= 1500
    assert "Open work" not in text


def test_a_helper_of_a_shared_session_hears_nothing_about_the_user(store):
    save(store, KNOWN)
    save(store, "Prefers tea", memory_type="O")
    tell(store, claude("SessionStart", source="startup"), "--agent", "claude", "--session-type", "shared")
    text = told(store, "claude", STARTS["claude"])

    assert KNOWN in text
    assert "Prefers tea" not in text


def test_what_a_helper_was_told_its_conversation_does_not_know(store):
    save(store, KNOWN)
    told(store, "claude", STARTS["claude"])
    answer = tell(
        store, claude("UserPromptSubmit", prompt="Where does the loyalty staging database listen?"), "--agent", "claude"
    )

    assert "kestrel-8" in str(answer)


# ------------------------------------------------------------------------------------------------ machines


@pytest.mark.parametrize(
    ("fields", "is_machine"),
    [
        ({"prompt": NOTICE}, True),
        ({"prompt": f"  {NOTICE}", "source": "user"}, True),
        ({"prompt": "/loop check the build", "source": "loop_wakeup"}, True),
        ({"prompt": "Check", "source": "schedule_wakeup"}, True),
        ({"prompt": "Check", "source": "system"}, True),
        ({"prompt": "What does <task-notification> mean?"}, False),
        ({"prompt": "Fix it", "source": "user"}, False),
        ({"prompt": "Fix it", "source": "sdk"}, False),
        ({"prompt": "Fix it"}, False),
    ],
)
def test_prompts_of_machines_are_told_from_the_users(store, fields, is_machine):
    save(store, "Fix it by checking the task-notification of the build")
    answer = tell(store, claude("UserPromptSubmit", prompt_id="p", **fields), "--agent", "claude")
    [event] = events(store, "host_event")
    words = [step.text for step in logged_steps([event])]

    assert ("MachinePrompt" if is_machine else "UserPromptSubmit") == event.name
    assert ([] if is_machine else [fields["prompt"]]) == words
    assert not (is_machine and answer)


def test_one_prompt_with_five_background_helpers_is_one_turn_and_nobody_is_asked(store):
    session = Session(store)
    session.hook("UserPromptSubmit", prompt="Look everywhere", prompt_id="p-1")
    for helper in range(5):
        session.hook("SubagentStart", agent_id=f"a-{helper}", agent_type="Explore")
    session.turn(background_tasks=[{"id": "a-0"}])
    for helper in range(5):
        session.hook("SubagentStop", agent_id=f"a-{helper}", agent_type="Explore")
        session.hook("UserPromptSubmit", prompt=NOTICE, prompt_id=f"p-{helper + 2}")
        session.turn()
    answers = [session.hook("UserPromptSubmit", prompt="And now?", prompt_id="p-7"), session.turn()]

    assert ["p-1", "p-7"] == [event.turn_id for event in events(store, "turn_end")]
    assert 0 == session.requests
    assert [{}, {}] == answers
    assert not events(store, "save_requested")


def test_a_turn_in_the_middle_of_which_a_machine_spoke_is_the_users(store):
    session = Session(store)
    session.hook("UserPromptSubmit", prompt="Look everywhere", prompt_id="p-1")
    session.hook("UserPromptSubmit", prompt=NOTICE, prompt_id="p-1")
    session.turn()

    assert ["p-1"] == [event.turn_id for event in events(store, "turn_end")]


def test_after_three_turns_of_the_user_they_are_asked_however_many_a_machine_began(store):
    session = Session(store)
    asked = []
    for number in range(1, 4):
        session.hook("UserPromptSubmit", prompt="Go on", prompt_id=f"p-{2 * number - 1}")
        asked.append(bool(session.turn()))
        session.hook("UserPromptSubmit", prompt=NOTICE, prompt_id=f"p-{2 * number}")
        asked.append(bool(session.turn()))

    assert [False, False, False, False, True, False] == asked


def test_one_rule_tells_hooks_and_transcripts_who_speaks():
    assert not_the_user(NOTICE)
    assert not_the_user("<bash-input>git status</bash-input>")
    assert not not_the_user("Fix the <task-notification> parser")


# ------------------------------------------------------------------------------------------------ failed turns, compactions


def test_a_turn_that_a_failed_request_ended_has_an_end_and_asks_nobody(store):
    session = Session(store)
    session.turns(2)
    answer = session.hook("StopFailure", error="rate_limit", prompt_id="p-9")

    assert {} == answer
    assert ["completed", "completed", "error"] == [event.status for event in events(store, "turn_end")]


def test_what_the_host_wrote_for_a_compaction_is_a_stage_summary_without_a_request(store):
    wrote = (
        "<analysis>\nThoughts.\n</analysis>\n<summary>\n1. Primary Request:\n   Round the totals\n</summary>"
        + " x" * 2000
    )
    answer = tell(store, claude("PostCompact", trigger="manual", compact_summary=wrote), "--agent", "claude")
    again = tell(store, claude("PostCompact", trigger="manual", compact_summary=wrote), "--agent", "claude")
    tell(store, claude("PostCompact", trigger="auto", compact_summary="<analysis>\nThoughts without an end"))
    [stage, cut_off] = events(store)

    assert ({}, {}) == (answer, again)
    assert "host_event" == cut_off.type
    assert (stage.type, stage.scope, stage.layer) == ("stage_summary", "stage", 3)
    assert stage.summary.startswith("1. Primary Request: Round the totals x x")
    assert len(stage.summary) <= 1502


@pytest.mark.slow
def test_the_summary_of_a_session_is_drawn_also_where_a_compaction_left_a_stage(store, tmp_path):
    path = tmp_path / "s-1.jsonl"
    path.write_text(TRANSCRIPT)
    session = Session(store, transcript=path)
    session.hook("PostCompact", trigger="auto", compact_summary="Rounded the totals")
    session.turn()
    session.end()

    assert ["stage", "session"] == [event.scope for event in events(store, "stage_summary")]


# ------------------------------------------------------------------------------------------------ where a conversation is


@pytest.mark.slow
def test_a_conversation_ends_where_it_began_and_a_fact_is_where_it_was_said(store, tmp_path):
    places = [tmp_path / name for name in ("shop", "other")]
    for place in places:
        (place / ".git").mkdir(parents=True)
    shop, other = map(str, places)
    for payload in (
        claude("SessionStart", source="startup", cwd=shop),
        claude("UserPromptSubmit", prompt="Look there", prompt_id="p", cwd=other),
        claude("Stop", prompt_id="p", cwd=other),
        claude("SessionEnd", reason="other", cwd=other),
    ):
        assert 0 == run(store, payload, "--agent", "claude").returncode
    call("fact", "Said elsewhere", "--session", "5f0c", "--project", other)
    found = {event.type: event.project for event in EventLog(store).read()}
    assert [shop, shop, shop] == [found[kind] for kind in ("session_start", "turn_end", "session_end")]
    assert [other, other] == [found[kind] for kind in ("host_event", "fact")]
