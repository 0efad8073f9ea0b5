"""One rule of scope: the project you are in, --all-projects for all, --project for another; in every verb that asks."""

import os
import sys
from typing import Any

import pytest

from eventlog.format.events import Fact, ProjectSeen, StageSummary
from eventlog.log.event_log import EventLog
from tests.support.command_line import call

SAID = {"shop": "Carts are blue", "barn": "Doors are red"}
VERBS = (
    ("query",), ("search", "blue", "red"), ("memory",), ("sessions",), ("today",), ("week",), ("on", "today"), ("show", "last"),
    ("query", "--session", "last"), ("query", "--id", "last"), ("stats", "--json"),
)  # fmt: skip


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """A directory with two projects, which no test changes."""
    place = tmp_path_factory.mktemp("projects")
    for name in SAID:
        (place / name / ".git").mkdir(parents=True)
    return place


@pytest.fixture
def said(tmp_path, projects, monkeypatch, made_once):
    """A session and a decision in each of the projects; the store, as an option."""

    def happens(log):
        for name, text in SAID.items():
            monkeypatch.chdir(projects / name)
            saved = ("--session", f"s-{name}", "--agent", "codex", "--store", log.store.root)
            assert call("fact", text, "--category", "decision", *saved).code == 0
            assert call("summary", "--topic", f"Work on {name}: {text}", "--summary", f"{text}, done", *saved).code == 0
        call("replay", "--store", log.store.root)

    return "--store", str(made_once(happens, EventLog(tmp_path / "store")).store.root)


def told(ran):
    """Which projects an answer tells of."""
    assert ran.code == 0, ran
    return {name for name, text in SAID.items() if text in ran.out or f"s-{name}" in ran.out}


def counted(ran):
    return int(ran.out.partition('"sessions":')[2].partition(",")[0])


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("here", ["shop", "barn"])
def test_the_project_you_are_in(said, projects, monkeypatch, verb, here):
    monkeypatch.chdir(projects / here)
    other = "barn" if here == "shop" else "shop"
    last = verb[-1] == "last"
    mine, another, every = (
        call(*verb, *said),
        call(*verb, "--project", other, *said),
        call(*verb, "--all-projects", *said),
    )

    if verb[0] == "stats":
        assert [counted(mine), counted(another), counted(every)] == [1, 1, 2]
        return
    assert told(mine) == {here}
    assert told(every) == ({"barn"} if last else {"shop", "barn"})
    assert told(another) == {other}


@pytest.mark.slow
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb[0] not in ("search", "memory", "stats")], ids=" ".join)
def test_a_directory_of_no_project_shows_all(said, tmp_path, monkeypatch, verb):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert told(call(*verb, *said)) == ({"barn"} if verb[-1] == "last" else {"shop", "barn"})


SAVES = (
    ("fact", "new"), ("fact", "new", "--importance", "5"), ("summary", "--topic", "t", "--summary", "new"), ("append", "fact", "content=new"),
    ("append", "retraction", "conversation=last"), ("context",),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("verb", SAVES, ids=" ".join)
def test_what_is_saved_in_the_last_session_is_saved_in_that_of_its_project(said, projects, monkeypatch, verb):
    monkeypatch.chdir(projects / "shop")
    assert call(*verb, "--session", "last", *said).code == 0

    saved = list(EventLog(said[1]).read())[-1]
    assert saved.conversation_id == "s-shop"
    assert getattr(saved, "conversation", None) in (None, "s-shop")


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*SAVES, ("show", "last"), ("query",)], ids=" ".join)
def test_a_repository_in_which_nothing_was_said_has_no_last_session(said, tmp_path, monkeypatch, verb):
    (tmp_path / "new" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "new")
    refused = call(*verb, *([] if "last" in verb else ["--session", "last"]), *said)

    assert (2, "") == (refused.code, refused.out)
    assert "this project has no session yet" in refused.err


@pytest.mark.slow
def test_what_if_the_last_session_had_not_been_is_asked_of_that_of_the_project(said, projects, monkeypatch):
    monkeypatch.chdir(projects / "shop")

    shown = call("replay", "--without", "session=last", *said).out.splitlines()
    gone = [line for line in shown if line.startswith("-")]

    assert [True, False] == [any(SAID[name] in line for line in gone) for name in ("shop", "barn")]


def test_what_is_named_is_found_in_any_project(said, projects, monkeypatch):
    monkeypatch.chdir(projects / "shop")

    assert told(call("query", "--session", "s-barn", *said)) == {"barn"}
    assert told(call("show", "s-barn", *said)) == {"barn"}


