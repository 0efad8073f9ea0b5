"""What a conversation has come to is told the same whether the index knows of it, or half of it, or nothing."""

import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.format import codec
from eventlog.hooks.conversation import TooMuch, turns_unsaved
from eventlog.log.event_log import EventLog
from eventlog.store import day_of, index_lookup
from tests.support.builders import DAY, DAY_NS, NEXT_DAY, NOON, Clock, write

KINDS: dict[str, dict[str, object]] = {
    "turn": {"type": "turn_end"},
    "fact": {"type": "fact", "content": "x"},
    "asked": {"type": "save_requested", "trigger": "stop"},
    "flushed": {"type": "save_requested", "trigger": "pre_compact"},
    "tool": {"type": "host_event", "name": "PostToolUse", "payload": {"type": "fact", "conversation_id": "c"}},
    "helper": {"type": "fact", "content": "x", "subagent": "a"},
}
happenings = st.lists(
    st.tuples(st.sampled_from([*KINDS]), st.sampled_from(["c", "d", 'q"\\']), st.integers(0, 3)), max_size=12
)


@given(happenings, st.integers(0, 12))
def test_the_index_changes_nothing(tmp_path_factory, happened, indexed):
    store = tmp_path_factory.mktemp("store")
    clock = Clock()
    log = EventLog(store, fsync=False, clock=clock)
    for number, (kind, conversation, day) in enumerate(sorted(happened, key=lambda one: one[2])):
        clock.now = NOON + day * DAY_NS
        log.append({**KINDS[kind], "conversation_id": conversation})
        if number == indexed:
            log.index.catch_up()
    for conversation in ("c", "d", 'q"\\', "nobody"):
        kinds = [kind for kind, who, _ in happened if who == conversation]
        decided = "fact" in kinds or "asked" in kinds
        assert (None if decided else kinds.count("turn")) == turns_unsaved(log.store, conversation)


@pytest.mark.parametrize("indexed", [False, True])
def test_a_replicas_copy_of_a_turn_is_the_same_turn(log, indexed):
    log.append({"type": "turn_end", "conversation_id": "c"})
    (file,) = log.days()[0].files
    write(log.store.log, Path(file).read_bytes(), f"{DAY}.laptop.jsonl")
    if indexed:
        log.index.catch_up()

    assert 1 == turns_unsaved(log.store, "c")


def test_a_replica_counts(log):
    line = codec.encode(log.append({"type": "turn_end", "conversation_id": "c"}))
    fact = {"type": "fact", "content": "x", "conversation_id": "c", "ts": f"{NEXT_DAY}T00:00:00.000000Z"}
    other = EventLog(f"{log.store.root}-other", fsync=False)
    other.append(fact)
    write(log.store.log, Path(other.days()[0].files[0]).read_bytes(), f"{NEXT_DAY}.laptop.jsonl")

    assert line
    assert turns_unsaved(log.store, "c") is None


@pytest.mark.parametrize("damage", [b'{"conversation_id":"c","type":"fa', b'"conversation_id":"c"\n', b'\xff"c"\n'])
def test_damage_costs_only_itself(log, damage):
    log.append({"type": "turn_end", "conversation_id": "c"})
    with Path(log.days()[0].files[0]).open("ab") as opened:
        opened.write(damage)

    assert 1 == turns_unsaved(log.store, "c")


def test_a_damaged_index_is_no_index(log):
    log.append({"type": "fact", "content": "x", "conversation_id": "c"})
    log.index.catch_up()
    write(log.store.cache, b"{}\ngarbage", "conversations.index")

    assert turns_unsaved(log.store, "c") is None


def test_no_log_is_no_history(log):
    assert 0 == turns_unsaved(log.store, "c")


def test_more_than_can_be_searched_is_not_searched(log, monkeypatch):
    log.append({"type": "turn_end", "conversation_id": "c"})
    monkeypatch.setattr("eventlog.hooks.conversation._SEARCH_AT_MOST", 5)

    with pytest.raises(TooMuch):
        turns_unsaved(log.store, "c")


def test_what_is_indexed_needs_no_search(log, monkeypatch):
    log.append({"type": "turn_end", "conversation_id": "c"})
    log.index.catch_up()
    monkeypatch.setattr("eventlog.hooks.conversation._SEARCH_AT_MOST", 5)

    assert 1 == turns_unsaved(log.store, "c")


def test_where_an_indexed_file_was_written_over_all_of_it_is_searched(log):
    for _ in range(2):
        log.append({"type": "turn_end", "conversation_id": "c"})
    log.index.catch_up()
    path = Path(log.days()[0].files[0])
    with path.open("r+b") as opened:  # the same file by its inode
        opened.write(b'{"note":"written before the others"}\n' + path.read_bytes())

    assert 2 == turns_unsaved(log.store, "c")


def test_where_the_index_knows_of_a_save_no_other_file_is_looked_at(log, monkeypatch):
    log.append({"type": "fact", "content": "x", "conversation_id": "c"})
    log.index.catch_up()
    monkeypatch.setattr(index_lookup, "names_of", None)

    assert turns_unsaved(log.store, "c") is None


SAVE = {"type": "fact", "content": "x", "conversation_id": "new", "ts": f"{DAY}T13:00:00.000000Z"}


