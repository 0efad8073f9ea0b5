"""A day or a week in 25 lines: what was done, decided, changed, dropped, and what is open; of one project."""

import json

import pytest

from eventlog.app.ask.period import period
from eventlog.app.build.rebuild import replay_store
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.format.events import Fact, SessionEnd, SessionStart, StageSummary, TurnEnd
from eventlog.log.event_log import EventLog
from tests.support.builders import Clock
from tests.support.command_line import call
from tests.support.use_cases import opened

pytestmark = pytest.mark.slow

DAY = 86_400 * 10**9
SHOP, BARN = "/p/shop", "/p/barn"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(tmp_path, clock):
    return EventLog(tmp_path / "store", fsync=False, clock=clock)


def said(log, content, project=SHOP, **fields):
    clock = log._clock
    clock.now += 10**9
    return log.append(Fact(conversation_id="s1", project=project, agent="codex", content=content, **fields))


def summed_up(log, project=SHOP, session="s2", **fields):
    log._clock.now += 10**9
    return log.append(
        StageSummary(conversation_id=session, project=project, agent="claude-code", scope="session", **fields)
    )


@pytest.fixture
def week(log, clock):
    """What was said before the week, and what in it; the log, and when the week began."""
    said(log, "Invoices are immutable", category="decision")
    said(log, "Postgres 15 is pinned", category="decision")
    said(log, "port is 1", key="port")
    said(log, "The queue is Redis")
    summed_up(log, session="old", topic="Old work", summary="Did it", todos=["tell ops", "old todo"])
    clock.now += 3 * DAY
    begins = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts
    said(log, "Prices are integers in cents", category="decision")
    said(log, "Barn doors are red", BARN, category="decision")
    said(log, "Invoices are immutable", category="decision")
    said(log, "port is 2", key="port")
    said(log, "Taken back at once")
    summed_up(
        log,
        topic="Search reindex",
        summary="Reindexed",
        decisions=["Reindex nightly"],
        done=["tell ops"],
        todos=["write docs"],
    )
    clock.now += 10**9
    forget(opened(log), forgettable(opened(log), "Postgres 15"))
    forget(opened(log), forgettable(opened(log), "Taken back"))
    edit(opened(log), correctable(opened(log), "The queue is Redis"), "The queue is Valkey")
    replay_store(opened(log))
    return begins


def texts(items):
    return [item.text for item in items]


def test_a_week_holds_what_it_came_to_and_nothing_else(log, week):
    found = period(opened(log), week, project=SHOP)

    assert sorted(texts(found.decided)) == ["Prices are integers in cents", "Reindex nightly"]
    assert sorted((item.text, item.was) for item in found.changed) == [
        ("The queue is Valkey", "The queue is Redis"),
        ("port is 2", "port is 1"),
    ]
    assert texts(found.dropped) == ["Postgres 15 is pinned"]
    assert "Search reindex" in texts(found.done)
    assert "tell ops" in texts(found.done)
    assert "Old work" not in texts(found.done)
    assert sorted(texts(found.open)) == ["old todo", "write docs"]


def test_all_projects_are_one_question(log, week):
    found = period(opened(log), week)

    assert "Barn doors are red" in texts(found.decided)
    assert "Prices are integers in cents" in texts(found.decided)


def test_a_session_that_broke_off_is_open_and_not_done(log, clock):
    begins = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts
    ends = {"killed": None, "over": SessionEnd(conversation_id="over"), "at work": TurnEnd(conversation_id="at work")}
    for session, end in ends.items():
        clock.now += 10**9
        log.append(SessionStart(conversation_id=session, project=SHOP, agent="claude-code"))
        summed_up(log, session=session, topic=f"Work that is {session}", summary="Changed cart.py.", layer=3)
        if end:
            log.append(end)
    summed_up(log, session="imported from elsewhere", topic="Elsewhere", summary="Did it", layer=3)
    found = period(opened(log), begins, project=SHOP)

    assert ["Elsewhere", "Work that is at work", "Work that is over"] == [item.text for item in found.done]
    assert ["Work that is killed"] == [item.text for item in found.open]


def test_small_talk_is_nothing_that_was_done(log, clock):
    begins = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts
    for session, topic in ("work", "Round the cart"), ("talk", "thanks, bye"):
        summed_up(log, session=session, topic=topic, summary=topic, layer=3)

    assert [item.text for item in period(opened(log), begins, project=SHOP).done] == ["Round the cart"]


def test_a_quiet_time_holds_nothing(log, week, clock):
    clock.now += 9 * DAY
    later = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts

    found = period(opened(log), later, project=SHOP)

    assert [found.done, found.decided, found.changed, found.dropped] == [[], [], [], []]
    assert texts(found.open)


def test_a_past_day_is_as_it_was_at_its_end(log, week):
    found = period(opened(log), "2026-02-20T00:00:00.000000Z", "2026-02-20T23:59:59.999999Z", SHOP)

    assert "Postgres 15 is pinned" in texts(found.decided)
    assert "Prices are integers in cents" not in texts(found.decided)
    assert sorted(texts(found.open)) == ["old todo", "tell ops"]


@pytest.mark.parametrize("many", [0, 3, 60])
def test_a_screen_has_25_lines_at_most_and_decisions_first(log, tmp_path, many):
    (tmp_path / "store").mkdir()
    for number in range(many):
        said(log, f"Decision number {'x' * number} holds", category="decision")
        said(log, f"Fact about {'y' * number} holds")
        summed_up(log, session=f"s{number}", topic=f"Work {number}", summary="Did", todos=[f"todo {'z' * number}"])
    store = ("--store", log.store.root)
    replay_store(opened(log))

    ran = call("week", "--since", "2026-02-19", "--all-projects", *store)

    lines = ran.out.splitlines()
    assert ran.code == 0, ran
    assert len(lines) <= 25
    assert [line[:9].strip() for line in lines if line[:1].islower() and line[:1] != "a"] == (
        ["done", "decided", "learned", "open"] if many else ["nothing w"]
    )
    assert len(json.loads(call("week", "--since", "2026-02-19", "--json", *store).out)["decided"]) == many


def test_what_replaced_nothing_is_called_learned_and_not_changed(log, week):
    said(log, "The mixer hums above 40 degrees")
    replay_store(opened(log))

    ran = call("week", "--since", week, "--project", SHOP, "--store", log.store.root)

    assert "changed  The queue is Valkey (was: The queue is Redis)\n         port is 2 (was: port is 1)\n" in ran.out
    assert "learned  The mixer hums above 40 degrees\n" in ran.out


def test_what_is_left_open_is_listed_until_it_is_done(log, clock):
    summed_up(log, session="old", topic="Old work", summary="Did it", todos=["tell ops"])
    clock.now += 45 * DAY
    begins = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts
    summed_up(log, session="new", topic="New work", summary="Did it", todos=["load test"])

    assert texts(period(opened(log), begins, project=SHOP).open) == ["load test", "tell ops"]


def test_what_is_said_stands_in_one_section(log, clock):
    begins = log.moment("").stamp(Fact(conversation_id="x", content="x"), 0).ts
    summed_up(log, topic="Round half even.", summary="Did it", decisions=["Round half even"], done=["round half even"])
    found = period(opened(log), begins, project=SHOP)

    assert (["Round half even"], []) == (texts(found.decided), texts(found.done))
