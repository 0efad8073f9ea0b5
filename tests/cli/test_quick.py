"""What is answered without click is what the verb answers, and imports next to nothing."""

import json
import subprocess
import sys

import pytest

from eventlog import EventLog
from eventlog.cli import quick
from eventlog.format import codec
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


@pytest.mark.parametrize("verb", [["replay"], ["replay", "--full"], ["sync"], ["sync", "--compact"]])
def test_a_plain_rebuild_is_understood_wherever_the_store_stands(store, verb):
    named = ["--store", str(store)]

    for argv in ([*verb, *named], [*named, *verb]):
        found = quick._rebuild(argv)
        assert found
        assert (verb[0], named[1], len(verb) > 1) == (found[0], found[1].root, found[2])


@pytest.mark.slow
def test_what_a_replay_tells_arrives_though_the_process_leaves_at_once(store):
    command = [sys.executable, "-m", "eventlog", "replay", "--store", store]
    ended = subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True)

    assert "wrote      MEMORY.md" in ended.stdout
    assert ended.stdout.endswith(" 0 unchanged in {}\n".format(store / "knowledge"))


@pytest.mark.slow
def test_who_waits_for_the_end_of_the_process_is_waited_for(store):
    waits = "import atexit, os\nfrom eventlog.cli.main import main\natexit.register(print, 'the end')\nmain(os._exit)"
    command = [sys.executable, "-c", waits, "replay", "--store", store]

    assert "the end\n" in subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True).stdout


@pytest.mark.parametrize("more", [["--check"], ["--dry-run"], ["status"], ["--store", "elsewhere"]])
@pytest.mark.parametrize("verb", ["replay", "sync"])
def test_another_rebuild_is_left_to_the_verb(store, verb, more):
    assert quick._rebuild(["--store", str(store), verb, *more]) is None


def loaded_for(*args):
    """What a process has imported that answered."""
    command = [sys.executable, "-c", LOADED, *args]
    ended = subprocess.run(command, capture_output=True, check=True, env=surroundings(), text=True)
    loaded = set(ended.stderr.split())

    assert ended.stdout
    assert "eventlog.cli.quick" in loaded
    return loaded


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["replay", "settle"])
def test_a_verb_that_wrote_the_cache_leaves_at_once(store, verb):
    """Nothing of ours waits for the end of the process: to put Python away takes a third of the time of a verb."""
    left = "import os; from eventlog.cli.main import main; main(lambda code: os._exit(7 + code))"
    command = [sys.executable, "-c", left, verb, "--store", store]
    for _ in range(2):  # without the cache, and with it
        ended = subprocess.run(command, capture_output=True, env=surroundings(), check=False)

        assert (7, b"") == (ended.returncode, ended.stderr)


SAVES = [
    ["fact", "prices are in cents"],
    ["fact", "prices are in cents", "--entity", "cart", "--entity", "shop", "--session", "c", "--key", "unit"],
    ["fact", "prefers pytest", "--type", "O", "--scope", "user", "--category", "preference"],
    ["fact", "the key is sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz", "--session", "c"],
    ["summary", "--topic", "JWT", "--summary", "moved to JWT", "--decision", "RS256", "--todo", "a", "--done", "b"],
    ["summary", "--stage", "--topic", "JWT", "--summary", "compared", "--session", "c"],
]


@pytest.mark.parametrize("asked", SAVES, ids=lambda asked: " ".join(asked[:2]))
def test_what_is_saved_without_click_is_what_the_verb_saves(store, asked, monkeypatch, tmp_path_factory):
    assert quick._save([*asked, "--store", str(store)])
    quickly = _saved(store, asked)
    other = tmp_path_factory.mktemp("other")
    write(other / "log", lines(0, 1))
    monkeypatch.setattr(quick, "_save", lambda argv: None)

    assert _saved(other, asked) == quickly


def _saved(store, asked):
    """What a call printed and logged, without what differs from one store and moment to the next."""
    ran = call(*asked, "--store", store)
    again = call(*asked, "--store", store)
    (event,) = [event for event in EventLog(store).read() if event.id in ran.out]
    day = {"id": "", "ts": "", "replica": "", "conversation_id": ""}
    made = {**codec.to_fields(event), **day, "named": event.conversation_id == "c"}
    return made, [json.loads(one.out).keys() for one in (ran, again)], ran.code, ran.err


@pytest.mark.parametrize(
    "asked",
    [
        ["fact"],
        ["fact", "-"],
        ["fact", "one", "two"],
        ["fact", "x", "--key", "a", "--key", "b"],
        ["fact", "x", "--type", "S"],
        ["fact", "x", "--confidence", "0.5"],
        ["fact", "x", "--entity"],
        ["fact", "x", "--session", "--key"],
        ["fact", "--help"],
        ["fact", "x", "--project", "shop"],
        ["summary", "--topic", "x"],
        ["summary", "x", "--topic", "x", "--summary", "y"],
        ["plan", "x"],
        [],
    ],
    ids=" ".join,
)
def test_any_other_save_is_left_to_its_verb(store, asked):
    assert quick._save([*asked, "--store", str(store)] if asked else asked) is None


def test_a_save_into_a_store_that_is_none_yet_is_left_to_its_verb(tmp_path):
    assert quick._save(["fact", "x", "--store", str(tmp_path / "none")]) is None


@pytest.mark.slow
def test_a_save_loads_neither_click_nor_yaml(store):
    assert loaded_for("fact", "x", "--session", "c", "--store", store).isdisjoint({"click", "yaml", "rich"})
