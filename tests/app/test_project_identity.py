"""One repository is one project, wherever it lies; two at one path of two machines are two."""

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from eventlog import EventLog, Fact, KnowledgeEdited, Memory, StageSummary
from eventlog.app.ask.brief import brief
from eventlog.app.ask.period import period
from eventlog.app.ask.query import EventFilter, query
from eventlog.app.ask.sessions import sessions, stats
from eventlog.app.naming.references import session_meant
from eventlog.app.page.page_model import page_of
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.write.current_statements import current_statements
from eventlog.app.write.plan import plan
from eventlog.app.write.record_once import record_once
from eventlog.format.events import ProjectJoined, ProjectSeen, Retraction, SectionKey, SessionStart, TurnEnd
from eventlog.store import project_slug
from tests.support.command_line import call
from tests.support.machines import Network
from tests.support.repositories import git, repository
from tests.support.use_cases import DEFAULTS

pytestmark = pytest.mark.slow

SHOP = "github.com/ada/shop"
HOME = f"projects/{project_slug(SHOP)}/MEMORY.md"


@pytest.fixture
def network(tmp_path):
    return Network(tmp_path, count=2)


@pytest.fixture
def machine(network):
    return network.machines[0]


@pytest.fixture
def clone(tmp_path):
    """Make a repository at a path, with an address where one is given."""

    def cloned(path, remote=""):
        made = repository(tmp_path / path)
        if remote:
            git(made, "remote", "add", "origin", remote)
        return str(made)

    return cloned


def says(machine, project, content, session="s", **fields):
    record_once(machine.log, Fact(conversation_id=session, project=project, content=content, **fields))


def memories(machine):
    """The bullets of each project's MEMORY.md, by path."""
    return {
        path: [line.partition("] ")[2] for line in data.decode().splitlines() if line.startswith("- [")]
        for path, data in machine.rendered().items()
        if path.startswith("projects/") and path.endswith("/MEMORY.md")
    }


def on_disk(machine):
    return sorted(path.name for path in (machine.knowledge / "projects").iterdir())


def test_one_repository_at_two_paths_has_one_memory(machine, clone):
    says(machine, clone("a/shop", "https://github.com/ada/shop.git"), "Prices are integers")
    says(machine, clone("b/shop-2", "git@github.com:Ada/Shop"), "Carts expire", "t")
    machine.replay()

    assert {HOME: ["Carts expire", "Prices are integers"]} == memories(machine)
    assert [project_slug(SHOP)] == on_disk(machine)


def test_one_repository_on_two_machines_has_one_memory(network, clone):
    for number, machine in enumerate(network.machines):
        says(machine, clone(f"{number}/shop", "https://github.com/ada/shop.git"), f"fact {number}", f"s{number}")
    network.exchange()

    assert [{HOME: ["fact 1", "fact 0"]}] * 2 == [memories(machine) for machine in network.machines]


def test_two_repositories_at_one_path_are_two_projects_and_a_key_of_one_replaces_nothing_in_the_other(network, clone):
    for number, (machine, name) in enumerate(zip(network.machines, ["shop", "blog"], strict=True)):
        path = clone("workspace", f"https://github.com/ada/{name}")
        says(machine, path, f"{name} runs on port {number}", f"s{number}", key="port")
        machine.replay()
        Path(path).rename(f"{path}-{number}")
    network.exchange()
    blog = f"projects/{project_slug('github.com/ada/blog')}/MEMORY.md"
    expected = {HOME: ["shop runs on port 0"], blog: ["blog runs on port 1"]}

    assert [expected, expected] == [memories(machine) for machine in network.machines]


def test_without_an_address_a_path_is_a_project_of_its_machine(network):
    for number, machine in enumerate(network.machines):
        says(machine, "/src/notes", f"fact {number}", f"s{number}", key="k")
    network.exchange()
    second = network.machines[1].name
    expected = {
        f"projects/{project_slug('/src/notes')}/MEMORY.md": ["fact 0"],
        f"projects/{project_slug(f'{second}:/src/notes')}/MEMORY.md": ["fact 1"],
    }

    assert [expected, expected] == [memories(machine) for machine in network.machines]


