"""What a clock that was wrong has dated outranks nothing said since, and every clock is lived with."""

import time
from pathlib import Path

import pytest

from eventlog import EventLog, Fact, NotStored
from eventlog.app.naming.references import events_named, session_meant
from eventlog.app.sync import receiving
from eventlog.format import codec, timestamps
from eventlog.format.events import PlanEntry, SectionKey
from eventlog.format.timestamps import counts_at, order
from eventlog.projects.root import project_root
from eventlog.store import Store
from eventlog.store.append_once import append_once
from tests.support import builders
from tests.support.command_line import call

FUTURE = timestamps.to_ns("2031-01-01T10:00:00.000000Z")
TODAY = timestamps.to_ns("2026-02-20T12:00:00.000000Z")
SECOND = 10**9


def port(content):
    return Fact(conversation_id="s", content=content, key="port", scope="user")


def at(store, now):
    return EventLog(store, clock=lambda: now, fsync=False)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return str(tmp_path / "store")


@pytest.fixture
def future(store):
    """A store in which somebody spoke while the clock was years ahead."""
    at(store, FUTURE).append(port("port is 2031"))
    section = SectionKey(path="USER.md", heading="Ports")
    at(store, FUTURE + SECOND).put([PlanEntry(conversation_id="s", key=section, content="of the future")])
    return store


@pytest.mark.parametrize("ahead", [1, SECOND, 59 * SECOND])
def test_a_clock_set_back_a_little_is_followed_by_whatever_process_writes_next(store, ahead):
    first = at(store, TODAY + ahead).append(port("first"))
    second = at(store, TODAY).append(port("second"))
    append_once(Store(store), {"type": "turn_end", "conversation_id": "c"}, "k", sync=False, clock=lambda: TODAY)
    third = list(at(store, TODAY).read())[-1]

    assert first.ts < second.ts < third.ts
    assert (None, None) == (second.after, third.after)


@pytest.mark.parametrize("ahead", [61 * SECOND, 3600 * SECOND, 400 * 86_400 * SECOND])
def test_a_clock_set_back_far_is_not_followed_but_what_is_said_counts_after(store, ahead):
    first = at(store, TODAY + ahead).append(port("first"))
    log = at(store, TODAY)
    said = [log.append(port("second")), *log.append_many([port("third"), port("fourth")])]
    append_once(Store(store), {"type": "turn_end", "conversation_id": "c"}, "k", sync=False, clock=lambda: TODAY)
    tomorrow = at(store, min(TODAY + 86_400 * SECOND, TODAY + ahead - 60 * SECOND - 1)).append(port("fifth"))

    assert log.ahead
    assert {"2026-02-20"} == {event.ts[:10] for event in said}
    hook = max((event for event in log.read() if event.type == "turn_end"), key=order)
    counted = [counts_at(event) for event in (first, *said, hook, tomorrow)]
    assert sorted(set(counted)) == counted


@pytest.mark.parametrize("ahead", [SECOND, 20 * 60 * SECOND])
def test_what_is_said_after_another_machine_of_a_faster_clock_was_heard_counts_after_it(store, ahead):
    log = at(store, TODAY)
    heard: list[str] = []

    def hear(number):
        said = builders.fact(number, ts=timestamps.from_ns(TODAY + ahead + number * SECOND), content=f"heard {number}")
        line = codec.encode(codec.from_fields(said)) + b"\n"
        assert 1 == receiving.take_in(log, "laptop-1", "2026-02-20", line, {})
        heard.append(said["ts"])

    def is_after_all(said):
        return max(heard) < counts_at(said)

    log.append(port("first"))
    hear(1)
    assert is_after_all(log.append(port("second")))
    hear(2)  # the file is there already
    assert is_after_all(log.append(port("third")))
    hear(3)
    append_once(Store(store), {"type": "turn_end", "conversation_id": "c"}, "k", sync=False, clock=lambda: TODAY)
    assert is_after_all(max((event for event in log.read() if event.type == "turn_end"), key=order))


