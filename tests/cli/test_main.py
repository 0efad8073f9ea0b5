"""What holds for every verb: help, exit codes, interruption, and that only what is called is loaded."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from eventlog.cli import options, verbs
from eventlog.cli.group import VerbGroup
from eventlog.cli.verbs import VERBS, load
from eventlog.store import Store
from tests.support import builders
from tests.support.command_line import call, command, on_a_terminal, run, surroundings

pytestmark = pytest.mark.slow


def test_help_from_another_directory_lists_every_verb_under_its_topic(tmp_path):
    ran = run("--help", cwd=tmp_path)

    assert (0, "") == (ran.code, ran.err)
    assert all(re.search(rf"^  {verb} ", ran.out, re.MULTILINE) for verb in VERBS)
    assert all(f"\n{verb.topic}:\n" in ran.out for verb in VERBS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb):
    ran = call(verb, "--help")

    assert (0, "") == (ran.code, ran.err)
    assert "Example" in ran.out
    assert f"  eventlog {verb}" in ran.out


def _leaves(command_of_verb):
    """The commands a verb consists of, itself where it has no others below it."""
    if isinstance(command_of_verb, click.Group):
        return [leaf for one in command_of_verb.commands.values() for leaf in _leaves(one)]
    return [command_of_verb]


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_every_verb_says_what_it_does(verb):
    options = [one for leaf in _leaves(load(verb)) for one in leaf.params if isinstance(one, click.Option)]

    assert [] == [one.name for one in options if not one.help]


def test_every_command_of_every_module_stands_in_the_table():
    folder = Path(verbs.__path__[0])
    made = {
        (name, ".".join(file.relative_to(folder).with_suffix("").parts))
        for file in folder.rglob("*.py")
        for name in re.findall(r"^def _(\w+)_command\(", file.read_text(), re.MULTILINE)
    }

    assert made == {(name, verb.module) for name, verb in VERBS.items()}


# ------------------------------------------------------------------------------------------------ exit codes


@pytest.mark.parametrize("args", [("frobnicate",), ("query", "--frobnicate"), ("query", "stray"), ("fact",)])
def test_a_command_line_that_makes_no_sense_exits_with_2_and_says_why(args):
    ran = call(*args)

    assert (2, "") == (ran.code, ran.out)
    assert ran.err.startswith("eventlog: ")


def test_a_hook_obeys_a_store_named_before_it(tmp_path):
    payload = b'{"session_id": "s", "hook_event_name": "SessionEnd", "cwd": "/tmp"}'
    ran = run("--store", tmp_path / "mine", "hook", "--agent", "claude", stdin=payload, HOME=str(tmp_path / "home"))

    assert (0, "") == (ran.code, ran.err)
    assert (tmp_path / "mine" / "log").is_dir()
    assert not (tmp_path / "home").exists()


def test_what_cannot_be_written_exits_with_3(tmp_path):
    (tmp_path / "log").write_text("in the way")

    assert 3 == run("fact", "x", "--session", "s", "--store", tmp_path).code


def test_a_store_that_is_no_directory_is_an_error_without_a_traceback(tmp_path):
    (tmp_path / "log").write_text("in the way")

    for verb in ("query", "replay", "verify", "sessions"):
        ran = call(verb, "--store", tmp_path)

        assert 3 == ran.code, verb
        assert ran.err.startswith("eventlog: ")


def test_damaged_data_exits_with_4(tmp_path):
    builders.write(tmp_path / "log", b"oops\n")

    assert 4 == run("verify", "--store", tmp_path).code


def test_the_version_is_told():
    ran = call("--version")

    assert 0 == ran.code
    assert re.fullmatch(r"eventlog, version \S+\n", ran.out)


def test_the_store_may_be_named_before_or_after_the_verb(tmp_path):
    call("--store", tmp_path / "a", "fact", "x", "--session", "s")
    call("fact", "x", "--session", "s", "--store", tmp_path / "b")

    assert (tmp_path / "a" / "log").is_dir()
    assert (tmp_path / "b" / "log").is_dir()


def _paths(command_of_verb, *words):
    """The words that lead to each command of a verb, and the command."""
    if isinstance(command_of_verb, click.Group):
        below = command_of_verb.commands.items()
        itself = [(words, command_of_verb)] if command_of_verb.invoke_without_command else []
        return [*itself, *(path for name, one in below for path in _paths(one, *words, name))]
    return [(words, command_of_verb)]


LEAVES = {" ".join(words): leaf for verb in VERBS for words, leaf in _paths(load(verb), verb)}
STORELESS = {"completion", "help", "plugin build"}


def test_every_command_but_these_takes_a_store():
    assert STORELESS == {name for name, leaf in LEAVES.items() if "store" not in {one.name for one in leaf.params}}


@pytest.mark.parametrize("words", [name.split() for name in sorted(LEAVES.keys() - STORELESS)], ids=" ".join)
def test_the_store_may_be_named_before_between_and_after_the_words_of_every_command(tmp_path, monkeypatch, words):
    class Located(Exception):
        """A store is looked for."""

    def locate(explicit, *_):
        raise Located(explicit)

    monkeypatch.setattr(options, "located", locate)
    monkeypatch.setattr(Store, "locate", locate)
    for place in range(len(words) + 1):
        for named in (["--store", str(tmp_path)], [f"--store={tmp_path}"]):
            with pytest.raises(Located, match=re.escape(str(tmp_path))):
                VerbGroup().main([*words[:place], *named, *words[place:]], standalone_mode=False)


def test_a_store_named_nearer_to_the_command_counts(tmp_path):
    stores = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    run_start = "run", "start", "--session", "s"
    call("--store", stores[0], "lifecycle", "--store", stores[1], *run_start, "--store", stores[2])
    call("--store", stores[0], "lifecycle", "--store", stores[1], *run_start)

    assert [False, True, True] == [(store / "log").is_dir() for store in stores]


# ------------------------------------------------------------------------------------------------ interruption


def test_ctrl_c_exits_with_130_without_a_traceback(tmp_path):
    running = subprocess.Popen(
        command("append", "--stdin", "--store", tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=surroundings(PYTHONPROFILEIMPORTTIME="1"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a background job ignores it
    )
    assert running.stderr
    for line in running.stderr:
        if b"eventlog.cli.verbs.write.recording" in line:
            break
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    said = b"".join(line for line in err.splitlines(keepends=True) if not line.startswith(b"import time:"))

    assert (130, b"", b"interrupted: every file is whole; run it again to go on") == (
        running.returncode,
        out,
        said.strip(),
    )


# ------------------------------------------------------------------------------------------------ a terminal


def test_no_escape_of_an_event_reaches_a_terminal(tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202e\x9b5m"
    builders.write(
        tmp_path / "log", builders.line(1, content=hostile, agent=f"a{hostile}", conversation_id=f"c{hostile}") + b"\n"
    )

    for args in (("query",), ("query", "--format", "markdown"), ("sessions",)):
        said = on_a_terminal(*args, "--store", tmp_path)

        assert "red" in said
        assert not {"\x07", "\x9b", "\u202e"} & set(said)
        assert not re.search("\x1b(?!\\[[0-9;]*m)", said)  # rich's own colours, nothing else
        assert "\x1b[31m" not in said


def test_times_are_to_the_minute_and_ids_as_short_as_they_can_be_typed(tmp_path):
    builders.write(tmp_path / "log", builders.line(1) + b"\n")
    [event] = [json.loads(line) for line in call("query", "--store", tmp_path, "--format", "jsonl").out.splitlines()]
    minute = event["ts"][11:16]
    call("replay", "--store", tmp_path)

    assert f" {minute} " in on_a_terminal("query", "--store", tmp_path)
    assert f" {minute} " in on_a_terminal("sessions", "--store", tmp_path)
    for shown in (("why", "sessions.jsonl:1"), ("query",)):
        assert event["id"][-6:] in on_a_terminal(*shown, "--store", tmp_path)
    assert "fact 1" in call("query", "--id", event["id"][-6:], "--store", tmp_path).out


def test_times_on_a_terminal_are_the_users_and_in_a_pipe_those_of_the_log(tmp_path):
    (tmp_path / "config.yaml").write_text("version: 1\ntimezone: Asia/Shanghai\n")
    builders.write(tmp_path / "log", builders.line(1) + b"\n")

    assert " 20:00 " in on_a_terminal("query", "--store", tmp_path)
    assert "2026-02-20 12:00:01.000000Z\t" in call("query", "--store", tmp_path).out


# ------------------------------------------------------------------------------------------------ laziness


def _loaded(*args):
    program = "import sys; from eventlog.cli.main import main; sys.argv[1:] = %r\ntry: main()\nfinally: print(*sys.modules, sep='\\n', file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", program % (list(args),)], capture_output=True, env=surroundings(), check=False
    )
    return set(ended.stderr.decode().split())


def test_help_loads_no_verb_and_nothing_of_the_log():
    loaded = _loaded("--help")

    assert "eventlog.cli.group" in loaded
    assert {"eventlog.cli.verbs"} == {name for name in loaded if name.startswith("eventlog.cli.verbs")}
    assert not {"msgspec", "rich", "eventlog.log"} & loaded


def test_a_verb_loads_no_other_verb(tmp_path):
    loaded = _loaded("query", "--store", str(tmp_path))

    assert {"ask.query"} == {verb.module for verb in VERBS.values() if f"eventlog.cli.verbs.{verb.module}" in loaded}
    assert not {"rich", "eventlog.projections"} & loaded


@pytest.mark.parametrize(
    "verb",
    [("search", "x"), ("recall", "--explain", "x"), ("redact", "hunter2", "--yes"), ("verify", "--repair"), ("today",), ("sessions",), ("review",)],
    ids=" ".join,
)  # fmt: skip
def test_a_question_begins_no_store(home, verb):
    call(*verb)

    assert not (home / ".eventlog").exists()