def test_a_path_where_only_another_machine_was_is_told_nothing_of_that_machines_project(network, tmp_path):
    first, second = network.machines
    path = str(tmp_path / "workspace")
    Path(path).mkdir()
    says(first, path, "The kettle is descaled on Fridays")
    says(second, str(tmp_path / "elsewhere"), "Prices are integers", "t")
    network.exchange()
    memory = Memory(second.log.store, machine=second.opened.machine)

    assert "" == memory.recall("When is the kettle descaled?", project=path)
    assert [] == memory.search("kettle descaled", project=path)
    assert [] == memory.known(path)
    assert "kettle" not in memory.context(project=path).text
    assert memory.recall("When is the kettle descaled?", project=f"{path}-moved") == ""
    Path(path).rmdir()  # then it can only be meant as that of the other
    assert "kettle" in memory.context(project=path).text
    assert memory.search("kettle descaled", project=path)
    assert "kettle" in "".join(memory.known(path)[0].lines)


def test_what_names_no_machine_is_of_its_conversations_else_of_the_first_at_the_path(network):
    first, second = network.machines
    for number, machine in enumerate(network.machines):
        says(machine, "/src/notes", f"fact {number}", f"s{number}")
    second.log.append(Fact(conversation_id="s1", project="/src/notes", content="told to the second"))
    second.log.append(Fact(conversation_id="old", project="/src/notes", content="told long ago"))
    network.exchange()

    assert sorted(memories(first).values()) == [["told long ago", "fact 0"], ["told to the second", "fact 1"]]


SHOP_URLS = ("https://github.com/ada/shop", "git@github.com:ada/store", "")


def with_remote(path, url):
    git(path, "remote", "remove", "origin") if "origin" in git(path, "remote") else None
    git(path, "remote", "add", "origin", url) if url else None


@pytest.mark.parametrize("urls", [*permutations(SHOP_URLS)], ids=repr)
def test_the_files_of_a_project_stay_where_they_are_when_its_address_comes_changes_or_goes(machine, clone, urls):
    path = clone("a/shop")
    homes = []
    for number, url in enumerate(urls):
        with_remote(path, url)
        says(machine, path, f"fact {number}", f"s{number}")
        machine.replay()
        homes.append(on_disk(machine))

    assert homes == [homes[0]] * 3
    assert len(homes[0]) == 1
    assert [["fact 2", "fact 1", "fact 0"]] == list(memories(machine).values())
    assert 0 == machine.replay()
    later(machine)
    assert "fact 0" in context(machine, path)


def test_an_address_that_appears_moves_no_files_on_another_machine_that_knows_them(network, clone):
    first, second = network.machines
    path = clone("a/shop")
    says(first, path, "Prices are integers")
    network.exchange()
    home = on_disk(second)
    with_remote(path, "https://github.com/ada/shop")
    says(first, path, "Carts expire", "t")
    says(second, clone("b/shop", "https://github.com/ada/shop"), "Orders are kept", "u")
    network.exchange()

    assert home == on_disk(first) == on_disk(second) == [project_slug(path)]
    assert [["Orders are kept", "Carts expire", "Prices are integers"]] == list(memories(second).values())
    assert memories(first) == memories(second)


def test_a_clone_that_becomes_a_project_of_its_own_leaves_the_files_to_the_others(machine, clone):
    paths = clone("a/shop", "https://github.com/ada/shop"), clone("b/shop", "https://github.com/ada/shop")
    for number, path in enumerate(paths):
        says(machine, path, f"fact {number}", f"s{number}")
    machine.replay()
    with_remote(paths[1], "https://github.com/bob/fork")
    says(machine, paths[1], "fact 2", "t")
    machine.replay()
    fork = f"projects/{project_slug('github.com/bob/fork')}/MEMORY.md"

    assert {HOME: ["fact 0"], fork: ["fact 2", "fact 1"]} == memories(machine)


def test_a_name_that_another_machine_claims_takes_no_directory_of_another_project(machine):
    for name in ("shop", "blog"):
        says(machine, f"/p/{name}", name, name)
    about = {"conversation_id": "m", "replica": machine.name, "project": "/p/blog", "path": "/p/blog"}
    machine.log.put([ProjectSeen(**about, remote="github.com/eve/blog", known_as="/p/shop")])

    assert {
        f"projects/{project_slug('/p/shop')}/MEMORY.md": ["shop"],
        f"projects/{project_slug('github.com/eve/blog')}/MEMORY.md": ["blog"],
    } == memories(machine)


