"""A memory or a knowledge base as it was, and back again."""

from pathlib import Path
from typing import Any

import pytest

from eventlog.app.ask.history import replay_at
from eventlog.app.build.rebuild import replay_store
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.undo import restorable, undo, undoable
from eventlog.format import codec, ids, timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, Fact, Retraction
from eventlog.log.event_log import EventLog
from eventlog.projections.views.markdown import unstamped
from tests.support.bases import planned, user_md, write_user
from tests.support.use_cases import by_path, opened

pytestmark = pytest.mark.slow


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


def said(log, content, **fields):
    return log.append(Fact(conversation_id="s1", content=content, **fields))


def files(log):
    memory = unstamped(by_path(replay_at(opened(log)))["MEMORY.md"])
    assert memory == Path(log.store.knowledge, "MEMORY.md").read_text().split("\n")[:-3]
    return memory, user_md().read_text() if user_md().exists() else ""


@pytest.mark.parametrize("file", ["MEMORY.md", "user"])
def test_a_file_is_as_it_was_and_undo_makes_it_what_it_is(log, file):
    first, other = said(log, "tests run with nose", key="runner"), said(log, "ports are odd")
    planned(log, "Tea", "Green")
    planned(log, "Milk", "None")
    replay_store(opened(log))
    before, then = files(log), list(log.read())[-1].ts
    said(log, "tests run with pytest", key="runner")
    log.append(Retraction(conversation_id="human", target=other.id))
    planned(log, "Tea", "Oolong")
    replay_store(opened(log))
    write_user(user_md().read_text().replace("None", "Oats"))
    replay_store(opened(log))
    after = files(log)

    undo(opened(log), restorable(opened(log), file, then))

    which = ["MEMORY.md", "user"].index(file)
    assert files(log)[which] == before[which] != after[which]
    assert files(log)[1 - which] == after[1 - which]
    undo(opened(log), undoable(opened(log)))
    assert files(log) == after
    assert first.id


def three_entries(log):
    """Three texts of one section, one after the other; the time of the first."""
    write_user("# Me\n\nI wrote this.\n")
    times = []
    for text in ("one", "two", "three"):
        planned(log, "Work", text)
        replay_store(opened(log))
        times.append(list(log.read())[-1].ts)
    return times[0]


def test_a_restore_of_a_base_is_one_deed_for_undo(log):
    then = three_entries(log)
    undo(opened(log), restorable(opened(log), "user", then))
    assert "one" in user_md().read_text()

    undo(opened(log), undoable(opened(log)))

    assert "three" in user_md().read_text()


def test_a_restore_that_takes_one_thing_back_is_a_deed_all_the_same(log):
    three_entries(log)
    times = [event.ts for event in log.read()]
    undo(opened(log), restorable(opened(log), "user", times[-3]))
    assert "two" in user_md().read_text()

    undo(opened(log), undoable(opened(log)))
    assert "three" in user_md().read_text()
    undo(opened(log), undoable(opened(log)))  # further back
    assert "two" in user_md().read_text()


@pytest.mark.parametrize("steps", [1, 2])
def test_a_file_can_be_as_it_was_after_any_undo(log, steps):
    then = three_entries(log)
    for _ in range(steps - 1):
        undo(opened(log), undoable(opened(log)))
    planned(log, "Work", "four")
    replay_store(opened(log))
    undo(opened(log), undoable(opened(log)))
    assert {1: "three", 2: "two"}[steps] in user_md().read_text()

    undo(opened(log), restorable(opened(log), "user", then))

    assert user_md().read_text() == "# Me\n\nI wrote this.\n\n## Work\n\none\n"
    undo(opened(log), undoable(opened(log)))
    assert {1: "three", 2: "two"}[steps] in user_md().read_text()


def test_to_go_back_before_a_statement_and_its_rejection_does_not_wish_to_hear_it_again(log):
    then = said(log, "ports are odd").ts
    said(log, "the api key lives in vault seven")
    replay_store(opened(log))
    forget(opened(log), forgettable(opened(log), "the api key lives in vault seven"))
    said(log, "something else")
    replay_store(opened(log))

    found = restorable(opened(log), "MEMORY.md", then)
    undo(opened(log), found)
    said(log, "The api key lives in vault seven.")
    replay_store(opened(log))

    assert not any("vault" in line for line in files(log)[0])
    assert [*found.staying] == []  # it was not there then