@pytest.fixture
def looks(log, monkeypatch):
    """Return a log whose days that are over were looked at for a new conversation, and the files looked at since."""
    for day in (DAY, NEXT_DAY):
        log.append({"type": "turn_end", "conversation_id": "c", "ts": f"{day}T12:00:00.000000Z"})
    log.index.catch_up()
    monkeypatch.setattr(index_lookup, "_TICK", -1)
    time.sleep(0.02)  # so that the directory changes at another time from now on
    assert turns_unsaved(log.store, "new") is not None
    names, look = [], index_lookup.stamp_of

    def noting(log_dir, name, *rest):
        names.append(name)
        return look(log_dir, name, *rest)

    monkeypatch.setattr(index_lookup, "stamp_of", noting)
    return log, names


def line_of(log, event):
    other = EventLog(f"{log.store.root}-other", fsync=False)
    other.append(event)
    return Path(other.days()[0].files[0]).read_bytes()


def test_days_that_are_over_are_not_looked_at_for_each_new_conversation(looks, monkeypatch):
    log, names = looks
    monkeypatch.setattr(index_lookup, "names_of", None)

    assert turns_unsaved(log.store, "new") is not None
    assert not names
    assert 2 == turns_unsaved(log.store, "c")
    assert {f"{DAY}.jsonl", f"{NEXT_DAY}.jsonl"} == set(names)  # which have lines of it


@pytest.mark.parametrize(
    "happens",
    [
        lambda log: log.append(SAVE),
        lambda log: write(log.store.log, line_of(log, SAVE), f"{DAY}.laptop.jsonl"),
        lambda log: Path(write(log.store.log, line_of(log, SAVE), "new")).replace(log.days()[0].files[0]),
    ],
    ids=["appended", "a file came", "a file was replaced"],
)
def test_what_happens_to_a_day_that_is_over_counts_at_once(looks, happens):
    log, _ = looks
    happens(log)

    assert turns_unsaved(log.store, "new") is None
    assert turns_unsaved(log.store, "new") is None


@pytest.mark.parametrize("then", ["ten minutes", "another index"])
def test_what_another_program_writes_into_a_day_that_is_over_counts_in_ten_minutes_or_with_another_index(
    looks, monkeypatch, then
):
    log, _ = looks
    with Path(log.days()[0].files[0]).open("ab") as opened:
        opened.write(line_of(log, SAVE))
    if then == "ten minutes":
        monkeypatch.setattr(index_lookup, "_GONE_BY", 0)
    else:
        log.index.catch_up()

    assert turns_unsaved(log.store, "new") is None


def test_a_day_that_is_not_indexed_is_searched_for_each_conversation(looks):
    log, _ = looks
    log.append({**SAVE, "conversation_id": "other"})
    for conversation in ("new", "other", "new", "other"):
        assert (conversation == "other") == (turns_unsaved(log.store, conversation) is None)


def test_what_today_has_is_read_also_where_the_directory_is_not(looks, monkeypatch):
    log, names = looks
    today, turn = EventLog(log.store.root, fsync=False), {"type": "turn_end", "conversation_id": "new"}
    today.append(turn)
    time.sleep(0.02)
    assert 1 == turns_unsaved(log.store, "new")
    monkeypatch.setattr(index_lookup, "names_of", None)
    names.clear()

    today.append(turn)
    assert 2 == turns_unsaved(log.store, "new")
    assert 1 == len(names)


@pytest.mark.parametrize("cut", [lambda note: note[:-9], lambda note: note.replace(b"\n", b"", 1)])
def test_a_part_of_a_note_of_a_look_is_none(looks, cut):
    log, names = looks
    note = Path(log.store.cached("conversations.looked"))
    note.write_bytes(cut(note.read_bytes()))

    assert turns_unsaved(log.store, "new") is not None
    assert f"{DAY}.jsonl" in names


@pytest.mark.parametrize("note", [b"", b"\xff", b"2026-02-20", b"a b c\nd", b"2026-02-20 x 1 2 3 4\n()"])
def test_a_damaged_note_of_a_look_is_none(looks, note):
    log, names = looks
    write(log.store.cache, note, "conversations.looked")

    assert turns_unsaved(log.store, "new") is not None
    assert f"{DAY}.jsonl" in names


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)


@given(st.dictionaries(ids, st.integers(1, 40), max_size=30), ids)
@example({"a": 1, "b": 400, "c": 1}, "bb")  # a line of the index that is longer than most
def test_the_index_is_searched_without_reading_it(tmp_path_factory, counts, stranger):
    root = tmp_path_factory.mktemp("store")
    log = EventLog(root, fsync=False, clock=Clock())
    log.append_many(
        [{"type": "turn_end", "conversation_id": one} for one, count in counts.items() for _ in range(count)]
    )
    log.index.catch_up()
    path = log.store.cached("conversations.index")

    assert counts == {one: sum(map(len, index_lookup.look_up(path, one)[1].values())) for one in counts}
    assert stranger in counts or not index_lookup.look_up(path, stranger)[1]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("2026-02-20.jsonl", True),
        ("2026-02-20.laptop.jsonl", True),
        ("2026-02-20.my-laptop_2.jsonl", True),
        ("2026-02-20.a.b.jsonl", True),
        ("2026-02-20.jsonl.lock", False),
        ("notes.jsonl", False),
        ("2026-2-20.jsonl", False),
        ("2026-02-20", False),
    ],
)
def test_day_files_are_known_by_their_names(name, is_one):
    assert is_one == bool(day_of(name))
