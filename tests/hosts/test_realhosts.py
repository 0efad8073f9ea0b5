"""The suite of real hosts, as far as it needs none: its model and its list of known failures."""

import asyncio
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.realhosts import __main__ as suite
from tests.realhosts import matrix, page, places, runner
from tests.realhosts.expected import Expected
from tests.realhosts.hosts import HOSTS
from tests.realhosts.model.script import Refuse, Run, Save
from tests.realhosts.model.server import Model
from tests.realhosts.outcome import Fails, Outcome, Skipped
from tests.realhosts.scenarios import HEADLESS, TIMED, speed
from tests.realhosts.terminal import TERMINAL
from tests.support.command_line import call

SHELL = {"name": "Bash"}
USER = {"role": "user", "content": "Please fix it."}
FUNCTION = {"type": "function", "function": {"name": "bash"}}
PART = {"role": "user", "parts": [{"text": "Please fix it."}]}
DIALECTS: dict[str, dict[str, Any]] = {
    "/v1/messages": {"messages": [USER], "tools": [SHELL]},
    "/v1/responses": {"input": [USER], "tools": [{"type": "function", "name": "exec_command"}]},
    "/v1/chat/completions": {"messages": [USER], "tools": [FUNCTION]},
    "/v1beta/models/m:generateContent": {
        "contents": [PART],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
    },
}


@pytest.fixture
def model():
    with Model() as running:
        yield running


def ask(model, path, body: dict[str, Any]):
    request = Request(model.address + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=120) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("path", DIALECTS)
def test_a_dialect_calls_the_shell_tool_of_its_host(model, path):
    model.script.when("fix it", Run("make fixed"))

    assert "make fixed" in ask(model, path, DIALECTS[path])
    assert ["Please fix it."] == [turn.talk.prompt for turn in model.main]


@pytest.mark.parametrize("path", [path for path in DIALECTS if "generate" not in path])
def test_a_stream_says_the_same(model, path):
    model.script.when("fix it", Run("make fixed"))

    assert "data: " in (stream := ask(model, path, {**DIALECTS[path], "stream": True}))
    assert "make fixed" in stream


@pytest.mark.parametrize("locale", ["en", "zh"])
def test_the_commands_of_a_context_are_found_and_filled_in(model, tmp_path, locale):
    (tmp_path / "config.yaml").write_text(f"version: 1\nlocale: {locale}\n")
    context = call("context", "--session", "s1", "--project", tmp_path, "--store", tmp_path).out
    model.script.when("save it", Save())
    told = {"role": "system", "content": context}
    body = {"messages": [told, {"role": "user", "content": "Now save it."}], "tools": [FUNCTION]}

    answer = ask(model, "/v1/chat/completions", body)

    assert "summary --topic 'The cart'" in answer
    assert "fact 'Round half even" in answer
    assert 2 == answer.count("--session s1")


def test_known_failures_name_scenarios_and_hosts_that_are_there():
    known = json.loads(Expected.FILE.read_text(encoding="utf-8"))

    assert set(known) <= {*HEADLESS, *TERMINAL}
    assert {host for reasons in known.values() for host in reasons} <= set(HOSTS)


def test_only_an_unknown_failure_is_a_regression():
    expected = Expected({"told-once": {"claude": "it is told twice"}})

    assert expected.is_regression(Outcome("claude", "start", "fails", ""))
    assert not expected.is_regression(Outcome("claude", "start", "skipped", ""))
    assert not expected.is_regression(Outcome("claude", "told-once", "fails", ""))
    assert expected.is_mended(Outcome("claude", "told-once", "ok", ""))


def test_scenarios_play_side_by_side_but_what_is_timed_alone_at_the_end():
    playing: list[str] = []
    seen: list[set[str]] = []
    both = asyncio.Barrier(2)

    class Stub:
        async def play(self, host: str, scenario: str) -> Outcome:
            playing.append(scenario)
            if scenario not in TIMED:
                await asyncio.wait_for(both.wait(), 60)
            seen.append(set(playing))
            playing.remove(scenario)
            return Outcome(host, scenario, "ok", "")

    stage: Any = Stub()
    options = Namespace(minutes=60, jobs=2, host=["claude"], scenario=["speed", "start", "speed-of-events", "save"])
    played = asyncio.run(suite.play(stage, options, Expected({})))

    assert ["start", "save", "speed", "speed-of-events"] == [outcome.scenario for outcome in played]
    assert [{"start", "save"}, {"speed"}, {"speed-of-events"}] == [seen[0], *seen[2:]]


@pytest.mark.parametrize("path", DIALECTS)
def test_a_model_that_refuses_answers_with_an_error_in_every_dialect(model, path):
    model.script.when("fix it", Refuse("no"))

    with pytest.raises(HTTPError) as refused:
        ask(model, path, DIALECTS[path])

    refused.value.close()
    assert 400 == refused.value.code
    assert 1 == len(model.calls)


