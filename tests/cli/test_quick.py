"""What is answered without click is what the verb answers, and imports next to nothing."""

import subprocess
import sys

import pytest

from eventlog.cli import quick
from tests.support.builders import fact, lines, write
from tests.support.command_line import call, surroundings

LOADED = "import sys; from eventlog.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"


@pytest.fixture
def store(tmp_path):
    write(tmp_path / "log", lines(0, 1))
    return tmp_path


ASKED = [
    ("--version",),
    ("query", "--session", "c", "--format", "jsonl"),
    ("query", "--format", "jsonl", "--id", fact(1)["id"]),
    ("query", "--session", "nobody", "--format", "jsonl"),
]


@pytest.mark.parametrize("asked", ASKED)
def test_the_answer_is_the_verbs(store, asked, monkeypatch):
    args = asked if asked == ("--version",) else (*asked, "--store", store)
    quickly = call(*args)
    monkeypatch.setattr(quick, "answer", lambda argv: False)

    assert call(*args) == quickly


@pytest.mark.parametrize("asked", ASKED[1:3])
def test_the_store_may_stand_before_the_verb(store, asked, capfdbinary):
    assert quick.answer([*asked, "--store", str(store)])
    behind = capfdbinary.readouterr().out
    assert quick.answer(["--store", str(store), *asked])
    assert behind == capfdbinary.readouterr().out


@pytest.mark.parametrize(("full", "anew"), [((), False), (("--full",), True)])
def test_a_plain_replay_is_understood_wherever_the_store_stands(store, full, anew):
    named = ["--store", str(store)]

    for argv in (["replay", *full, *named], [*named, "replay", *full]):
        there = quick.replay(argv)
        assert there
        assert (named[1], anew) == (there[0].root, there[1])


def test_what_a_replay_tells_arrives_though_the_process_leaves_at_once(store):
    command = [sys.executable, "-m", "eventlog", "replay", "--store", store]
    ended = subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True)

    assert "wrote      MEMORY.md" in ended.stdout
    assert ended.stdout.endswith(" 0 unchanged in {}\n".format(store / "knowledge"))


def test_who_waits_for_the_end_of_the_process_is_waited_for(store):
    waits = "import atexit, os\nfrom eventlog.cli.main import main\natexit.register(print, 'the end')\nmain(os._exit)"
    command = [sys.executable, "-c", waits, "replay", "--store", store]

    assert "the end\n" in subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True).stdout


@pytest.mark.parametrize("more", [["--check"], ["--store", "elsewhere"]])
def test_another_replay_is_left_to_the_verb(store, more):
    assert quick.replay(["--store", str(store), "replay", *more]) is None


def loaded_for(*args):
    """What a process has imported that answered."""
    command = [sys.executable, "-c", LOADED, *args]
    ended = subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True)
    loaded = set(ended.stderr.split())

    assert ended.stdout
    assert "eventlog.cli.quick" in loaded
    return loaded


def test_a_replay_loads_nothing_that_only_plans_edits_and_options_need(store):
    loaded = loaded_for("replay", "--store", store)
    rooms = (
        "eventlog.projections.bases.",
        "eventlog.projections.edits.",
        "click",
        "threading",
    )

    assert "eventlog.projections.engine.replay" in loaded
    assert [] == [name for name in loaded if name.startswith(rooms)]


@pytest.mark.parametrize("asked", ASKED[:3])
def test_no_library_is_imported_for_it(store, asked):
    loaded = loaded_for(*(asked if asked == ("--version",) else (*asked, "--store", store)))

    assert set() == loaded & {"click", "msgspec", "orjson", "rich", "yaml", "json", "importlib.metadata"}


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--help"],
        ["--version", "query"],
        ["query", "--session", "c"],
        ["query", "--session", "c", "--format", "json"],
        ["query", "--session", "c", "--format", "jsonl", "--reverse"],
        ["query", "--session", "c", "--id", "x", "--format", "jsonl"],
        ["query", "--session", "c", "--session", "d", "--format", "jsonl"],
        ["query", "--session", "c", "--format", "jsonl", "--limit", "1"],
        ["stats", "--session", "c", "--format", "jsonl"],
    ],
)
def test_whatever_else_is_asked_is_left_to_the_verb(argv):
    assert not quick.answer(argv)


@pytest.mark.parametrize("verb", ["replay", "settle"])
def test_a_verb_that_wrote_the_cache_leaves_at_once(store, verb):
    """Nothing of ours waits for the end of the process: to put Python away takes a third of the time of a verb."""
    left = "import os; from eventlog.cli.main import main; main(lambda code: os._exit(7 + code))"
    command = [sys.executable, "-c", left, verb, "--store", store]
    for _ in range(2):  # without the cache, and with it
        ended = subprocess.run(command, capture_output=True, env=surroundings(), check=False)

        assert (7, b"") == (ended.returncode, ended.stderr)
