"""Started without standard streams, the program does its work: it has nothing to read, and speaks to nobody."""

import shlex
import subprocess
from pathlib import Path

import pytest

from eventlog.log.event_log import EventLog
from tests.support.builders import fact
from tests.support.command_line import command, surroundings
from tests.support.hook_calls import HOOK
from tests.support.payloads import claude, data

pytestmark = pytest.mark.slow


@pytest.fixture
def log(tmp_path):
    log = EventLog(tmp_path / "store", fsync=False)
    log.append(fact(0))
    return log


def _run(closed, words, stdin=b"", **environ):
    """What is complained about; `closed` as a shell says it."""
    script = f"{shlex.join(map(str, words))} {closed}"
    ended = subprocess.run(
        ["sh", "-c", script], input=stdin, env=surroundings(**environ), capture_output=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize("verb", ["replay", "sessions", "query", "--version"])
def test_what_is_said_without_a_stdout_is_said_to_nobody(log, verb):
    assert (0, b"") == _run(">&-", command(verb, *([] if verb == "--version" else ["--store", log.store.root])))


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--version"], ["query", "--session", "c", "--format", "jsonl"], ["query"]])
def test_a_full_disk_behind_stdout_is_named(log, words, unbuffered):
    asked = command(*words, *([] if words[0] == "--version" else ["--store", log.store.root]))
    code, said = _run(">/dev/full", asked, PYTHONUNBUFFERED=unbuffered)

    assert (3, True) == (code, b"the disk is full" in said), said
    assert 2 == len(said.splitlines())


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        ["fact", "x", "--session", "c"],
        ["fact", "x", "--importance", "5"],
        ["append", "fact", "content=x"],
        ["forget", "fact 0", "--yes"],
    ],
    ids=" ".join,
)
def test_what_is_written_but_not_told_is_not_to_be_written_again(log, words, unbuffered):
    log.append(fact(0, content="fact 0"))
    before = len(list(log.read()))
    code, said = _run(">/dev/full", command(*words, "--store", log.store.root), PYTHONUNBUFFERED=unbuffered)

    assert (3, b"eventlog: cannot print the answer: the disk is full\n  everything else is done\n") == (code, said)
    assert before + 1 == len(list(log.read()))


def test_a_full_disk_behind_stderr_changes_no_answer(log):
    _, said = _run("2>/dev/full", command("query", "--session", "c", "--limit", "1", "--store", log.store.root))
    code, warned = _run("2>/dev/full", command("query", "--grep", "nowhere", "--store", log.store.root))

    assert said
    assert (0, b"") == (code, warned)


def test_without_a_stdin_nothing_is_read(log):
    assert (0, b"") == _run("<&- >&-", command("append", "--stdin", "--store", log.store.root))
    assert 1 == len(list(log.read()))


def test_a_hook_without_streams_records_nothing_and_one_without_an_answer_records_what_it_is_told(log):
    told = [*HOOK, "--agent", "claude", "--store", log.store.root]
    sent = data(claude("SessionStart", source="startup"))
    ended = [_run(closed, told, sent) for closed in ("<&- >&- 2>&-", ">&- 2>&-")]

    assert [(0, b"")] * 2 == ended
    assert ["fact", "session_start", "context_injected"] == [event.type for event in log.read()]
    assert 3 == sum(len(file.read_bytes().splitlines()) for file in Path(log.store.log).iterdir())