@pytest.mark.parametrize("told", [True, False])
def test_an_edit_of_a_memory_whose_project_gets_an_address_is_in_the_log(machine, clone, told):
    path = clone("a/shop")
    says(machine, path, "Prices are integers")
    says(machine, path, "Carts expire")
    machine.replay()
    git(path, "remote", "add", "origin", "https://github.com/ada/shop")
    if told:
        machine.replay()
    [file] = machine.knowledge.glob("projects/*/MEMORY.md")
    kept = [line for line in file.read_text().splitlines() if "Carts" not in line]
    file.write_text("\n".join([*kept[:-2], "- Orders are kept", "", "## Notes", "", "mine", kept[-1]]) + "\n")
    machine.replay()
    machine.replay()

    home = f"projects/{project_slug(path)}/MEMORY.md"
    assert {home: ["Orders are kept", "Prices are integers"]} == memories(machine)
    assert [project_slug(path)] == on_disk(machine)
    assert "## Notes\n\nmine\n" in machine.rendered()[home].decode()


@pytest.mark.parametrize("withdrawn", ["", "of the second"])
def test_an_edit_of_a_memory_whose_path_was_another_machines_first_is_of_this_machines_project(network, withdrawn):
    first, second = network.machines
    says(first, "/src/notes", "of the first", "s0")
    says(second, "/src/notes", "of the second", "s1")
    second.replay()
    [file] = second.knowledge.glob("projects/*/MEMORY.md")
    lines = [line for line in file.read_text().splitlines() if not (withdrawn and withdrawn in line)]
    file.write_text("\n".join([*lines[:-2], "- of a person", *lines[-2:]]) + "\n")
    second.take(first)
    network.exchange()
    theirs, ours = ["of the first"], ["of a person", *([] if withdrawn else ["of the second"])]
    expected = {project_slug("/src/notes"): theirs, project_slug(f"{second.name}:/src/notes"): ours}

    for machine in network.machines:
        assert {f"projects/{slug}/MEMORY.md": lines for slug, lines in expected.items()} == memories(machine)


def noted(machine, path, content):
    key = SectionKey(heading="Notes", path=f"knowledge/projects/{project_slug(path)}/MEMORY.md")
    machine.log.put([KnowledgeEdited(conversation_id="human", agent="human", key=key, content=content)])


def test_notes_of_what_becomes_one_project_are_kept_together_until_a_person_edits_them(machine, clone):
    paths = clone("a/shop", "https://github.com/ada/shop"), clone("b/shop", "https://github.com/ada/shop")
    for number, path in enumerate(paths):
        says(machine, path, f"fact {number}")
        noted(machine, path, f"note {number}")
    machine.replay()

    assert "## Notes\n\nnote 0\n\nnote 1\n" in machine.rendered()[HOME].decode()
    noted(machine, SHOP, "note 1, and another")
    assert "## Notes\n\nnote 1, and another\n" in machine.rendered()[HOME].decode()


def test_projects_are_joined_by_hand_until_that_is_taken_back(machine):
    says(machine, "/a/notes", "fact 0")
    says(machine, "/b/notes", "fact 1", "t")
    before = memories(machine)
    projects = ["/b/notes", f"{machine.name}:/a/notes"]
    [joined] = machine.log.put([ProjectJoined(conversation_id="human", agent="human", projects=projects)])

    assert {f"projects/{project_slug('/a/notes')}/MEMORY.md": ["fact 1", "fact 0"]} == memories(machine)
    machine.log.append(Retraction(conversation_id="human", agent="human", target=joined.event.id))
    assert before == memories(machine)


def test_a_session_in_joined_projects_that_no_machine_has_spoken_of_is_told_both(machine, tmp_path):
    """Imported sessions and old logs name no machine."""
    paths = [str(repository(tmp_path / name)) for name in "ab"]
    for path in paths:
        machine.log.append(Fact(conversation_id=path, project=path, content=f"{Path(path).name} holds"))
    here = [f"{machine.name}:{path}" for path in paths]
    machine.log.put([ProjectJoined(conversation_id="human", agent="human", projects=here)])
    machine.replay()

    for path in paths:
        text = session_context(machine.opened, request_of(machine.opened, path)).text
        assert "a holds" in text
        assert "b holds" in text


