import json
from pathlib import Path

import pytest

from eventlog import EventLog, Store
from eventlog.app.write.record_once import record_once
from eventlog.format.events import Fact
from eventlog.store import project_slug
from eventlog.store.replica import make_replica
from tests.support.command_line import call
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow

SHOP = "github.com/ada/shop"


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


@pytest.fixture
def shop(store, tmp_path):
    """Two clones of one repository, with a fact each, and a directory with notes; replayed."""
    paths = []
    for number in range(2):
        made = repository(tmp_path / f"clone{number}" / "shop")
        git(made, "remote", "add", "origin", "https://github.com/ada/shop")
        paths.append(str(made))
    for number, path in enumerate([*paths, str(tmp_path / "notes")]):
        record_once(EventLog(store), Fact(conversation_id=f"s{number}", project=path, content=f"fact {number}"))
    call("replay", "--store", store.root)
    return paths


def facts(store, project):
    said = call("query", "--type", "fact", "--project", project, "--format", "jsonl", "--store", store.root)
    return [json.loads(line)["content"] for line in said.out.splitlines()]


def listed(store):
    return json.loads(call("project", "list", "--json", "--store", store.root).out)


def test_projects_are_listed_with_where_they_lie(store, shop):
    said = call("project", "list", "--store", store.root)

    assert all(f"shop\t{SHOP}\t{make_replica(store)}\t{path}\n" in said.out for path in shop)
    assert [[SHOP, 2], [f"{store.root.removesuffix('store')}notes", 1]] == [
        [project["project"], len({path for _, path in project["places"]})] for project in listed(store)[::-1]
    ]


@pytest.mark.parametrize("said", ["shop", SHOP, project_slug(SHOP), "{path}"])
def test_events_of_all_clones_are_found_by_any_name_of_their_project(store, shop, said):
    assert ["fact 0", "fact 1"] == facts(store, said.format(path=shop[1]))


def test_two_projects_are_joined_by_name_and_parted_as_it_says(store, shop):
    said = call("project", "join", "notes", "shop", "--store", store.root)

    assert 0 == said.code
    assert [SHOP] == [project["project"] for project in listed(store)]
    assert ["fact 0", "fact 1", "fact 2"] == facts(store, "notes")
    words = said.out.splitlines()[1].partition(": eventlog ")[2].partition(", then")[0].split()
    assert 0 == call(*words, "--yes", "--store", store.root).code
    assert ["fact 2"] == facts(store, "notes")


def test_what_is_one_project_already_or_none_is_refused(store, shop):
    for other, reason in ((shop[0], "one project already"), ("nowhere", "no project 'nowhere'")):
        said = call("project", "join", shop[1], other, "--store", store.root)

        assert 2 == said.code
        assert reason in said.err


@pytest.mark.parametrize("said", ["elsewhere:{path}", "{slug}"])
def test_two_projects_at_one_path_of_two_machines_are_joined(store, tmp_path, said):
    path = str(tmp_path / "notes")
    (tmp_path / "notes").mkdir()
    fact = Fact(conversation_id="s", project=path, replica="elsewhere", content="fact there")
    EventLog(store).put([fact])
    record_once(EventLog(store), Fact(conversation_id="t", project=path, content="fact here"))
    call("replay", "--store", store.root)
    other = said.format(path=path, slug=project_slug(path))

    assert "one project already" in call("project", "join", path, path, "--store", store.root).err
    assert 0 == call("project", "join", path, other, "--store", store.root).code
    memory = call("memory", path, "--store", store.root).out
    assert ("fact here" in memory, "fact there" in memory) == (True, True)
    assert "one project already" in call("project", "join", other, path, "--store", store.root).err


def test_where_nothing_happened_there_is_no_project(store):
    Path(store.root).mkdir()
    said = call("project", "list", "--store", store.root)

    assert (0, "") == said[:2]
    assert "no project yet" in said.err
