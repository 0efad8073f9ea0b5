"""The fast reading of words is the slow one, of those lines that hold them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast import fastjson
from eventlog.format.events import Rejected, Retraction
from eventlog.log.event_log import EventLog
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.replay import replay
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.settings.schema import Settings
from tests.support import strategies
from tests.support.builders import DAY, contents, day_of, fact, write
from tests.support.strategies import stored_lines

WORDS = (b'"fact"', b'"stage_summary"', b'"retraction"')


def _id(line):
    """Of an event; None of junk."""
    found = fastjson.loads(line) if line.startswith(b'{"v"') else None
    return found["id"] if isinstance(found, dict) else None


def by_id(events):
    return {event.id: event for event in events}


@given(st.lists(stored_lines | strategies.junk_lines, max_size=12), st.booleans())
def test_what_is_found_by_its_words_is_what_a_whole_reading_finds(tmp_path_factory, lines, whole):
    lines = list({_id(line) or (line, number): line for number, line in enumerate(lines)}.values())
    file = Path(tmp_path_factory.mktemp("log"), f"{DAY}.jsonl")
    file.write_bytes(b"\n".join(lines) + (b"\n" if whole else b""))
    day = day_of(str(file))
    expected = [entry.event for entry in day.entries()[0] if any(word in entry.line for word in WORDS)]

    assert by_id(expected) == by_id(day.load_mentioning(WORDS))


def test_every_kind_of_spacing_is_found(log_dir):
    spaced = fastjson.dumps(fact(1)).replace(b'"type":"fact"', b'"type" : "fact"')
    file = write(log_dir, spaced + b"\n")

    assert ["fact 1"] == contents(day_of(file).load_mentioning(WORDS))


def test_of_two_files_of_a_day_each_event_is_found_once(log_dir):
    one = write(log_dir, fastjson.dumps(fact(1)) + b"\n")
    two = write(log_dir, fastjson.dumps(fact(1)) + b"\n" + fastjson.dumps(fact(2)) + b"\n", f"{DAY}.laptop.jsonl")

    assert ["fact 1", "fact 2"] == sorted(contents(day_of(one, two).load_mentioning(WORDS)))


def test_a_line_without_them_is_never_decoded(log_dir, monkeypatch):
    file = write(log_dir, b'{"type":"turn_end","v":99}\n' + fastjson.dumps(fact(1)) + b"\n")
    monkeypatch.setattr("eventlog.log.lines.LogLine.check", lambda *_, **__: pytest.fail("decoded"))

    assert len(day_of(file).load_mentioning(WORDS)) == 1


@pytest.mark.parametrize(("until", "expected"), [(9, 3), (1, 2), (0, 1)])
def test_only_what_was_withdrawn_until_then_is_told(log, until, expected):
    made = {"type": "retraction", "conversation_id": "x"}
    log.append_many([{**made, "ts": fact(n)["ts"], "conversation": f"c{n}"} for n in range(3)])

    assert expected == len(withdrawals_until(log, MemoryRows(), fact(until)["ts"]))


@pytest.mark.parametrize("is_kept", [False, True])
def test_lines_that_withdraw_are_looked_for_and_none_where_their_days_are_kept(log, monkeypatch, is_kept):
    log.append_many([fact(0, day="2026-01-01"), fact(1)])
    opened, shelf = [], MemoryRows()
    if is_kept:
        replay(log, Settings(), cache=shelf)

    def load(day, _):
        opened.append(day.date)
        return []

    monkeypatch.setattr("eventlog.log.days.Day.load_mentioning", load)
    withdrawals_until(log, shelf)

    assert opened == ([] if is_kept else ["2026-01-01", DAY])


def test_withdrawals_are_those_that_a_whole_reading_finds(log):
    said = log.append(fact(1))
    log.append({"type": "retraction", "ts": fact(2)["ts"], "conversation_id": "x", "target": said.id})
    common = {name: fact(3)[name] for name in ("v", "id", "ts")}
    rejected = {**common, "type": "rejected", "conversation_id": "x", "agent": "human", "target": said.id}
    write(log.store.log, fastjson.dumps(rejected) + b"\n", f"{DAY}.laptop.jsonl")
    log.append({"type": "retraction", "ts": fact(9)["ts"], "conversation_id": "x", "conversation": "later"})
    until = fact(8)["ts"]
    expected = [one for one in log.read(until=until) if isinstance(one, Retraction | Rejected)]

    assert ["retraction", "rejected"] == [type(one).__name__.lower() for one in expected]
    assert by_id(expected) == by_id(withdrawals_until(log, MemoryRows(), until))


def test_a_conversation_that_is_withdrawn_is_known_with_nothing_of_it_read(log):
    log.append_many([fact(1), {"type": "retraction", "ts": fact(2)["ts"], "conversation_id": "x", "conversation": "c"}])

    assert ["c"] == [getattr(one, "conversation", None) for one in withdrawals_until(log, MemoryRows())]


def test_a_withdrawal_told_twice_on_two_days_counts_once(tmp_path):
    log = EventLog(tmp_path / "store")
    first = {**fact(1), "type": "retraction", "target": fact(0)["id"]}
    write(log.store.log, fastjson.dumps(first) + b"\n")
    write(log.store.log, fastjson.dumps({**first, "ts": "2026-02-21T00:00:00.000000Z"}) + b"\n", "2026-02-21.jsonl")

    assert [first["ts"]] == [one.ts for one in withdrawals_until(log, MemoryRows())]