def test_what_was_there_and_is_rejected_since_stays_rejected_until_that_is_named(log):
    said(log, "the api key lives in vault seven")
    then = said(log, "ports are odd").ts
    [rejected] = forget(opened(log), forgettable(opened(log), "the api key lives in vault seven")).events

    with pytest.raises(BadRequest, match="but for what you have forgotten") as refused:
        restorable(opened(log), "MEMORY.md", then)
    assert rejected.id in refused.value.hint
    said(log, "something else")
    found = restorable(opened(log), "MEMORY.md", then)
    undo(opened(log), found)

    assert [*found.staying] == [rejected]
    assert [line[15:] for line in files(log)[0] if line.startswith("- ")] == ["ports are odd"]
    undo(opened(log), undoable(opened(log), rejected.id))
    assert any("vault" in line for line in files(log)[0])


def test_a_rejection_that_was_taken_back_and_holds_again_is_not_lifted(log):
    said(log, "the api key lives in vault seven")
    said(log, "ports are odd")
    forget(opened(log), forgettable(opened(log), "the api key lives in vault seven"))
    then = undo(opened(log), undoable(opened(log))).events[0]
    undo(opened(log), undoable(opened(log), then.id))
    said(log, "something else")

    undo(opened(log), restorable(opened(log), "MEMORY.md", then.ts))

    assert [line[15:] for line in files(log)[0] if line.startswith("- ")] == ["ports are odd"]


def test_a_text_from_before_any_entry_is_nothing_that_changed_since(log):
    write_user("# Me\n\n## Work\n\nmine\n")
    then = said(log, "ports are odd").ts
    planned(log, "Tea", "Green")
    replay_store(opened(log))
    planned(log, "Work", "mine\nand an agent's")
    replay_store(opened(log))
    assert "agent's" in user_md().read_text()

    undo(opened(log), restorable(opened(log), "user", then))

    assert user_md().read_text() == "# Me\n\n## Work\n\nmine\n"


def test_what_is_as_it_was_and_files_that_only_tell_are_refused(log):
    said(log, "ports are odd")
    replay_store(opened(log))

    with pytest.raises(BadRequest, match="as it was then"):
        restorable(opened(log), "MEMORY.md", "~")
    with pytest.raises(BadRequest, match="only a MEMORY"):
        restorable(opened(log), "sessions.jsonl", "2026-01-01")


@pytest.mark.parametrize("days_between", [[], [2], [2, 3]])
@pytest.mark.parametrize("between", ["knowledge_edited", "session_start"])
def test_an_entry_that_a_decision_let_through_days_ago_is_part_of_it_unless_something_came_between(
    log, days_between, between
):
    key = {"path": "user", "heading": "Rules"}
    told: list[tuple[int, str, dict[str, Any]]] = [
        (1, "plan_entry", {"key": key, "operation": "update", "content": "Be kind"})
    ]
    told += [(1, "entry_resolved", {"choice": "apply", "agent": "human"})]
    told += [(day, between, {"key": key, "content": "Mine"}) for day in days_between]
    told += [(5, "entry_applied", {"path": "USER.md", "heading": "Rules", "level": 2, "digest": "0"})]
    events: list[Event] = []
    for second, (day, kind, fields) in enumerate(told):
        ts = f"2026-02-{day:02}T10:00:{second:02}.000000Z"
        about = {"v": 1, "id": ids.derived(timestamps.to_ms(ts), f"{second}"), "ts": ts, "conversation_id": "c"}
        target = {"target": events[0].id} if kind.startswith("entry_") else {}
        events.append(codec.from_fields({**about, "type": kind, **target, **fields}))
    log.put(events)
    is_part = between == "knowledge_edited" or not days_between

    assert is_part == (undoable(opened(log)).event.type != "entry_applied")


def test_a_restore_reads_no_event_that_changes_no_file(log, monkeypatch):
    said(log, "ports are odd")
    then = said(log, "tests run with nose").ts
    log.append({"type": "host_event", "conversation_id": "s1", "name": "PreToolUse"})
    late = said(log, "tests run with pytest")
    store = opened(log)
    monkeypatch.delattr(EventLog, "read")  # which decodes every event

    assert [late] == restorable(store, "MEMORY.md", then).targets
