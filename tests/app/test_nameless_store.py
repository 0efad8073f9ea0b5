"""A store without a name of its own: a fresh one, a log that was restored or copied, a store copied whole."""

import json
import shutil
from pathlib import Path

import pytest

from eventlog import EventLog, Store
from eventlog.store.replica import make_replica, replica_of
from tests.support.bases import user_md, write_user
from tests.support.command_line import call
from tests.support.machines import of_machine

pytestmark = pytest.mark.slow

ENTRY = {
    "ts": "2026-01-02T00:00:02.000000Z",
    "type": "plan_entry",
    "conversation_id": "c2",
    "key": {"path": "user", "heading": "H"},
    "content": "x",
}
PENDING = """version: 1.0.0
entries:
- {key: {path: user, heading: H}, content: old, meta: {created_at: '2026-01-02T00:00:02'}}
- {key: {path: user, heading: H}, content: new, meta: {created_at: '2026-01-02T00:00:03'}}
- {key: {path: user, heading: K}, content: x}
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    of_machine(monkeypatch, tmp_path, 1)
    return Store(str(tmp_path / "store"))


def told(store):
    """What the log has: by whom, and which type."""
    return [(event.type, event.agent == "human") for event in EventLog(store).read()]


def settles(store):
    """A replay that ends well, after which another has nothing to tell; returns what the first one printed."""
    ran = call("replay", "--store", store.root)
    after = told(store)
    assert (0, 0) == (ran.code, call("replay", "--store", store.root).code)
    assert after == told(store)
    return ran.out


def test_an_entry_with_a_time_of_its_own_arrives_once_in_a_fresh_store(store):
    call("append", "--stdin", "--store", store.root, stdin=json.dumps(ENTRY).encode())
    settles(store)

    assert [("plan_entry", False), ("entry_applied", False)] == told(store)
    assert "## H\n\nx\n" == user_md().read_text()


@pytest.mark.parametrize("people", ["keep", "replace"])
@pytest.mark.parametrize("named", [False, True])
def test_imported_entries_arrive_once_each_whether_the_store_has_a_name_or_not(store, tmp_path, named, people):
    write_user("# Me\n\nmine\n")
    Path(store.root).mkdir()
    path = f"knowledge_bases:\n  user: {{path: ~/.config/agents/USER.md, on_people_text: {people}}}\n"
    Path(store.root, "config.yaml").write_text(f"version: 1\n{path}")
    Path(tmp_path, "kb-s.yaml").write_text(PENDING)
    call("import", "last-word", str(tmp_path / "kb-s.yaml"), "--store", store.root)
    assert not Path(store.replica).exists()
    if named:
        make_replica(store)
    settles(store)

    assert [("plan_entry", False)] * 3 + [("entry_applied", False)] * 3 == told(store)
    assert "# Me\n\nmine\n\n## H\n\nnew\n\n## K\n\nx\n" == user_md().read_text()


@pytest.mark.parametrize("gone", [True, False])
def test_entries_of_a_copied_log_arrive_once_and_are_nobodys_edit(store, tmp_path, gone):
    for heading in ("H", "K"):
        call("plan", "--path", "user", "--heading", heading, "--content", "x", "--session", "s", "--store", store.root)
    settles(store)
    new = Store(str(tmp_path / "new"))
    shutil.copytree(store.log, new.log)
    if gone:
        user_md().unlink()
    settles(new)

    assert [("plan_entry", False)] * 2 + [("entry_applied", False)] * 4 == told(new)
    assert "## H\n\nx\n\n## K\n\nx\n" == user_md().read_text()


def test_what_stood_in_the_file_is_nobodys_edit_when_the_name_is_lost(store):
    write_user("# Me\n\nmine\n")
    plan = ("plan", "--path", "user", "--session", "s", "--store", store.root)
    for heading, content in (("H", "one"), ("H", "two"), ("K", "three"), ("L", "gone"), ("Me", "mine\nand theirs")):
        call(*plan, "--heading", heading, "--content", content, *(["--level", "1"] if heading == "Me" else []))
        settles(store)
    write_user(user_md().read_text().replace("three", "three\nby hand").replace("## L\n\ngone\n\n", ""))
    settles(store)
    before = told(store), user_md().read_text()
    Path(store.replica).unlink()
    settles(store)

    assert before[1] == user_md().read_text()
    assert {("entry_applied", False)} == set(told(store)[len(before[0]) :])


def test_what_was_found_has_the_history_it_had(store):
    write_user("## H\n\nmine\n")
    call(
        "plan",
        "--path",
        "user",
        "--heading",
        "H",
        "--content",
        "mine\nthe agent's",
        "--session",
        "s",
        "--store",
        store.root,
    )
    settles(store)
    Path(store.replica).unlink()
    settles(store)
    assert "mine\nthe agent's" in user_md().read_text()

    call("undo", "--yes", "--store", store.root)

    assert "## H\n\nmine\n" == user_md().read_text()


def test_an_older_text_that_a_person_puts_back_by_hand_is_their_edit(store):
    make_replica(store)
    for content in ("one", "two"):
        call("plan", "--path", "user", "--heading", "H", "--content", content, "--session", "s", "--store", store.root)
        settles(store)
    write_user("## H\n\none\n")
    settles(store)

    assert ("knowledge_edited", True) == told(store)[-1]
    assert "## H\n\none\n" == user_md().read_text()


def test_a_store_copied_whole_says_so_once_and_doctor_always(store, tmp_path, monkeypatch):
    call("plan", "--path", "user", "--heading", "H", "--content", "x", "--session", "s", "--store", store.root)
    settles(store)
    theirs, copy = replica_of(store), Store(str(tmp_path / "copy"))
    shutil.copytree(store.root, copy.root)
    of_machine(monkeypatch, tmp_path, 2)

    assert f"a copy of that of {theirs}, and goes by its name" in call("doctor", "--store", copy.root).out
    assert f"is a copy of that of {theirs}" in call("replay", "--check", "--store", copy.root).out
    assert theirs == replica_of(copy)
    assert f"is a copy of that of {theirs}" in settles(copy)
    assert theirs != replica_of(copy)
    assert "is a copy of" not in call("replay", "--store", copy.root).out
    assert f"copied from the store of {theirs}" in call("doctor", "--store", copy.root).out
    arrived = ("entry_applied", False)
    assert [("plan_entry", False), arrived, ("project_joined", False), arrived] == told(copy)


def test_a_pure_reader_makes_no_name(store):
    call("append", "--stdin", "--store", store.root, stdin=json.dumps(ENTRY).encode())
    for verb in (["replay", "--check"], ["replay", "--out", f"{store.root}-out"], ["apply", "--dry-run"], ["status"]):
        call(*verb, "--store", store.root)

    assert not Path(store.replica).exists()
