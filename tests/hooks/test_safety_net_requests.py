"""Requests to save obey the settings, speak the language chosen, and work when they are typed in as they stand."""

import subprocess
from pathlib import Path

import pytest

from tests.support import host_calls
from tests.support.host_calls import Session, events
from tests.support.payloads import codex


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def _configure(store, text):
    Path(store).mkdir(exist_ok=True)
    (Path(store) / "config.yaml").write_text(text)


def test_the_fallback_can_be_switched_off(store):
    _configure(store, "save: {stop_fallback: never}\n")
    session = Session(store)
    session.turns(4)

    assert 0 == session.requests


def test_the_number_of_turns_is_obeyed(store):
    _configure(store, "save: {min_turns: 5}\n")
    session = Session(store)

    assert [False] * 4 + [True] == ["decision" in answer for answer in session.turns(5)]


def test_requests_are_in_the_language_chosen(store):
    _configure(store, "locale: zh\n")
    session = Session(store)
    start = session.hook("SessionStart", source="startup")["hookSpecificOutput"]["additionalContext"]
    asked = session.turns(3)[-1]["reason"]

    assert "记忆" in start
    assert "本会话尚未保存" in asked


# ------------------------------------------------------------------------------------------------ what is asked works


def test_the_commands_an_agent_is_given_save_under_its_session(store, tmp_path):
    session = Session(store, "it's $HOME; `id`")
    asked = session.turns(3)[-1]["reason"]
    commands = [line.strip().split(" [--")[0] for line in asked.splitlines() if line.startswith("    ")]
    for command in commands:
        text = command.replace("<", "").replace(">", "")
        subprocess.run(["sh", "-c", text], check=True, capture_output=True, cwd=tmp_path)
    saved = events(store, "fact", "stage_summary")

    assert [("it's $HOME; `id`", "claude-code", 4)] * 2 == [
        (one.conversation_id, one.agent, one.layer) for one in saved
    ]


def test_codex_is_asked_with_keys_it_knows_and_no_others(store):
    answers = [host_calls.tell(store, codex("Stop", turn_id=f"t{turn}")) for turn in range(3)]

    assert {"decision", "reason"} == set(answers[-1])
