"""Four nets, and exactly those that are called for: who saved, who was asked, and what it cost in requests."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from eventlog.log.event_log import EventLog
from eventlog.projections.views.stats import COUNTS, weeks
from eventlog.settings.schema import Settings
from eventlog.store.append_once import append_once
from tests.support import hook_calls, host_calls
from tests.support.builders import DAY_NS, NOON, Clock, replay
from tests.support.hook_calls import tell
from tests.support.host_calls import Session, events
from tests.support.payloads import claude, cursor

TRANSCRIPT = """\
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Fix the rounding of prices"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/home/ada/shop/price.py"}},{"type":"text","text":"Rounded half even."}]}}
"""


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "s-1.jsonl"
    path.write_text(TRANSCRIPT)
    return path


# ------------------------------------------------------------------------------------------------ five kinds of session


def _long(session):
    session.turns(2)
    session.save(scope="session")
    session.turns(4)
    session.hook("PreCompact", trigger="auto")
    session.save(layer=2)
    session.turns(4)


def _medium(session):
    session.turns(2)
    session.save(scope="session")
    session.save("fact")
    session.turns(2)


def _short_and_obedient(session):
    session.save(scope="session")
    session.turns(3)


def _short_and_disobedient(session):
    session.turns(3)
    session.save(scope="session", layer=4)
    session.turn(stop_hook_active=True)
    session.turns(2)


def _trivial(session):
    session.turns(2)


KINDS = {
    "long": (_long, {1, 2}, 0),
    "medium": (_medium, {1}, 0),
    "short and obedient": (_short_and_obedient, {1}, 0),
    "short and disobedient": (_short_and_disobedient, {4}, 1),
    "trivial": (_trivial, set(), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize(("play", "nets", "requests"), KINDS.values(), ids=KINDS)
def test_exactly_the_nets_fire_that_are_called_for(store, play, nets, requests):
    session = Session(store)
    session.hook("SessionStart", source="startup")
    play(session)
    session.end()

    assert nets == session.fired
    assert requests == session.requests


@pytest.mark.slow
def test_the_statistics_of_the_five_sessions_are_those_of_the_table(store):
    for name, (play, _, _) in KINDS.items():
        session = Session(store, name)
        session.hook("SessionStart", source="startup")
        play(session)
        session.end()
    total = weeks(replay(EventLog(store), Settings()).rows(COUNTS))[-1]

    assert {"1": 3, "2": 0, "3": 0, "4": 1} == total.layers
    assert (5, 1, 0, 1.0, 0.2) == (total.sessions, total.trivial, total.unsaved, total.coverage, total.fallback_rate)


@pytest.mark.slow
def test_what_nobody_saved_is_drawn_from_the_transcript(store, transcript):
    session = Session(store, transcript=transcript)
    session.turns(2)
    session.end()
    (drawn,) = events(store, "stage_summary")

    assert (3, "session", "Fix the rounding of prices") == (drawn.layer, drawn.scope, drawn.topic)
    assert "price.py" in drawn.summary
    assert 0 == session.requests


@pytest.mark.slow
def test_a_transcript_is_left_alone_where_the_agent_saved_a_summary(store, transcript):
    session = Session(store, transcript=transcript)
    session.save(scope="session")
    session.turn()
    session.end()

    assert [None] == [one.layer for one in events(store, "stage_summary")]


@pytest.mark.slow
def test_an_end_told_twice_draws_one_summary(store, transcript):
    session = Session(store, transcript=transcript)
    session.turn()
    session.end()
    session.end()

    assert 1 == len(events(store, "stage_summary"))


# ------------------------------------------------------------------------------------------------ once, over all days


def _at(monkeypatch, ns):
    clock = Clock(ns)
    monkeypatch.setattr("time.time_ns", clock)
    defaults = append_once.__kwdefaults__
    assert defaults
    monkeypatch.setitem(defaults, "clock", clock)


def test_a_session_across_midnight_is_one_session(store, monkeypatch):
    session = Session(store)
    _at(monkeypatch, NOON)
    session.turns(2)
    _at(monkeypatch, NOON + DAY_NS)
    (answer,) = session.turns(1)

    assert host_calls.request(answer)


def test_two_resumes_shortly_after_each_other_both_get_their_context(store, monkeypatch):
    resume = claude("SessionStart", source="resume")
    for second in (0, 4):
        _at(monkeypatch, NOON + second * 10**9)

        assert b"eventlog" in tell(store, resume)
    assert 2 == len(events(store, "session_start")) == len(events(store, "context_injected"))


def test_what_was_saved_before_midnight_is_saved_after_it(store, monkeypatch):
    session = Session(store)
    EventLog(store, clock=Clock(NOON)).append({"type": "fact", "conversation_id": "s-1", "content": "x"})
    _at(monkeypatch, NOON + DAY_NS)
    session.turns(5)

    assert 0 == session.requests


@pytest.mark.parametrize("index", [False, True], ids=["not indexed", "indexed"])
def test_a_session_of_nine_days_is_asked_once(store, monkeypatch, index):
    session = Session(store)
    for day in range(9):
        _at(monkeypatch, NOON + day * DAY_NS)
        session.turn()
        if index:
            EventLog(store).index.catch_up()

    assert 1 == session.requests
    assert 1 == len(events(store, "save_requested"))


def test_another_session_saving_in_between_changes_nothing(store):
    session, other = Session(store), Session(store, "s-2")
    session.save(scope="session")
    other.save(scope="session")
    other.turns(4)
    session.turns(4)
    third = Session(store, "s-3")
    third.turns(3)

    assert (0, 0, 1) == (session.requests, other.requests, third.requests)


@pytest.mark.slow
def test_two_registrations_ask_once(store):
    session = Session(store)
    session.turns(2)
    last = claude("Stop", session_id="s-1", prompt_id="p-3")
    with ThreadPoolExecutor(4) as pool:
        answers = [one.stdout for one in pool.map(lambda _: hook_calls.run(store, last, "--agent", "claude"), range(4))]

    assert 1 == sum(bool(answer) for answer in answers)


# ------------------------------------------------------------------------------------------------ never


NEVER = {
    "while answering a hook": {"stop_hook_active": True},
    "while something runs in the background": {"background_tasks": [{"id": "b1", "status": "running"}]},
    "inside a subagent": {"agent_id": "a-1"},
}


@pytest.mark.parametrize("fields", NEVER.values(), ids=NEVER)
def test_nobody_is_asked(store, fields):
    session = Session(store)
    session.turns(2)
    for _ in range(3):
        session.turn(**fields)

    assert 0 == session.requests


def test_who_was_busy_is_asked_when_the_work_is_done(store):
    session = Session(store)
    session.turns(2)
    session.turn(background_tasks=[{"id": "b1"}])
    session.turn()

    assert 1 == session.requests


@pytest.mark.parametrize(
    "fields", [{"status": "aborted"}, {"status": "error"}, {"status": "completed", "loop_count": 1}]
)
def test_cursor_is_not_asked_after_an_unfinished_turn(store, fields):
    answers = [
        host_calls.tell(
            store, cursor("stop", **{"loop_count": 0, **fields, "generation_id": f"g-{turn}"}), "--agent", "cursor"
        )
        for turn in range(4)
    ]

    assert [{}] * 4 == answers


def test_the_turns_of_a_subagent_do_not_count(store):
    session = Session(store)
    for _ in range(5):
        session.turn(agent_id="a-1")
    session.turn()

    assert 0 == session.requests


def test_the_agents_own_words_of_a_subagent_save_nothing(store):
    session = Session(store)
    session.save("fact", subagent="a-1")
    session.turns(3)

    assert 1 == session.requests


def test_a_log_too_large_to_search_is_not_searched_and_nobody_is_asked(store, monkeypatch):
    monkeypatch.setattr("eventlog.hooks.conversation._SEARCH_AT_MOST", 10)
    session = Session(store)
    session.turns(4)

    assert 0 == session.requests
