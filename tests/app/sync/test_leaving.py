"""What may leave a machine leaves; all else stays, and looks like nothing there."""

import json
from pathlib import Path
from typing import Any

import pytest

from eventlog.app.sync.leaving import preview
from eventlog.format import codec
from eventlog.settings.schema import Settings, SyncSettings
from tests.support.builders import DAY, fact
from tests.support.credentials import SAMPLES, sample
from tests.support.effort import rounds
from tests.support.synced import Memory

HOME: list[dict[str, Any]] = [
    {"type": "host_event", "name": "PreToolUse", "payload": {"x": "stays-home"}},
    {"type": "conversation_text", "title": "stays-home", "prompts": ["stays-home"]},
    {"type": "context_injected", "digest": "stays-home", "chars": 7},
    {"type": "fact", "content": "stays-home", "subagent": "stays-home"},
    {"type": "host_event", "name": "stays-home", "subagent": "stays-home"},
]


def both(tmp_path, **options):
    memory = Memory(tmp_path, **options)
    return memory, *memory.machines


def written(machine, lines):
    """Lines appended to the log behind the back of every scrubber."""
    path = Path(machine.store.log, f"{DAY}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as opened:
        opened.writelines(line + b"\n" for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("event", HOME, ids=[f"{event['type']}{number}" for number, event in enumerate(HOME)])
def test_what_stays_at_home_travels_as_a_mark(tmp_path, event):
    memory, one, other = both(tmp_path)
    one.put(type="session_start", source="startup", project="/src/shop")
    said = one.put(**event, project="/src/shop")
    memory.settle()

    assert one.ids() == other.ids()
    mark = next(entry for entry in other.log.entries() if entry.event.id == said.id)
    assert b"stays-home" not in mark.line
    assert (said.ts, said.conversation_id) == (mark.event.ts, mark.event.conversation_id)
    assert codec.decode(mark.line) == mark.event
    assert one.knowledge() == other.knowledge()


def test_facts_about_the_user_from_a_shared_session_stay(tmp_path):
    memory, one, other = both(tmp_path)
    one.put(type="session_start", session_type="shared", project="/src/shop")
    one.put(type="fact", content="likes tea", memory_type="O")
    one.put(type="fact", content="The tea is green", project="/src/shop")
    memory.settle()

    assert ["The tea is green"] == other.facts()
    assert one.ids() == other.ids()


@pytest.mark.slow
def test_texts_leave_where_that_is_wanted_also_those_from_before(tmp_path):
    memory, one, other = both(tmp_path)
    one.put(type="conversation_text", title="about tea")
    memory.settle()
    one.settings = Settings(sync=SyncSettings(texts=True))
    memory.settle()

    assert ["about tea"] == [event.title for event in other.log.read() if event.type == "conversation_text"]


@pytest.mark.slow
@pytest.mark.parametrize("by_git", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["folder", "git"])
def test_nothing_of_an_excluded_project_leaves_and_what_had_left_is_removed(tmp_path, by_git):
    memory, one, other = both(tmp_path, by_git=by_git)
    one.says("The tea is green", project="/src/client")
    one.put(type="project_seen", path="/src/client", remote="example.org/client", conversation_id="r")
    one.put(type="turn_end")
    one.says("The cups are blue", conversation_id="c2")
    one.settings = Settings(sync=SyncSettings(exclude=["/src/client"]))

    assert {("fact", "/src/shop"): 1} == dict(preview(one.opened).events)
    memory.settle()
    assert ["The cups are blue"] == other.facts()
    assert 1 == len(other.ids())

    one.settings = Settings(sync=SyncSettings(exclude=["/src/client", "/src/shop"]))
    memory.settle()
    assert [] == memory.another("m2").facts()
    assert ["The cups are blue"] == other.facts()  # what it has, it has

    one.settings = Settings()
    memory.settle()
    assert one.ids() == other.ids()


def test_a_project_that_is_switched_off_stays_also_what_was_said_before(tmp_path):
    memory, one, other = both(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    one.says("The tea is green", project=str(project))
    (project / ".eventlog-disable").touch()
    memory.settle()

    assert set() == other.ids()


@pytest.mark.parametrize("by_git", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["folder", "git"])
def test_secrets_are_stopped_at_the_door_and_told_and_all_else_leaves(tmp_path, by_git):
    _, one, other = both(tmp_path, by_git=by_git)
    kinds = [*SAMPLES]
    samples = [sample(kinds[number % len(kinds)]) for number in range(rounds(fixed=len(kinds), fuzz=200))]
    planted = [json.dumps(fact(number, content=text)).encode() for number, (text, _) in enumerate(samples)]
    written(one, [*planted, json.dumps(fact(999, content="The tea is green")).encode()])

    report = one.sync()
    other.sync()

    assert len(planted) == report.blocked == len(report.sent.blocked)
    assert ["The tea is green"] == other.facts()
    assert len(planted) == one.sync().blocked  # said again, until it is gone


@pytest.mark.parametrize("by_git", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["folder", "git"])
def test_no_byte_of_secrets_and_of_what_stays_was_ever_in_the_remote(tmp_path, by_git):
    memory, one, other = both(tmp_path, by_git=by_git)
    kinds, staying = [*SAMPLES], [*HOME, {"type": "fact", "content": "stays-home", "project": "/src/client"}]
    secrets = []
    one.settings = Settings(sync=SyncSettings(exclude=["/src/client"]))
    count = rounds(fixed=30, fuzz=1000)
    for number in range(count):  # among what leaves, in several exchanges
        stays = {**fact(number), "content": None, "project": "/src/shop", **staying[number % len(staying)]}
        lines = [{name: value for name, value in stays.items() if value is not None}]
        lines.append(fact(count + number, project="/src/shop"))
        if number % 5 == 0:
            text, secret = sample(kinds[number // 5 % len(kinds)])
            secrets.append(secret.encode())
            lines.append(fact(2 * count + number, content=text, project="/src/shop"))
        written(one, [json.dumps(line).encode() for line in lines])
        if number % (count // 5) == 0:
            one.sync(compact=number > count // 2)
    one.sync()
    other.sync()

    found = b"".join(memory.opened_blobs(one))
    assert f"fact {2 * count - 1}".encode() in found  # it is read, whole
    assert count == len(other.facts())
    assert b"stays-home" not in found
    assert b"/src/client" not in found
    assert [] == [secret for secret in secrets if secret in found or secret.splitlines()[0] in found]


def test_damaged_lines_stay(tmp_path):
    memory, one, other = both(tmp_path)
    written(one, [b"not json", b'{"type":"fact"}', json.dumps(fact(1)).encode(), b"\xff", b""])
    memory.settle()

    assert ["fact 1"] == other.facts()


def test_a_line_about_files_that_names_no_machine_takes_the_name_of_its_own(tmp_path):
    from eventlog.store.replica import replica_of

    memory, one, other = both(tmp_path)
    entry = {**fact(1), "type": "plan_entry", "key": {"path": "~/USER.md", "heading": "H"}, "operation": "update"}
    written(one, [json.dumps(entry).encode(), json.dumps(fact(2)).encode()])
    memory.settle()

    assert [replica_of(one.store), None] == [event.replica for event in other.log.read()]


def test_a_preview_counts_by_type_and_project_and_shows_the_newest(tmp_path):
    memory, one, _ = both(tmp_path)
    one.says("The tea is green")
    one.says("The cups are blue")
    one.put(type="host_event", name="x")
    before = memory.blobs()

    counts = preview(one.opened)

    assert {("fact", "/src/shop"): 2} == dict(counts.events)
    assert 1 == counts.marks
    assert "The cups are blue" == getattr(counts.newest[-1], "content", "")
    assert before == memory.blobs()
