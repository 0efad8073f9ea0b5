import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import EventLog, Fact, InvalidEvent, NotStored
from eventlog.fast import fastjson
from eventlog.format import codec, timestamps
from eventlog.format.timestamps import order
from eventlog.log import days
from eventlog.store.replica import replica_of
from tests.support.builders import DAY, DAY_NS, NEXT_DAY, NOON, at, contents, fact, line, lines, write
from tests.support.strategies import any_event, stored_events, times

MIDNIGHT = timestamps.to_ms(f"{NEXT_DAY}T00:00:00.000000Z") * 1_000_000


def said(content, **fields):
    return Fact(conversation_id="c", content=content, **fields)


@given(any_event)
def test_what_append_returns_is_what_is_read(tmp_path_factory, event):
    log = EventLog(tmp_path_factory.mktemp("store"), fsync=False)
    stored = log.put([event])[0].event

    assert [stored] == list(log.read())
    assert event == msgspec.structs.replace(stored, id="", ts="", replica=event.replica)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"type": "entry_applied", "target": "e", "path": "p", "heading": "H", "level": 2, "digest": "d"}, True),
        ({"type": "knowledge_edited", "key": {"path": "user", "heading": "H"}, "content": "x"}, True),
        ({"type": "plan_entry", "key": {"path": "user", "heading": "H"}, "content": "x"}, True),
        ({"type": "retraction", "target": "e", "agent": "human"}, True),
        ({"type": "retraction", "target": "e", "agent": "cursor"}, False),
        ({"type": "knowledge_edited", "key": {"path": "user", "heading": "H"}, "ts": f"{DAY}T00:00:00.000000Z"}, False),
    ],
)
def test_what_tells_of_this_machine_is_named_after_the_store_unless_it_is_imported(log, fields, named):
    stored = log.put([{"conversation_id": "c", **fields}])[0].event

    assert (replica_of(log.store) or None) == stored.replica
    assert named is (stored.replica is not None)
    assert "laptop" == log.put([{"conversation_id": "d", **fields, "replica": "laptop"}])[0].event.replica


@pytest.mark.slow
@given(st.lists(stored_events(times), max_size=8, unique_by=lambda event: event.id))
def test_imported_events_are_read_in_order_each_once(tmp_path_factory, events):
    log = EventLog(tmp_path_factory.mktemp("store"), fsync=False)
    log.put(events)
    log.put(reversed(events))
    read = [(event.ts, event.id) for event in log.read()]

    assert sorted({(event.ts, event.id) for event in events}) == read


@pytest.mark.slow
@given(st.lists(stored_events(times), min_size=1, max_size=6), times, times)
def test_a_part_of_the_log_is_what_the_whole_has_in_that_time(tmp_path_factory, events, since, until):
    log = EventLog(tmp_path_factory.mktemp("store"), fsync=False)
    log.put(events)
    bounds = sorted([since, until])

    assert [e for e in log.read() if bounds[0] <= e.ts <= bounds[1]] == list(log.read(*bounds))


def test_a_live_event_has_the_time_of_the_clock(log):
    assert at(0) == log.append(said("x")).ts


def test_times_grow_by_a_microsecond_at_least(log):
    times = [event.ts for event in log.append_many([said("a"), said("b")])] + [log.append(said("c")).ts]

    assert [f"{DAY}T12:00:00.00000{n}Z" for n in range(3)] == times


@pytest.mark.parametrize("back", [1, 10**9, DAY_NS, 400 * DAY_NS])
def test_a_clock_that_steps_back_does_not_change_the_order(log, clock, back):
    clock.now = MIDNIGHT + 5
    log.append(said("first"))
    clock.now -= back
    log.append(said("second"))

    assert ["first", "second"] == contents(sorted(log.read(), key=order))


def test_a_batch_across_midnight_lies_in_one_file(log, clock):
    clock.now = MIDNIGHT - 2000
    stored = log.append_many([said(str(n)) for n in range(5)])

    assert {NEXT_DAY} == {event.ts[:10] for event in stored}
    assert ["0", "1", "2", "3", "4"] == contents(log.read())


def test_the_same_import_twice_adds_nothing(log):
    facts = [{**fact(n), "id": ""} for n in range(3)]
    first, second = log.put(facts), log.put(facts)

    assert ([True] * 3, [False] * 3) == ([one.new for one in first], [one.new for one in second])
    assert [one.event for one in first] == [one.event for one in second] == list(log.read())


def test_the_same_event_twice_in_a_batch_is_stored_once(log):
    assert [True, False] == [one.new for one in log.put([fact(), fact()])]
    assert 1 == len(list(log.read()))


def test_an_id_already_there_gives_back_the_event_that_is_there(log):
    log.append(fact(content="first"))

    assert "first" == log.append(fact(content="second")).content


