"""Excluding a project changes one key of config.yaml; all of it stays, under each of its names."""

from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.app.sync.leaving import exclude_projects, preview
from eventlog.format.events import HUMAN
from eventlog.settings.load import load
from eventlog.settings.schema import Settings, SyncSettings
from eventlog.store import project_slug
from eventlog.store.replica import replica_of
from tests.support.synced import Memory
from tests.support.use_cases import opened

FILES = {
    "": "sync: {exclude: [/src/client]}\n",
    "timezone: Europe/Berlin": "timezone: Europe/Berlin\nsync: {exclude: [/src/client]}\n",
    "sync: {auto: true}  # mine\nlocale: zh\n": "sync: {auto: true, exclude: [/src/client]}  # mine\nlocale: zh\n",
    "sync:\n  auto: true\n# about words\nlocale: zh\n": "sync:\n  {auto: true, exclude: [/src/client]}\n# about words\nlocale: zh\n",
    "sync:\n  exclude:\n    - /a\n\nlocale: zh\n": "sync:\n  {exclude: [/a, /src/client]}\n\nlocale: zh\n",
    "sync: {}\n": "sync: {exclude: [/src/client]}\n",
    "{locale: zh}\n": "{sync: {exclude: [/src/client]}, locale: zh}\n",
    "# nothing yet\n": "# nothing yet\nsync: {exclude: [/src/client]}\n",
}


@pytest.mark.parametrize("before", FILES)
def test_one_key_changes_and_the_rest_stays(tmp_path, before):
    log = EventLog(tmp_path)
    Path(log.store.config).write_text(before)

    excluded = exclude_projects(opened(log, load(log.store).settings), ["/src/client"])

    assert FILES[before] == Path(log.store.config).read_text()
    assert excluded == load(log.store).settings.sync.exclude
    assert "/src/client" == excluded[-1]


def test_the_same_again_writes_nothing_and_a_new_file_says_what_it_is(tmp_path):
    log = EventLog(tmp_path)
    exclude_projects(opened(log), ["/src/client"])
    before = Path(log.store.config).read_text()
    settings = load(log.store).settings

    assert ["/src/client"] == exclude_projects(opened(log, settings), ["/src/client"])
    assert before == Path(log.store.config).read_text()
    assert before.startswith("# settings of eventlog")


def note(machine, name):
    """A note of a person in the MEMORY.md of the project whose directory is called after this name."""
    path = f"knowledge/projects/{project_slug(name)}/MEMORY.md"
    machine.put(
        type="knowledge_edited",
        key={"path": path, "heading": "Notes"},
        content="mine",
        conversation_id=HUMAN,
        agent=HUMAN,
    )


def seen(machine, path, remote, known_as=None, replica=None):
    replica = replica or replica_of(machine.store)
    machine.put(type="project_seen", project=path, path=path, remote=remote, known_as=known_as, replica=replica)


def leaving_by_type(machine, *exclude):
    machine.replay()
    machine.settings = Settings(sync=SyncSettings(exclude=[*exclude]))
    return {kind for kind, _ in preview(machine.opened).events}


CLIENT, ADDRESS = "/src/client", "example.org/me/client"
NAMED = {
    "by its path": CLIENT,
    "by its address": ADDRESS,
    "by its name": "client",
    "by the path of another clone": "/tmp/again",
    "by a directory around it": "/src",
}


@pytest.mark.slow
@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_notes_facts_and_joins_of_an_excluded_project_stay_in_all_its_places_and_directories(tmp_path, named):
    one = Memory(tmp_path, count=1).machines[0]
    one.says("The tea is green", project=CLIENT)
    one.says("The cups are blue", project="/tmp/again", conversation_id="c2")
    for path in (CLIENT, "/tmp/again"):
        seen(one, path, ADDRESS, "/tmp/before" if path == CLIENT else None)
    for name in ("/tmp/before", CLIENT, "/tmp/again", ADDRESS):
        note(one, name)
    one.put(type="project_joined", projects=[ADDRESS, "/old/client"], conversation_id=HUMAN, agent=HUMAN)

    assert not leaving_by_type(one, named)


def test_notes_of_a_project_whose_directory_is_named_like_that_of_an_excluded_one_leave(tmp_path):
    one = Memory(tmp_path, count=1).machines[0]
    one.says("The tea is green", project="/other/client")
    note(one, "/other/client")

    assert {"fact", "knowledge_edited"} == leaving_by_type(one, CLIENT)


def test_a_path_of_another_machine_is_another_project(tmp_path):
    one = Memory(tmp_path, count=1).machines[0]
    one.says("The tea is green", project=CLIENT)
    one.says("The cups are blue", project=CLIENT, replica="laptop-1", conversation_id="c2")
    seen(one, CLIENT, ADDRESS)
    seen(one, CLIENT, "example.org/other", replica="laptop-1")
    note(one, f"laptop-1:{CLIENT}")

    assert {"fact", "knowledge_edited", "project_seen"} == leaving_by_type(one, CLIENT)
    assert 1 == preview(one.opened).events["fact", CLIENT]


def test_notes_of_a_project_that_is_switched_off_stay_under_each_name_of_its_directory(tmp_path):
    one = Memory(tmp_path, count=1).machines[0]
    project = tmp_path / "client"
    project.mkdir()
    one.says("The tea is green", project=str(project))
    seen(one, str(project), ADDRESS)
    for name in (str(project), ADDRESS):
        note(one, name)
    (project / ".eventlog-disable").touch()

    assert not leaving_by_type(one)
