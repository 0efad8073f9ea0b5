"""Agents by either of their names, types by theirs; several with commas; what nobody knows is an error."""

import json

import click
import pytest

from eventlog.cli.group import VerbGroup
from eventlog.hosts import agent_name
from eventlog.log.event_log import EventLog
from tests.support import builders
from tests.support.command_line import call, run
from tests.support.effort import FUZZ


@pytest.fixture
def store(tmp_path):
    agents = ("claude-code", "cursor", "my-agent")
    lines = [
        builders.line(n, agent=agent, type=type_name)
        for n, (agent, type_name) in enumerate(zip(agents, ("fact", "fact", "weather"), strict=True))
    ]
    builders.write(tmp_path / "log", b"\n".join(lines) + b"\n")
    return tmp_path


def _agents(store, *args):
    ran = call("query", *args, "--format", "json", "--store", store)
    return [event["agent"] for event in json.loads(ran.out)]


@pytest.mark.parametrize("said", ["claude", "claude-code"])
def test_an_agent_goes_by_either_of_its_names(store, said):
    assert ["claude-code"] == _agents(store, "--agent", said)


def test_agents_and_types_may_be_several_with_commas(store):
    assert ["claude-code", "my-agent"] == _agents(store, "--agent", "claude, my-agent")
    assert ["claude-code", "cursor", "my-agent"] == _agents(store, "--type", "fact,weather")


@pytest.mark.parametrize(
    ("args", "said", "near"),
    [
        (("--agent", "cursr"), "no agent 'cursr'", "did you mean cursor?"),
        (("--agent", "my_agent"), "no agent 'my_agent'", "did you mean my-agent?"),
        (("--type", "fcat"), "no event type 'fcat'", "did you mean fact?"),
        (("--type", "fact,wether"), "no event type 'wether'", "did you mean weather?"),
    ],
)
def test_an_unknown_agent_or_type_is_an_error_that_names_the_nearest(store, args, said, near):
    ran = call("query", *args, "--store", store)

    assert (2, "") == (ran.code, ran.out)
    assert said in ran.err
    assert near in ran.err


def test_an_agent_of_the_hosts_needs_no_event_to_be_known(store):
    assert [] == _agents(store, "--agent", "gemini")


def test_a_fact_by_an_agents_short_name_bears_the_name_of_the_log(store):
    call("fact", "x", "--session", "s", "--agent", "claude", "--store", store)

    assert ["claude-code"] == _agents(store, "--session", "s")


# ------------------------------------------------------------------------------------------------ every verb


NAMES = dict.fromkeys(("claude", "claude-code"), "claude") | {
    name: name.removesuffix("-cli") for name in ("codex", "codex-cli", "gemini", "gemini-cli", "copilot", "copilot-cli")
}
TAKES_AGENTS = {
    "append": ("append", "fact", "content=x", "--agent"),
    "context": ("context", "--session", "s", "--agent"),
    "fact": ("fact", "x", "--agent"),
    "hook": ("hook", "--agent"),
    "import": ("import",),
    "install": ("install",),
    "lifecycle run": ("lifecycle", "run", "start", "--session", "s", "--agent"),
    "mcp": ("mcp", "--agent"),
    "plan": ("plan", "--path", "user", "--heading", "H", "--content", "x", "--agent"),
    "query": ("query", "--agent"),
    "sessions": ("sessions", "--agent"),
    "summary": ("summary", "--topic", "t", "--summary", "x", "--agent"),
    "uninstall": ("uninstall",),
}
_SAY_AGENTS = {"agent", "agents", "names", "source"}


def _leaves(command, path=()):
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from _leaves(command.get_command(click.Context(command), name), (*path, name))
    else:
        yield " ".join(path), command


def test_no_verb_that_takes_an_agent_is_left_out_here():
    takes = {path for path, leaf in _leaves(VerbGroup()) if _SAY_AGENTS & {one.name for one in leaf.params}}

    assert TAKES_AGENTS.keys() == takes - {"replay"}  # whose names are those of projections


OWN_THEIR_PROCESS = ("hook", "mcp")
ASKED = {
    f"{name}-{verb}": (words, name, room)
    for name, room in NAMES.items()
    for verb, words in TAKES_AGENTS.items()
    if FUZZ or verb not in OWN_THEIR_PROCESS or room == "codex"  # a process each: one agent by both of its names
}


@pytest.mark.slow
@pytest.mark.parametrize(("words", "name", "room"), ASKED.values(), ids=ASKED)
def test_every_verb_takes_an_agent_by_any_of_its_names(home, tmp_path, words, name, room):
    payload = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(tmp_path)}
    sent = json.dumps(payload).encode() if words[0] == "hook" else b""
    ask = run if words[0] in OWN_THEIR_PROCESS else call
    ran = ask(*words, name, "--store", tmp_path, stdin=sent)
    said = [event.agent for event in EventLog(tmp_path).read()]

    assert 0 == ran.code or words[0] == "import", ran.err
    assert "did you mean" not in ran.err
    assert {agent_name(room)} >= set(said)
    assert said or words[0] in ("import", "install", "mcp", "query", "sessions", "uninstall")