@pytest.mark.parametrize("there", [b"\xef\xbb\xbf" + lines(0), line(0), b"junk\n" + lines(0)])
def test_an_event_that_can_be_read_is_not_stored_again(log, log_dir, there):
    write(log_dir, there)

    assert [False] == [one.new for one in log.put([fact()])]


@pytest.mark.parametrize("damage", [line(0, confidence=9), line(0)[:-1], line(0, day=NEXT_DAY, id=fact()["id"])])
def test_an_event_whose_line_was_damaged_can_be_stored_again(log, log_dir, damage):
    write(log_dir, damage + b"\n")

    assert [True] == [one.new for one in log.put([fact()])]
    assert ["fact 0"] == contents(log.read())


def test_an_event_of_a_replica_is_not_stored_again(log, log_dir):
    write(log_dir, lines(0), f"{DAY}.laptop.jsonl")

    assert [False] == [one.new for one in log.put([fact()])]


def test_an_imported_event_goes_to_the_day_it_happened(log, log_dir):
    log.append_many([fact(day="1970-01-01"), fact(day=NEXT_DAY), fact()])

    assert ["1970-01-01.jsonl", f"{DAY}.jsonl", f"{NEXT_DAY}.jsonl"] == sorted(path.name for path in log_dir.iterdir())


def test_a_batch_comes_back_in_the_order_given(log):
    batch = [fact(3), said("live"), fact(1, day=NEXT_DAY), said("too"), fact(2)]

    assert ["fact 3", "live", "fact 1", "too", "fact 2"] == contents(log.append_many(batch))


TOO_LONG = "x" * (fastjson.MAX_LINE - 60)  # fits before it has its time and id


@pytest.mark.parametrize("wrong", [fact(confidence=2), fact(content=TOO_LONG), said(TOO_LONG), {}, said("")])
def test_one_invalid_event_refuses_the_batch(log, log_dir, wrong):
    with pytest.raises(InvalidEvent):
        log.append_many([fact(0, day=NEXT_DAY), said("live"), wrong])
    assert [] == list(log_dir.iterdir())


def test_an_empty_batch_is_nothing(log, log_dir):
    assert ([], []) == (log.append_many([]), list(log_dir.iterdir()))


def test_a_log_that_cannot_be_written_acknowledges_nothing(tmp_path):
    (tmp_path / "store").write_text("in the way")

    with pytest.raises(NotStored):
        EventLog(tmp_path / "store").append(said("x"))


def test_a_session_is_found_over_all_days(log):
    log.append_many([fact(0, day=day, conversation_id=name) for day in (DAY, NEXT_DAY) for name in ("c", "d")])

    assert [DAY, NEXT_DAY] == [event.ts[:10] for event in log.session("c")]


def test_the_lines_of_entries_are_the_bytes_on_disk(log, log_dir):
    foreign = line(0).replace(b'":', b'": ')
    write(log_dir, foreign + b"\n")

    assert [foreign] == [entry.line for entry in log.entries()]


def test_a_day_holds_what_can_be_read_of_it(log, log_dir):
    write(log_dir, lines(0) + line(1, confidence=9) + b"\n")

    assert [{fact(0)["id"]}, set()] == [log.holding(day, {fact(0)["id"], fact(1)["id"]}) for day in (DAY, NEXT_DAY)]


def test_half_a_surrogate_pair_comes_back_as_it_was_stored(log):
    stored = log.append({"type": "turn_end", "conversation_id": "c\ud83d", "project": "/p\udcff", "note\ud800": 1})

    assert [stored] == list(log.read()) == log.session("c\ufffd")
    assert codec.encode(stored) == next(log.entries()).line


@pytest.mark.parametrize("day", ["1970-01-01", "9998-12-31"])
def test_the_log_takes_times_of_the_years_1970_to_9998(log, day):
    stored = log.append({**fact(day=day), "id": ""})

    assert [stored] == list(log.read())
    assert stored == codec.check(stored)


@pytest.mark.parametrize("day", ["1969-12-31", "0001-01-01", "9999-01-01"])
def test_a_time_of_another_year_is_refused_and_damage_to_a_reader(log, log_dir, day):
    with pytest.raises(InvalidEvent, match="is not a time of the"):
        log.append({**fact(day=day), "id": ""})
    file = write(log_dir, line(day=day) + b"\n", f"{day}.jsonl")

    assert [[("invalid", file)]] * 2 == [
        [(one.kind, one.file) for one in read(days.Day(day, (file,)))[1]] for read in (days.Day.load, days.Day.entries)
    ]


def test_the_clock_is_asked_again_under_the_lock(tmp_path):
    moments = iter([NOON, NOON + 7000])

    assert f"{DAY}T12:00:00.000007Z" == EventLog(tmp_path, clock=lambda: next(moments)).append(said("x")).ts
