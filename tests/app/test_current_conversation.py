"""What is said without naming a conversation belongs to the one whose agent runs the command, else to the person."""

import json
from pathlib import Path

import pytest

from eventlog.app.open_store import Machine
from eventlog.app.write.speaker import (
    Speaker,
    SpeakerOptions,
    _agent_of,
    _current_speaker,
    speaker_of,
    speaker_of_server,
)
from eventlog.format.events import persons_conversation
from eventlog.hooks import background
from eventlog.hosts import profile
from eventlog.hosts.call import HookCall
from eventlog.hosts.profile import profiles
from eventlog.log.event_log import EventLog
from eventlog.store.replica import replica_of
from tests.support.builders import NOON, Clock
from tests.support.command_line import call
from tests.support.screen import told

HOUR_NS = 3600 * 10**9
VARIABLES = {
    "claude-code": "CLAUDE_CODE_SESSION_ID",
    "codex": "CODEX_SESSION_ID",
    "copilot": "COPILOT_AGENT_SESSION_ID",
    "cursor": "CURSOR_CONVERSATION_ID",
}
PROMPTED = {"type": "host_event", "name": "UserPromptSubmit", "payload": {}}
SAVED = {"type": "fact", "content": "x"}
ASKED = {"type": "save_requested", "trigger": "stop"}
ENDED = {"type": "turn_end", "status": "completed"}
ANSWERED = {"type": "host_event", "name": "AfterAgent", "payload": {}}
THE_PERSON = Speaker(persons_conversation("2026-02-20", "", "/shop"), "human")


def _tell(log, *events, session="s-1", agent="gemini", project="/shop", **fields):
    for event in events:
        log.append({"conversation_id": session, "agent": agent, "project": project, **event, **fields})


def _speaker(log, environ=None, agent="", now=NOON + 10**9, *, is_typed=False):
    machine = Machine("/home", environ or {}, lambda: now, "eventlog", lambda: is_typed)
    return _current_speaker(log, "/shop", machine, agent)


# ------------------------------------------------------------------------------------------------ a server


def test_a_server_speaks_for_the_conversation_of_the_host_that_started_it(log, called_by_a_host):
    """Not for another one of the same host and project that was heard of since."""
    machine = Machine("/home", {}, lambda: NOON + 10**9, "eventlog", lambda: False)
    _tell(log, PROMPTED, session="mine")
    _tell(log, PROMPTED, session="other")
    before = speaker_of_server(log, "/shop", machine, "gemini")
    background.mark_open(log.store, HookCall("gemini", "SessionStart", {"cwd": "/shop"}, session="mine"))

    assert Speaker("other", "gemini", "guessed") == before
    assert Speaker("mine", "gemini") == speaker_of_server(log, "/shop", machine, "gemini")


def test_a_server_speaks_for_the_only_conversation_of_its_host_that_told_of_no_prompt(log, called_by_a_host):
    machine = Machine("/home", {}, lambda: NOON + 10**9, "eventlog", lambda: False)
    _tell(log, PROMPTED, session="other", agent="droid")
    background.mark_open(log.store, HookCall("droid", "SessionStart", {"cwd": "/shop"}, session="mine"))

    assert Speaker("mine", "droid") == speaker_of_server(log, "/shop", machine, "droid")


# ------------------------------------------------------------------------------------------------ the environment


@pytest.mark.parametrize(("agent", "variable"), VARIABLES.items())
def test_the_hosts_environment_names_the_conversation(log, agent, variable):
    _tell(log, PROMPTED)  # another host is at work in the project

    assert Speaker("e-1", agent) == _speaker(log, {variable: "e-1"}, is_typed=True)


