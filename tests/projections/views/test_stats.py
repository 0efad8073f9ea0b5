"""How well memory is kept, week by week: sessions by net, extra requests, coverage, duplicates avoided."""

import json
import re
from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.format.codec import from_fields
from eventlog.format.marks import line_marks
from eventlog.log.event_log import EventLog
from eventlog.projections.catalog import ALL
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.views.stats import COUNTS, SOURCES, STATS, weeks
from eventlog.settings.schema import Settings
from tests.support.builders import at, replay
from tests.support.command_line import call, on_a_terminal
from tests.support.histories import histories, log_of
from tests.support.host_calls import alone, tell
from tests.support.payloads import claude
from tests.support.screen import told as screen_told
from tests.support.typed_events import session_counts

FACT = {"type": "fact", "content": "x"}
KINDS = [
    {"type": "session_start"},
    {"type": "turn_end"},
    {"type": "save_requested", "trigger": "stop"},
    {"type": "save_requested", "trigger": "pre_compact"},
    {**FACT, "layer": 2},
    {**FACT, "layer": 4},
    {"type": "stage_summary", "summary": "x", "layer": 3},
    {**FACT, "subagent": "a"},
    {"type": "host_event", "name": "x"},
    FACT,
    {"type": "host_event", "name": "UserPromptSubmit", "agent": "codex"},
    {
        "type": "context_injected",
        "digest": "d",
        "chars": 1,
        "trigger": "prompt",
        "sources": ["e"],
        "about": [line_marks("k")],
    },
    {**FACT, "key": "k"},
]
happened = st.lists(
    st.tuples(
        st.sampled_from(range(len(KINDS))), st.sampled_from("abc"), st.sampled_from(["2026-02-20", "2026-02-23"])
    ),
    max_size=25,
)


def _event(number, kind, conversation, day):
    return from_fields({**KINDS[kind], "conversation_id": conversation, "ts": at(number, day)})


def _folded(events):
    state = Conversations()
    for event in events:
        state.fold(event)
    return state


@given(happened, st.randoms(use_true_random=False), st.integers(0, 25))
def test_the_order_of_events_and_how_they_are_split_do_not_matter(told, chance, cut):
    events = [_event(number, *one) for number, one in enumerate(told)]
    shuffled = chance.sample(events, len(events))
    halves = _folded(shuffled[:cut])
    halves.merge(_folded(shuffled[cut:]))

    assert weeks(session_counts(_folded(events))) == weeks(session_counts(halves))


def _week(*told):
    return weeks(session_counts(_folded(_event(number, *one) for number, one in enumerate(told))))[0]


LONE_END = (
    b'{"v":1,"id":"019c7332-4400-7d3d-ad2e-668c8368331a","ts":"2026-02-19T00:00:00.000000Z","type":"session_end",'
    b'"conversation_id":"c"}'
)


@pytest.mark.slow
@given(histories(max_size=20))
@example([LONE_END])
def test_the_figures_are_those_of_the_file_of_sessions(lines):
    with log_of(lines) as log:
        replayed = replay(log, Settings(), projections=[*ALL, STATS])
    documents = [document for document in replayed.documents if document.path == "sessions.jsonl"]
    told = [json.loads(line.text) for document in documents for line in document.lines]
    saved = [one for one in told if one["source"] != "none"]
    total = weeks(replayed.rows(COUNTS))[-1]

    assert len(told) == total.sessions == total.saved + total.unsaved + total.trivial
    assert Counter(SOURCES[one["source"]] for one in saved) == +Counter(total.layers)
    assert len(saved) == total.saved
    assert sum(one["auto_generated"] for one in told) == total.automatic
    assert total.unsaved == sum(one["source"] == "none" and one["turns"] >= 3 for one in told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "layer", "automatic"),
    [
        (["fact f1"], "3", 1),
        (["summary --topic t --summary s"], "1", 0),
        (["summary --topic t --summary s --layer 4"], "4", 0),
        (["summary --stage --layer 2 --topic t --summary s", "fact f"], "2", 1),
        (["summary --stage --topic t --summary s"], "3", 1),
    ],
)
def test_a_session_without_hooks_counts_for_the_net_that_saved_it(tmp_path, told, layer, automatic):
    store = tmp_path / "store"
    for one in told:
        call(*one.split(), "--session", "s", "--store", store)
    call("replay", "--store", store)
    (line,) = map(json.loads, (store / "knowledge" / "sessions.jsonl").read_text().splitlines())
    (*_, total) = json.loads(call("stats", "--json", "--store", store).out)

    assert (SOURCES[line["source"]], line["auto_generated"]) == (layer, bool(automatic))
    assert {"1": 0, "2": 0, "3": 0, "4": 0, layer: 1} == total["layers"]
    assert (1, automatic, 1.0, float(automatic)) == (
        total["sessions"], total["automatic"], total["coverage"], total["automatic_share"],
    )  # fmt: skip