def test_what_held_at_the_second_try_only_is_shown_with_what_failed_first():
    tries = iter(
        [Outcome("claude", "start", "fails", "told | twice"), Outcome("claude", "start", "ok", "9 characters")]
    )

    class Stub:
        async def play(self, host: str, scenario: str) -> Outcome:
            return next(tries)

    stage: Any = Stub()
    options = Namespace(minutes=60, jobs=1, host=["claude"], scenario=["start"])
    played = asyncio.run(suite.play(stage, options, Expected({})))
    table = matrix.render(played, {"claude": "Claude Code 9"}, Expected({}))

    assert "| `start` | ok at the second try: 9 characters |" in table
    assert "- `start` claude failed first: told \\| twice" in table


def test_the_time_of_a_turn_may_fail(monkeypatch):
    seconds = iter([1.0, 1.0, *[9.0, 1.0] * 5])
    scene: Any = Namespace(
        host=Namespace(name="claude"),
        install=lambda: None,
        eventlog=lambda *_: None,
        answered=lambda _: Namespace(ended=Namespace(seconds=next(seconds))),
    )
    with pytest.raises(Fails, match=r"9\.00 ×"):
        speed.turn_with_and_without(scene)

    seconds = iter([1.0, 1.0, *[1.5, 1.0] * 5])
    assert "1.50 ×" in speed.turn_with_and_without(scene)


def _git(where: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=where, check=True, capture_output=True
    )


@pytest.mark.slow
def test_the_page_names_a_commit_that_exists_and_no_other_line_of_it_changes(tmp_path):
    _git(tmp_path, "init", "-q")
    (tmp_path / "a").touch()
    _git(tmp_path, "add", "a")
    _git(tmp_path, "commit", "-qm", "Begin")
    at = page.commit(tmp_path)
    before = f"# Hosts\n\n{page.BEGIN}\nold\n{page.END}\n\nMore.\n"
    table = "| behaviour | A 1 |\n| --- | --- |\n| `start` | ok |\n| `save` | fails |\n\n- `save` a fails: why\n"

    once = page.with_table(before, table, at, "2026-11-23")

    assert page.exists(at, tmp_path)
    assert not page.exists("60352d7", tmp_path)
    assert [at, at] == page.COMMIT.findall(once)
    assert once.startswith(f"# Hosts\n\n{page.BEGIN}\nTimes say")
    assert once.endswith(
        f"| fails | run of 2026-11-23 at commit {at} |\n\n- `save` a fails: why\n{page.END}\n\nMore.\n"
    )
    assert once == page.with_table(once, table, at, "2026-11-23")
    again = page.with_table(once, "| behaviour | A 1 |\n| --- | --- |\n| `save` | ok |\n", "abcdef1", "2026-11-24")
    assert [at, "abcdef1"] == page.COMMIT.findall(again)
    assert "why" not in again
    newer = page.with_table(once, "| behaviour | A 2 |\n| --- | --- |\n| `save` | ok |\n", "abcdef1", "2026-11-24")
    assert ["abcdef1"] == page.COMMIT.findall(newer)
    (tmp_path / "a").write_text("changed")
    with pytest.raises(Skipped, match="not committed"):
        page.commit(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not (places.CHECKOUT / ".git").exists(), reason="this is no checkout")
def test_the_page_of_hosts_has_a_place_for_the_table_and_names_no_commit_that_is_gone():
    said = page.PAGE.read_text(encoding="utf-8")

    assert 1 == said.count(page.BEGIN)
    assert page.END in said.partition(page.BEGIN)[2]
    assert [] == [at for at in page.COMMIT.findall(said) if not page.exists(at)]


@pytest.mark.slow
def test_a_scenario_nobody_waits_for_any_more_is_ended(tmp_path):
    os.mkfifo(started := tmp_path / "started")

    async def begin_and_leave() -> int:
        scenario = asyncio.create_task(runner.run(["sh", "-c", f"echo $$ > {started}; exec sleep 600"]))
        pid = await asyncio.to_thread(started.read_text)
        scenario.cancel()
        await asyncio.wait([scenario])
        return int(pid)

    pid = asyncio.run(begin_and_leave())

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


_LEAVES_ONE_BEHIND = """
import subprocess, sys
from tests.realhosts import leftovers
leftovers.adopt()
pid = subprocess.run(["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True).stdout
leftovers.end_all()
sys.stdout.write(pid)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt what others leave")
def test_no_process_outlives_its_scenario():
    ended = subprocess.run(
        [sys.executable, "-c", _LEAVES_ONE_BEHIND], capture_output=True, text=True, check=True, cwd=places.CHECKOUT
    )

    assert not Path(f"/proc/{int(ended.stdout)}").exists()


def test_without_npm_every_host_is_skipped_in_a_line_that_says_why(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["realhosts"])
    code = suite.main()
    said = capsys.readouterr().err

    assert 0 == code
    assert [f"{name:8} skipped: no npm on this machine" for name in HOSTS] == said.splitlines()[1:]