def test_a_joined_project_is_known_by_its_address_and_listed_with_all_its_places(machine, clone):
    path = clone("a/shop", "https://github.com/ada/shop")
    says(machine, path, "fact 0")
    says(machine, "/b/notes", "fact 1", "t")
    machine.replay()
    machine.log.put([ProjectJoined(conversation_id="human", projects=["/b/notes", SHOP])])
    machine.replay()

    assert {HOME: ["fact 1", "fact 0"]} == memories(machine)
    listed = (machine.knowledge / "projects.jsonl").read_text().splitlines()
    assert 1 == len(listed)
    for place in (path, "/b/notes", machine.name, SHOP):
        assert f'"{place}"' in listed[0]


def test_sessions_are_told_with_their_project_and_listed_with_their_path(machine, clone):
    path = clone("a/checkout", "https://github.com/ada/shop")
    record_once(machine.log, StageSummary(conversation_id="s", project=path, scope="session", summary="Done"))
    machine.replay()
    rendered = machine.rendered()

    assert f'"project":"{path}"' in rendered["sessions.jsonl"].decode()
    assert "**Project:** shop" in rendered["sessions/s.md"].decode()
    assert " s Done\n" in rendered[HOME.replace("MEMORY", "INDEX")].decode()


def test_an_address_is_told_once_and_again_when_it_changes_or_goes(machine, clone):
    path = clone("a/shop", "https://github.com/ada/shop")
    for url in ("https://github.com/ada/shop", "git@github.com:ada/shop", "git@github.com:bob/shop", ""):
        git(path, "remote", "set-url", "origin", url) if url else git(path, "remote", "remove", "origin")
        says(machine, path, f"at {url}")
        machine.replay()
        machine.replay()
    told = [event for event in machine.log.read() if event.type == "project_seen"]

    assert [SHOP, "github.com/bob/shop", None] == [event.remote for event in told]
    assert {(machine.name, path)} == {(event.replica, event.path) for event in told}


def context(machine, path):
    return session_context(machine.opened, request_of(machine.opened, path)).context.text


def later(machine, days=9):
    """So much later that only rendered files tell of what was said."""
    machine.network.now += days * 86_400 * 10**9


@pytest.mark.parametrize("days", [0, 9])
def test_a_session_is_told_what_is_known_of_its_repository_wherever_that_was_said(network, clone, days):
    first, second = network.machines
    says(first, clone("a/shop", "https://github.com/ada/shop"), "Prices are integers")
    path = clone("b/checkout", "https://github.com/ada/shop")
    says(second, path, "Carts expire", "t")
    says(second, clone("c/blog", "https://github.com/ada/blog"), "Posts are short", "u")
    network.exchange()
    later(second, days)
    told = context(second, path)

    assert [True, True, False] == [text in told for text in ("Prices are integers", "Carts expire", "Posts are short")]


def test_the_first_session_of_a_new_clone_is_told_already(machine, clone):
    says(machine, clone("a/shop", "https://github.com/ada/shop"), "Prices are integers")
    machine.replay()

    assert "Prices are integers" in context(machine, clone("b/shop", "git@github.com:ada/shop.git"))


@pytest.mark.parametrize("days", [0, 9])
def test_a_session_is_told_nothing_of_what_lies_at_its_path_on_another_machine(network, days):
    for number, machine in enumerate(network.machines):
        says(machine, "/src/notes", f"said on {number}", f"s{number}")
    network.exchange()
    later(machine, days)

    for number, machine in enumerate(network.machines):
        told = context(machine, "/src/notes")
        assert [number == 0, number == 1] == ["said on 0" in told, "said on 1" in told]


def test_summaries_of_other_clones_are_told_by_the_projects_own_index(machine, clone):
    paths = clone("a/shop", "https://github.com/ada/shop"), clone("b/shop", "https://github.com/ada/shop")
    record_once(machine.log, StageSummary(conversation_id="s", project=paths[0], scope="session", summary="Built it"))
    says(machine, paths[1], "Carts expire", "t")
    machine.replay()
    later(machine)

    assert "Built it" in context(machine, paths[1])