@pytest.mark.parametrize(
    "options", [{"agent": "human"}, {"session": "human-2026-02-20"}, {"session": "s-1", "agent": "human"}]
)
def test_an_agent_does_not_speak_for_the_person(log, options):
    _tell(log, SAVED, session="human-2026-02-20", agent="human")
    asked = SpeakerOptions(**{"session": None, "agent": None, "project": "/shop", "layer": None} | options)

    def agent(**environ):
        return speaker_of(log, asked, Machine("/home", environ, lambda: NOON + 10**9, "eventlog", lambda: False))[
            "agent"
        ]

    assert agent() == "human"
    assert agent(CLAUDE_CODE_SESSION_ID="e-1") != "human"


def test_the_command_of_an_agent_cannot_say_that_the_person_spoke(log, monkeypatch):
    _tell(log, SAVED, session="human-2026-02-20", agent="human")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "e-1")
    for number, options in enumerate((["--agent", "human"], ["--session", "human-2026-02-20"])):
        call("--store", log.store.root, "fact", f"The port is 844{number}", *options)

    assert [event.agent for event in log.read()][1:] == ["claude-code", "claude-code"]


@pytest.mark.parametrize(
    "asked",
    [["agent=human"], ["agent=human", "conversation_id=human-2026-02-20"], ["--session", "e-1", "--agent", "human"],
     ["--json", '{"agent": "human"}'], "--stdin"],
)  # fmt: skip
@pytest.mark.parametrize("session", ["", "e-1"])
def test_no_field_that_an_agent_appends_says_that_the_person_spoke(log, monkeypatch, asked, session):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
    said = {"type": "fact", "content": "x", "conversation_id": "c", "agent": "human"}
    args = ["--stdin"] if asked == "--stdin" else ["fact", "content=x", *asked]
    call("--store", log.store.root, "append", *args, stdin=json.dumps(said).encode() if asked == "--stdin" else b"")

    assert [event.agent for event in EventLog(log.store.root).read()] == ["claude-code" if session else "human"]


def test_what_has_its_own_time_stays_the_persons_whoever_appends_it(log, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "e-1")
    said = {"type": "fact", "content": "x", "conversation_id": "c", "agent": "human"}
    call(
        "--store",
        log.store.root,
        "append",
        "--stdin",
        stdin=json.dumps({**said, "ts": "2026-02-20T08:00:00.000000Z"}).encode(),
    )

    assert [event.agent for event in EventLog(log.store.root).read()] == ["human"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb", [["edit", "The port is 8443", "--content", "The port is 9443"], ["move", "The port is 8443", "user"]]
)
@pytest.mark.parametrize("session", ["", "e-1"])
def test_what_an_agent_corrects_is_not_said_by_the_person(log, monkeypatch, verb, session):
    EventLog(log.store.root).append(
        {"type": "fact", "conversation_id": "s-1", "agent": "gemini", "project": "/shop", "content": "The port is 8443"}
    )
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
    call("--store", log.store.root, *verb, "--yes")

    corrected = [event.agent for event in EventLog(log.store.root).read() if event.type != "entry_applied"][1:]
    assert {*corrected} == {"claude-code" if session else "human"}


@pytest.mark.parametrize("agent", ["", "human"])
def test_a_tool_is_never_called_by_the_person(log, agent):
    machine = Machine("/home", {}, lambda: NOON + 10**9, "eventlog", lambda: False)

    assert "cli" == speaker_of_server(log, "/shop", machine, agent).agent


def test_of_two_hosts_in_the_environment_the_one_at_work_speaks(log):
    _tell(log, PROMPTED, session="outer", agent="claude-code")
    _tell(log, PROMPTED, session="inner", agent="codex")
    both = {"CLAUDE_CODE_SESSION_ID": "outer", "CODEX_SESSION_ID": "inner"}

    assert Speaker("inner", "codex") == _speaker(log, both)
    assert Speaker("outer", "claude-code") == _speaker(log, both, agent="claude-code")


# ------------------------------------------------------------------------------------------------ the log