def test_both_scopes_at_once_are_refused(said):
    assert call("query", "--project", "shop", "--all-projects", *said).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb[-1] not in ("last", "today")], ids=" ".join)
def test_since_is_a_time_in_every_verb(said, verb):
    assert call(*verb, "--since", "yesterday", *said).code == 0
    assert "no time" in call(*verb, "--since", "yesterdy", *said).err


def test_an_empty_answer_names_the_other_projects(said, projects, monkeypatch):
    monkeypatch.chdir(projects / "shop")

    assert "--all-projects" in call("query", "--grep", "doors", *said).err


def test_a_comparison_leaves_out_indexes_unless_one_is_named(said):
    assert "INDEX.md" not in call("diff", "--since", "yesterday", *said).out
    assert "INDEX.md" in call("diff", "INDEX.md", "--since", "yesterday", *said).out


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("why", "MEMORY.md:5"), ("show", "MEMORY.md"), ("diff", "MEMORY.md")], ids=" ".join)
@pytest.mark.parametrize("here", ["shop", "barn"])
def test_a_file_of_a_project_needs_no_directory_in_the_project(said, projects, monkeypatch, verb, here):
    monkeypatch.chdir(projects / here)

    answer = told(call(*verb, *said))
    monkeypatch.chdir(projects)

    assert {here} == answer
    assert call(*verb, *said).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("why", "MEMORY.md:5"), ("show", "MEMORY.md"), ("diff", "MEMORY.md")], ids=" ".join)
def test_a_file_of_a_project_is_meant_before_that_of_the_user(said, projects, monkeypatch, verb):
    monkeypatch.chdir(projects / "shop")
    assert call("fact", "Tea is liked", "--type", "O", "--session", "s-shop", *said).code == 0
    assert call("replay", *said).code == 0
    of_user = [word.replace("MEMORY", "user/MEMORY") for word in verb]

    assert {"shop"} == told(call(*verb, *said))
    assert "Tea is liked" in call(*of_user, *said).out
    if "--project" in call(verb[0], "--help").out:
        assert {"barn"} == told(call(*verb, "--project", "barn", *said))


@pytest.mark.slow
def test_a_file_of_a_project_that_is_misspelt_is_not_that_of_the_user(said, projects, monkeypatch):
    monkeypatch.chdir(projects / "shop")
    assert call("fact", "Tea is liked", "--type", "O", "--session", "s-shop", *said).code == 0
    assert call("replay", *said).code == 0

    assert call("show", "bran/MEMORY.md", *said).code == 2
    assert call("restore", "bran/MEMORY.md", "--as-of", "yesterday", "--yes", *said).code == 2


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A checkout of a repository in which another machine worked, this one never; the store, as an option."""
    laptop: dict[str, Any] = {
        "replica": "laptop", "conversation_id": "s-shop", "agent": "codex", "project": "/home/ada/shop",
    }  # fmt: skip
    log = EventLog(tmp_path / "store")
    log.put(
        [
            Fact(content=SAID["shop"], category="decision", **laptop),
            StageSummary(summary=f"{SAID['shop']}, done", scope="session", **laptop),
            ProjectSeen(path="/home/ada/shop", remote="github.com/ada/shop", **laptop | {"conversation_id": "laptop"}),
        ]
    )
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / ".git" / "config").write_text('[remote "origin"]\n\turl = https://github.com/ada/Shop.git\n')
    monkeypatch.chdir(tmp_path / "clone")
    call("replay", "--store", log.store.root)
    return "--store", str(log.store.root)


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*VERBS[:-2], ("why", "Carts"), ("review", "--json"), ()], ids=" ".join)
def test_a_repository_in_which_only_another_machine_worked_is_known_by_its_address(clone, verb):
    ran = call(*verb, *clone)

    assert "no memory" not in ran.out + ran.err
    assert verb[:1] == ("review",) or told(ran) == {"shop"} or "Carts are blue" in ran.out


def test_what_is_said_there_first_is_found_beside_what_the_other_machine_said(clone):
    call("fact", "Carts are square", "--session", "s-here", *clone)

    found = call("search", "carts", *clone).out
    assert "Carts are blue" in found
    assert "Carts are square" in found


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_what_was_said_in_a_directory_whose_name_is_not_utf_8_is_found_there(tmp_path, monkeypatch):
    here, store = tmp_path / os.fsdecode(b"caf\xe9"), tmp_path / "store"
    here.mkdir()
    monkeypatch.chdir(here)
    call("fact", "Prices are integers", "--session", "s", "--store", store)
    verbs = [("memory",), ("today",), ("sessions",), ("query",), ("search", "prices"), ("context",), ()]

    for verb in verbs:
        assert "Prices are integers" in call(*verb, "--store", store).out, verb
