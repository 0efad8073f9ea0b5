"""Agents by either of their names, types by theirs; several with commas; what nobody knows is an error."""

import json

import pytest

from tests.support import builders
from tests.support.command_line import call


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
