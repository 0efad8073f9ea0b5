"""Requests to save obey the settings, speak the language chosen, and work when they are typed in as they stand."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import call
from tests.support.host_calls import Session, events, request, tell
from tests.support.payloads import codex, cursor


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

    assert [False] * 4 + [True] == [bool(request(answer)) for answer in session.turns(5)]


def test_requests_are_in_the_language_chosen(store):
    _configure(store, "locale: zh\n")
    session = Session(store)
    start = session.hook("SessionStart", source="startup")["hookSpecificOutput"]["additionalContext"]
    asked = request(session.turns(3)[-1])

    assert "记忆" in start
    assert "本会话尚未保存" in asked


# ------------------------------------------------------------------------------------------------ what is asked works


def _commands(text):
    """Those in the text, by the words they end with; a conversation's id may hold anything else."""
    return re.findall(r"(?:^    |`)(/\S+ (?:summary|fact) .+?(?:--summary|--entity) '.+?')", text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_the_commands_of_every_text_are_absolute_and_nothing_in_them_is_escaped(store, tmp_path, locale):
    _configure(store, f"locale: {locale}\n")
    session = Session(store)
    started = session.hook("SessionStart", source="compact")["hookSpecificOutput"]["additionalContext"]
    asked = request(session.turns(3)[-1])
    commands = [*_commands(started), *_commands(asked)]

    assert 6 == len(commands)
    assert not {"<", ">", "&"} & {*asked, *started}
    assert {str(Path(os.path.normpath(sys.executable)).parent / "eventlog")} == {
        command.split()[0] for command in commands
    }
    for command in commands[:: len(commands) - 1]:
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, cwd=tmp_path, env={})
    for command in commands:
        assert call(*shlex.split(command)[1:]).code == 0


def test_a_request_is_one_line(store):
    session = Session(store)
    flush = tell(store, cursor("preCompact"), "--agent", "cursor")["user_message"]

    assert [1, 1] == [len(text.splitlines()) for text in (request(session.turns(3)[-1]), flush)]


@pytest.mark.parametrize(
    ("locale", "said"), [("en", " (82.5% full, 148 messages)."), ("zh", "（已用 82.5%，148 条消息）。")]
)
def test_the_request_before_a_compaction_says_how_full_the_context_is(store, locale, said):
    _configure(store, f"locale: {locale}\n")
    full = cursor("preCompact", trigger="auto", context_usage_percent=82.5, message_count=148)
    asked = tell(store, full, "--agent", "cursor")["user_message"]
    (event,) = events(store, "save_requested")

    assert said in asked
    assert "。 " not in asked
    assert (82.5, 148) == (event.context_usage_percent, event.message_count)


@pytest.mark.parametrize("count", [148.5, 1e300, 2**64, True, "148"])
def test_a_compaction_with_a_count_that_is_none_is_still_an_event_every_reader_takes(store, count):
    odd = cursor("preCompact", trigger="auto", context_usage_percent=82.5, message_count=count)
    tell(store, odd, "--agent", "cursor")
    (event,) = events(store, "save_requested")

    assert (82.5, None) == (event.context_usage_percent, event.message_count)


def test_a_conversation_the_host_tells_its_commands_is_not_told_again(store, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    told, other = (Session(store, session).hook("SessionStart", source="startup") for session in ("s-1", "s-2"))

    assert "--session" not in told["hookSpecificOutput"]["additionalContext"]
    assert " fact --session s-2 " in other["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_the_commands_an_agent_is_given_save_under_its_session(store, tmp_path):
    session = Session(store, "it's $HOME; `id`")
    asked = request(session.turns(3)[-1])
    for command in _commands(asked):
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, cwd=tmp_path)
    saved = events(store, "fact", "stage_summary")

    assert [("it's $HOME; `id`", "claude-code", 4)] * 2 == [
        (one.conversation_id, one.agent, one.layer) for one in saved
    ]


def test_codex_is_asked_with_keys_it_knows_and_no_others(store):
    for turn in range(3):
        tell(store, codex("Stop", turn_id=f"t{turn}"))
    asked = tell(store, codex("UserPromptSubmit", turn_id="t3", prompt="Go on."))

    assert {"hookSpecificOutput"} == set(asked)
    assert {"hookEventName", "additionalContext"} == set(asked["hookSpecificOutput"])
