"""Lines found without a library are those the careful reader finds, or are left to it."""

import pytest

from eventlog.format import ids
from eventlog.log import raw_lines
from eventlog.log.event_log import EventLog
from tests.support.builders import DAY, NEXT_DAY, fact, line, lines, write

OTHER = line(9, conversation_id="other") + b"\n"


def careful(log):
    return [entry.line + b"\n" for entry in log.session_entries("c")]


@pytest.mark.parametrize("indexed", [False, True])
def test_a_conversation_is_its_lines_in_order_over_all_days(log, indexed):
    write(log.store.log, lines(3, 1) + OTHER)
    write(log.store.log, line(0, day=NEXT_DAY) + b"\n", f"{NEXT_DAY}.jsonl")
    write(log.store.log, lines(2), f"{DAY}.laptop.jsonl")
    if indexed:
        log.index.catch_up()

    assert careful(log) == raw_lines.of_session(log.store, "c")
    assert 4 == len(careful(log))
    assert [OTHER] == raw_lines.of_session(log.store, "other")


def test_what_came_after_the_index_is_found(log):
    write(log.store.log, lines(0))
    log.index.catch_up()
    write(log.store.log, lines(0, 1))

    assert careful(log) == raw_lines.of_session(log.store, "c") == [line(0) + b"\n", line(1) + b"\n"]


def test_an_event_is_its_line(log):
    write(log.store.log, lines(0, 1) + line(2, content=f"as in {fact(1)['id']}") + b"\n")

    assert [line(1) + b"\n"] == raw_lines.of_event(log.store, fact(1)["id"])


UNUSUAL = {
    "another spelling": line(0).replace(b'":', b'": ', 1) + b"\n",
    "another writer's line break": line(0) + b"\r\n",
    "no end yet": line(0),
    "torn": line(0)[:-1] + b"\n",
    "another version": line(0, v=2) + b"\n",
    "twice": lines(0, 0),
    "the file of another day": line(0, day=NEXT_DAY) + b"\n",
    "the id of another day": line(0, id=ids.derived(0, "x")) + b"\n",
    "no id": line(0, id=None) + b"\n",
}


@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_is_left_to_the_careful_reader(log, data):
    write(log.store.log, lines(1) + data)

    assert raw_lines.of_session(log.store, "c") is None


def test_nothing_is_left_to_the_careful_reader(log):
    assert raw_lines.of_session(log.store, "c") is None
    write(log.store.log, lines(0))

    assert raw_lines.of_session(log.store, "nobody") is None
    assert raw_lines.of_event(log.store, fact(5)["id"]) is None
    assert raw_lines.of_event(log.store, fact(0)["id"][:13]) is None
    assert raw_lines.of_event(log.store, "no id") is None


def test_more_than_a_little_that_is_not_indexed_is_left_to_whoever_can_renew_the_index(log, monkeypatch):
    monkeypatch.setattr(raw_lines, "_SEARCH_AT_MOST", 100)
    write(log.store.log, lines(0))
    assert raw_lines.of_session(log.store, "c") is None
    EventLog(log.store).index.catch_up()

    assert [line(0) + b"\n"] == raw_lines.of_session(log.store, "c")