def test_what_was_planned_for_a_file_in_a_project_is_applied_on_the_machine_of_the_project_only(network, tmp_path):
    first, second = network.machines
    (tmp_path / "notes").mkdir()
    entry = {"path": "project", "heading": "Build", "content": "make"}
    plan(first.log, entry, session="s", project=str(tmp_path / "notes"))
    second.take(first)
    second.replay()

    assert not (tmp_path / "notes" / "AGENTS.md").exists()
    first.replay()
    assert "make" in (tmp_path / "notes" / "AGENTS.md").read_text()


def test_an_import_reads_the_address_and_the_folder_keeps_its_name(tmp_path, home):
    path = tmp_path / "shop"
    (path / ".git").mkdir(parents=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:ada/shop.git\n')
    (path / "CLAUDE.md").write_text("# Notes\n\n- Prices are integers in cents\n")
    os.utime(path / "CLAUDE.md", (1_700_000_000, 1_700_000_000))  # long ago: no replay would ask by itself

    assert call("import", "bullets", path / "CLAUDE.md").code == 0
    call("replay")
    folders = sorted(one.name for one in (home / ".eventlog" / "knowledge" / "projects").iterdir())
    seen = [event for event in EventLog(home / ".eventlog").read() if event.type == "project_seen"]
    call("fact", "Carts are blue", "--project", path, "--session", "s1", "--agent", "codex")
    call("replay")

    assert [getattr(event, "remote", "") for event in seen] == ["github.com/ada/shop"]
    assert folders == sorted(one.name for one in (home / ".eventlog" / "knowledge" / "projects").iterdir())
    assert call("import", "bullets", path / "CLAUDE.md").code == 0
    assert 1 == sum(event.type == "project_seen" for event in EventLog(home / ".eventlog").read())


@pytest.mark.parametrize("first", [0, 1])
def test_every_answer_about_a_path_leaves_out_what_another_machine_did_at_that_path(network, first):
    opened = [machine.opened for machine in network.machines]
    for number in (first, 1 - first):
        session = {"conversation_id": f"s{number}", "project": "/src/app", "replica": network.machines[number].name}
        opened[number].log.append(SessionStart(**session, source="startup"))
        opened[number].log.append(
            StageSummary(**session, topic=f"work {number}", summary="Done", todos=[f"to do {number}"])
        )
    network.exchange()
    for number, machine in enumerate(opened):
        shown = brief(machine, InstallTarget(machine.store, Path(machine.machine.home), Path("/src/app"), {}))
        page = page_of(machine, projects=["/src/app"])
        done = period(machine, "2026-01-01T00:00:00.000000Z", project="/src/app")

        assert [f"s{number}"] == [row.session_id for row in sessions(machine, project="/src/app")]
        assert 1 == stats(machine, project="/src/app")[-1].sessions
        assert [f"work {number}", f"to do {number}"] == [shown.last and shown.last.topic, *shown.todos]
        assert [f"work {number}", f"to do {number}"] == [item.text for item in (*done.done, *done.open)]
        assert [f"s{number}"] == [row.id for row in page.sessions]


def test_what_names_no_machine_is_of_the_one_whose_file_it_came_in(network):
    for number, machine in enumerate(network.machines):
        session: dict[str, Any] = {"conversation_id": f"s{number}", "project": "/src/app"}
        machine.log.append(SessionStart(**session, replica=machine.name))
        machine.log.append(TurnEnd(**session, agent="codex", status="completed"))
    network.exchange()
    for number, machine in enumerate(network.machines):
        found = query(machine.log, EventFilter(project="/src/app"))

        assert {f"s{number}"} == {entry.event.conversation_id for entry in found}
        assert f"s{number}" == session_meant(machine.log, "last", project="/src/app")


def test_what_a_key_has_here_replaces_what_another_machine_says_before_a_replay_knows_the_path_here(network, clone):
    other, here = network.machines
    says(other, clone("0/shop", "https://github.com/ada/shop.git"), "The port is 9443", key="port")
    network.exchange()
    shop = clone("1/shop", "https://github.com/ada/shop.git")
    says(here, shop, "The port is 9999", "t", key="port")
    told = {
        "search": [hit.text for hit in Memory(here.log.store).search("port", project=shop)],
        "start": session_context(here.opened, request_of(here.opened, shop)).context.text,
        "tools": [one.text for one in current_statements(here.log, DEFAULTS, shop)],
    }

    for who, text in told.items():
        assert ("9999" in str(text), "9443" in str(text)) == (True, False), (who, text)