def test_once_the_clock_has_arrived_there_events_are_dated_as_ever(future):
    at(future, TODAY).append(port("port is 8080"))
    later = at(future, FUTURE + 3600 * SECOND).append(port("port is 1"))

    assert later.after is None
    assert later == max((event for event in at(future, 0).read() if event.type == "fact"), key=order)


@pytest.mark.slow
def test_a_fact_of_the_future_does_not_outrank_what_is_said_today(future):
    assert 0 == call("replay", "--store", future).code
    said = call("fact", "port is 8080", "--key", "port", "--scope", "user", "--session", "t", "--store", future)
    assert "2031-01-01" in said.err
    context = call("context", "--session", "new", "--store", future).out
    assert 0 == call("replay", "--store", future).code
    memory = Path(future, "knowledge", "MEMORY.md").read_text()
    told = [context, memory, call("search", "port", "--store", future).out]

    assert [(True, False)] * 3 == [("port is 8080" in one, "port is 2031" in one) for one in told]


def test_a_plan_of_the_future_does_not_outrank_what_is_planned_today(future, tmp_path):
    plan = '{"type":"plan_entry","conversation_id":"t","key":{"path":"USER.md","heading":"Ports"},"content":"of today"}'
    call("replay", "--store", future)
    call("append", "--stdin", "--store", future, stdin=plan.encode())
    call("apply", "--store", future)
    (file,) = (tmp_path / "home").rglob("USER.md")

    assert ("of today" in file.read_text(), "of the future" in file.read_text()) == (True, False)
    assert "nothing" in call("apply", "--store", future).out


def test_the_last_session_and_event_are_none_of_the_future(future):
    assert "s" == session_meant(at(future, TODAY), "last")
    said = at(future, TODAY).append(Fact(conversation_id="t", content="said today"))
    for now in (TODAY, FUTURE - 3600 * SECOND):
        assert ("t", [said.id]) == (session_meant(at(future, now), "last"), events_named(at(future, now), "last"))

    assert "s" == session_meant(at(future, FUTURE + SECOND), "last")


@pytest.mark.slow
def test_what_was_done_last_in_a_project_is_nothing_of_the_future(store):
    project = project_root(str(Path.cwd()))
    at(store, FUTURE).append(Fact(conversation_id="s", content="said in 2031", project=project))
    alone = call("--store", store).out
    call("fact", "said today", "--session", "t", "--store", store)

    assert "last   said in 2031 – unknown, in the future, 2031-01-01 10:00" in alone
    assert "last   said today – cli, just now" in call("--store", store).out


def test_doctor_names_what_is_of_the_future(future):
    said = call("doctor", "--store", future)

    assert 1 == said.code
    assert "2 events of the future, 2031-01-01" in said.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "now",
    [-SECOND, 0, timestamps.to_ns("2263-01-01T00:00:00.000000Z"), timestamps.to_ns("9998-12-31T12:00:00.000000Z")],
)
def test_every_clock_of_the_log_is_lived_with(store, monkeypatch, now):
    monkeypatch.setattr(time, "time_ns", lambda: now)
    verbs = (["fact", "port"], ["replay"], ["context", "--session", "c"], ["search", "port"], ["verify"])

    assert [0] * 5 == [call(*verb, "--store", store).code for verb in verbs]
    assert call("doctor", "--store", store).code in (0, 1)


def test_a_clock_beyond_all_is_refused(store, monkeypatch):
    with pytest.raises(NotStored, match="beyond the year 9998"):
        at(store, 253_402_300_800 * SECOND).append(port("late"))

    def broken():
        raise OverflowError("timestamp too large to convert to C PyTime_t")

    at(store, TODAY).append(port("there"))
    monkeypatch.setattr(time, "time_ns", broken)
    said = [call(*verb, "--store", store) for verb in (["fact", "x", "--session", "c"], ["doctor"], ["replay"])]
    assert [(3, True)] * 3 == [(one.code, "beyond the year 2262" in one.err) for one in said]