AT_WORK = {
    "after a prompt": (PROMPTED,),
    "and its agent saves something": (PROMPTED, SAVED),
    "while it answers our request": (PROMPTED, ENDED, ASKED),
    "in its second turn": (PROMPTED, ENDED, PROMPTED),
}
AT_REST = {
    "nobody ever said anything": (),
    "the turn is over": (PROMPTED, ENDED),
    "our request was answered": (PROMPTED, ENDED, ASKED, ANSWERED),
    "the session is over": (PROMPTED, {"type": "session_end"}),
    "nothing was asked yet": ({"type": "session_start"},),
    "only the person has spoken": (SAVED,),
}


@pytest.mark.parametrize("events", AT_WORK.values(), ids=AT_WORK)
def test_the_conversation_of_the_project_that_is_within_its_turn_speaks(log, events):
    _tell(log, *events)

    assert Speaker("s-1", "gemini", "guessed") == _speaker(log)


@pytest.mark.parametrize("events", AT_WORK.values(), ids=AT_WORK)
def test_what_a_person_types_is_said_by_the_person_whoever_is_at_work(log, events):
    _tell(log, *events)

    assert THE_PERSON == _speaker(log, is_typed=True)


@pytest.mark.parametrize("events", AT_REST.values(), ids=AT_REST)
def test_where_no_agent_is_at_work_the_person_speaks(log, events):
    _tell(log, *events)

    assert THE_PERSON == _speaker(log)


def test_the_newest_of_two_at_work_speaks(log):
    _tell(log, PROMPTED, session="first")
    _tell(log, PROMPTED, session="second")

    assert "second" == _speaker(log).conversation_id
    _tell(log, {"type": "host_event", "name": "AfterTool", "payload": {}}, session="first")
    assert "first" == _speaker(log).conversation_id


@pytest.mark.parametrize(
    "elsewhere", [{"project": "/other"}, {"subagent": "a-1"}, {"agent": "codex"}], ids=lambda fields: next(iter(fields))
)
def test_who_works_elsewhere_does_not_speak(log, elsewhere):
    _tell(log, PROMPTED, **elsewhere)

    assert THE_PERSON.conversation_id == _speaker(log, agent="gemini").conversation_id


def test_who_works_on_another_machine_does_not_speak(log):
    """As its events arrive by sync, or lie in a copy of its store."""
    _tell(log, {"type": "session_start", "replica": "elsewhere-1"}, PROMPTED, ASKED)

    assert THE_PERSON == _speaker(log)


def test_a_turn_nobody_heard_of_for_hours_is_over(log):
    _tell(log, PROMPTED)

    assert THE_PERSON == _speaker(log, now=NOON + 2 * HOUR_NS)


# ------------------------------------------------------------------------------------------------ whose conversation


def test_a_conversation_is_its_hosts(log):
    _tell(log, PROMPTED)

    assert "gemini" == _agent_of(log, "s-1", {})
    assert "codex" == _agent_of(log, "s-2", {"CODEX_SESSION_ID": "s-2"})
    assert not _agent_of(log, "s-2", {})


def test_the_person_has_a_conversation_of_its_own_in_each_store(log):
    Path(log.store.root).mkdir(exist_ok=True)
    Path(log.store.replica).write_text("laptop-0a1b2c\n")

    assert Speaker(persons_conversation("2026-02-20", "laptop-0a1b2c", "/shop"), "human") == _speaker(log)


@pytest.mark.slow
def test_what_the_person_decides_in_two_projects_on_a_day_is_filed_under_each(home, tmp_path):
    store = tmp_path / "store"
    for name in ("shop", "blog"):
        (tmp_path / name).mkdir()
        about = ("--decision", f"For the {name}", "--project", tmp_path / name)
        call("summary", "--topic", "t", "--summary", "s", *about, "--store", store)
    call("replay", "--store", store)

    told = {path.parent.name[:4]: path.read_text() for path in (store / "knowledge").glob("projects/*/MEMORY.md")}
    assert {"shop": (True, False), "blog": (False, True)} == {
        name: ("For the shop" in text, "For the blog" in text) for name, text in told.items()
    }


