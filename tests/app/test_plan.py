"""The library call that declares plan entries."""

from pathlib import Path

import pytest

from eventlog import BadRequest, EventLog, plan


def test_one_entry_flat_or_as_in_the_format(log):
    flat = {"path": "user", "heading": "S", "content": "x", "reason": "why", "confidence": 0.5}
    nested = {"key": {"path": "user", "heading": "S"}, "content": "x", "meta": {"reason": "why", "confidence": 0.5}}
    one, other = (plan(log, entry, session="s", agent="a")[0] for entry in (flat, nested))

    assert (one.key, one.content, one.meta, one.agent, one.batch) == (other.key, other.content, other.meta, "a", None)
    assert [one, other] == list(log.read())


def test_several_entries_share_a_batch(log):
    stored = plan(log, [{"path": "user", "heading": name, "content": "x"} for name in "ab"], session="s")

    assert len({one.batch for one in stored}) == 1
    assert stored[0].batch


def test_a_store_is_given_by_its_directory(tmp_path):
    plan(tmp_path / "new", {"path": "user", "heading": "S", "content": "x"}, session="s")

    assert len(list(EventLog(tmp_path / "new").read())) == 1


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"path": "user", "content": "x"}, ".key.heading: missing"),
        ({"path": "user", "heading": " ", "content": "x"}, ".key.heading: must not be blank"),
        ({"path": "user", "heading": "S", "operation": "replace"}, ".operation: must be one of no-op, update, clear"),
        ({"heading": "S", "content": "x"}, "exactly one of path and url"),
        ({"path": "user", "heading": "S", "content": "x", "colour": "red"}, "unknown field `colour`"),
        ({"path": "user", "heading": "S", "content": "# x"}, "has a heading"),
        ({"path": "user", "heading": "S", "operation": "update"}, "needs a content"),
        ({"path": "nowhere", "heading": "S", "content": "x"}, "not a knowledge base"),
    ],
)
def test_a_mistake_in_one_of_them_stores_none(log, entry, said):
    good = {"path": "user", "heading": "S", "content": "x"}

    with pytest.raises(BadRequest, match=r"entries\[1\]") as caught:
        plan(log, [good, entry], session="s")
    assert said in str(caught.value)
    assert list(log.read()) == []


def test_a_mistake_in_the_settings_loses_no_entry(log):
    Path(log.store.root).mkdir()
    Path(log.store.config).write_text("nonsense: 1\n")
    plan(log, {"path": "user", "heading": "S", "content": "x"}, session="s")

    assert [one.key.path for one in log.read()] == ["user"]


def test_the_file_name_of_a_base_and_the_fields_of_the_first_program_are_taken(log):
    entry = {
        "path": "USER.md",
        "heading": "S",
        "content": "x",
        "under": ["T"],
        "created_at": "2026-02-20",
        "session_id": "y",
    }
    [event] = plan(log, entry, session="s")

    assert ("user", ("T",)) == (event.key.path, event.key.under)
    assert ("2026-02-20", "y") == (event.meta.created_at, event.meta.session_id)