def test_a_session_belongs_to_the_week_it_began_in():
    state = _folded([_event(0, 1, "a", "2026-02-22"), _event(1, 9, "a", "2026-02-23")])

    assert [("2026-02-16", 1), ("all", 1)] == [(one.week, one.saved) for one in weeks(session_counts(state))]


def test_a_trivial_session_is_not_missing_from_the_coverage():
    found = _week(
        *[(1, "trivial", "2026-02-20")] * 2,
        *[(1, "missed", "2026-02-20")] * 3,
        (0, "kept", "2026-02-20"),
        (9, "kept", "2026-02-20"),
    )

    assert (1, 1, 0.5) == (found.trivial, found.unsaved, found.coverage)


def test_no_sessions_are_no_shares():
    (total,) = weeks([])

    assert (None, None, None) == (total.coverage, total.fallback_rate, total.automatic_share)


def test_without_sessions_there_is_a_word_instead_of_a_table(tmp_path):
    ran = call("stats", "--store", tmp_path)

    assert 0 == ran.code
    assert ran.out.startswith("nothing has happened yet in ")


def test_what_was_not_written_twice_is_counted(tmp_path):
    store = alone(tmp_path / "store")
    for _ in range(3):
        tell(store, claude("Stop", prompt_id="p-1"))
        call("fact", "Prices are in cents", "--session", "5f0c", "--store", store)
    (week, total) = json.loads(call("stats", "--json", "--store", store).out)

    assert (4, 4) == (week["duplicates_avoided"], total["duplicates_avoided"])
    assert {"1": 0, "2": 0, "3": 1, "4": 0} == week["layers"]


@pytest.mark.parametrize(
    ("said", "drawn", "told"),
    [
        ({"type": "stage_summary", "summary": "x"}, 0, "1 as facts or stages"),
        (FACT, 0, "1 as facts or stages"),
        ({"type": "stage_summary", "summary": "x", "layer": 3}, 1, "1 by a program, from the transcript"),
        ({"type": "stage_summary", "summary": "x", "scope": "session"}, 0, "1 by the agents themselves"),
    ],
)
def test_only_what_came_from_a_transcript_is_said_to(tmp_path, said, drawn, told):
    store = tmp_path / "store"
    EventLog(store).append({"conversation_id": "s", "agent": "codex", **said})
    *_, total = json.loads(call("stats", "--json", "--store", store).out)

    assert drawn == total["drawn"]
    assert told in screen_told("stats", "--store", store, columns=120)


def test_the_table_has_a_line_for_each_week_and_one_for_all(tmp_path):
    store = alone(tmp_path / "store")
    tell(store, claude("Stop", prompt_id="p-1"))
    call("fact", "Prices are in cents", "--session", "5f0c", "--store", store)
    lines = [line.split("\t") for line in call("stats", "--store", store).out.splitlines()]

    assert 3 == len(lines)
    assert ["week", "sessions", "agent", "compaction", "program", "asked", "unsaved", "trivial"] == lines[0][:8]
    assert ["all", "1", "0 (0%)", "0 (0%)", "1 (100%)", "0 (0%)", "0", "0", "0%", "100%", "100%", "0"] == lines[-1][:12]
    assert {18} == set(map(len, lines))


@pytest.mark.slow
def test_on_a_terminal_the_newest_weeks_stand_side_by_side_uncut(log):
    mondays = [date(2026, 1, 5) + timedelta(weeks=week) for week in range(10)]
    log.append_many(
        {"type": "turn_end", "conversation_id": str(day), "ts": f"{day}T12:00:00.000000Z"} for day in mondays
    )
    said = on_a_terminal("stats", "--nets", "--store", log.store.root, columns=80)

    assert "…" not in said
    assert all(len(re.sub("\x1b\\[[0-9;]*m", "", line).rstrip()) <= 80 for line in said.splitlines())
    assert "duplicates" in said
    assert all(str(day) in said for day in mondays[-4:])
    assert "6 earlier weeks: --until, or --json for all" in said


def test_only_the_time_asked_for_counts(tmp_path):
    store = alone(tmp_path / "store")
    tell(store, claude("Stop", prompt_id="p-1"))
    (total,) = json.loads(call("stats", "--until", "2020-01-01", "--json", "--store", store).out)

    assert 0 == total["sessions"]