def test_a_dry_run_names_no_store(tmp_path):
    call("plan", "--path", "user", "--heading", "h", "--content", "c", "--dry-run", "--store", tmp_path / "store")

    assert not (tmp_path / "store").exists()


# ------------------------------------------------------------------------------------------------ the verbs


@pytest.mark.parametrize(
    "words",
    [("fact", "Prices are in cents"), ("summary", "--topic", "Cart", "--summary", "Done."),
     ("plan", "--path", "user", "--heading", "Cart", "--content", "x"), ("append", "fact", "content=Prices are in cents")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_what_is_said_without_a_session_is_stored_in_the_one_at_work(home, tmp_path, words):
    log = EventLog(tmp_path / "store", clock=Clock())
    ran = call(*words, "--store", tmp_path / "store")
    (mine,) = log.read()
    live = EventLog(tmp_path / "store")
    _tell(live, PROMPTED, project=str(tmp_path / "project"))
    call(*words, "--store", tmp_path / "store")
    *_, theirs = live.read()

    assert "ok" == json.loads(ran.out)["status"]
    persons = persons_conversation(mine.ts, replica_of(log.store), mine.project)
    assert (persons, "human") == (mine.conversation_id, mine.agent)
    assert ("s-1", "gemini") == (theirs.conversation_id, theirs.agent)
    assert str(tmp_path / "project") == theirs.project


@pytest.mark.parametrize("named", ['{"content": "x", "conversation_id": "s-9"}', '{"content": "x"}'])
def test_an_event_that_names_its_conversation_or_project_itself_keeps_it(home, tmp_path, named):
    _tell(EventLog(tmp_path / "store"), PROMPTED, project=str(tmp_path / "project"))
    call("append", "fact", "--json", named, "project=/elsewhere", "--store", tmp_path / "store")
    *_, stored = EventLog(tmp_path / "store").read()

    assert "/elsewhere" == stored.project
    assert stored.conversation_id == "s-9" or stored.conversation_id.startswith("human-")


def test_a_conversation_named_speaks_as_its_host(tmp_path):
    _tell(EventLog(tmp_path / "store"), PROMPTED)
    call("fact", "x", "--session", "s-1", "--store", tmp_path / "store")
    call("fact", "x", "--session", "s-2", "--store", tmp_path / "store")

    assert ["gemini", "cli"] == [event.agent for event in EventLog(tmp_path / "store").read() if event.type == "fact"]


@pytest.mark.parametrize(("above", "said"), [("bash", ("human", None)), ("claude", ("gemini", "guessed"))])
def test_on_a_terminal_the_person_speaks_unless_the_terminal_is_an_agents(home, tmp_path, monkeypatch, above, said):
    for name in (mark for host in profiles().values() for mark in host.marks):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(profile, "_above", lambda: iter([above]))
    _tell(EventLog(tmp_path / "store"), PROMPTED, project=str(tmp_path / "project"))
    told("fact", "typed in another terminal", "--store", tmp_path / "store")
    *_, fact = EventLog(tmp_path / "store").read()

    assert said == (fact.agent, fact.speaker)


def test_a_guess_is_told_as_one(home, tmp_path):
    _tell(EventLog(tmp_path / "store"), PROMPTED, project=str(tmp_path / "project"))
    call("fact", "piped", "--store", tmp_path / "store")

    assert "gemini (guessed)" in told("why", "--not", "piped", "--store", tmp_path / "store")
    assert (
        '"speaker":"guessed"' in call("query", "--type", "fact", "--format", "jsonl", "--store", tmp_path / "store").out
    )


def test_what_a_person_says_and_decides_is_under_one_name(home, tmp_path):
    call("fact", "Deploys on Fridays", "--store", tmp_path / "store")
    call("forget", "Deploys on Fridays", "--yes", "--store", tmp_path / "store")
    headings = [line for line in told("query", "--all", "--store", tmp_path / "store").splitlines() if "human" in line]

    assert headings
    assert not [line for line in headings if "human-" in line]
