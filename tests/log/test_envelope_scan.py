"""A day that is skimmed leads to the same as one that is read event by event."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.fast import fastjson
from eventlog.format import codec
from eventlog.format.events import KNOWN
from eventlog.log.envelope_scan import DayScan, envelope_of
from eventlog.log.envelope_scan import scan_day as skim_pieces
from eventlog.projections.current.conversations import Conversations, Knowledge
from eventlog.settings.schema import Settings
from eventlog.store.files import read
from tests.support.builders import DAY, fact, line, replay, write
from tests.support.golden import HISTORY, copied
from tests.support.histories import DAYS, histories, log_of
from tests.support.wire import shapes

TOOL = b'{"v":1,"id":"%s","ts":"2026-02-20T12:00:09.000000Z","type":"host_event","conversation_id":"c","name":"x","payload":%s}\n'
ID = fact(9)["id"].encode()


def skim(files, day):
    """Skim a day, and put its pieces together; None where anything is odd about it."""
    found = DayScan([], [], [])

    def take(piece):
        found.envelopes.extend(piece.envelopes)
        found.whole.extend(piece.whole)
        found.ids.extend(piece.ids)

    return found if skim_pieces(files, day, take) else None


def _one_by_one(events):
    state = Conversations()
    for event in events:
        state.fold(event)
    return state


def _at_once(day):
    found = skim([read(file) for file in day.files], day.date)
    assert found
    state = Conversations()
    state.fold_all(found.whole, found.envelopes)
    return found.ids, state


def _sorted(state):
    """The state with its lists in one order: that of events is not told by it."""
    for conversation in state.by_id.values():
        conversation.facts.sort(key=lambda one: one.id)
        conversation.summaries.sort(key=lambda one: one.id)
        conversation.recalled.sort(key=lambda one: one.id)
    state.retractions.sort(key=lambda one: one.id)
    return state.by_id, state.retractions, state.notes, state.places


@given(histories(max_size=30))
def test_at_once_is_the_same_as_event_by_event(lines):
    with log_of(lines) as log:
        for day in log.days():
            events, _ = day.load()
            if any(event.type == "future" for event in events):  # has a newer type: skimmed all the same
                assert skim([read(file) for file in day.files], day.date)
            ids, state = _at_once(day)

            assert sorted(event.id for event in events) == sorted(ids)
            assert _sorted(_one_by_one(events)) == _sorted(state)


@pytest.mark.parametrize("cls", KNOWN)
def test_no_state_asks_more_of_a_type_than_what_is_read_of_it(cls):
    """A type that a state needs whole is `by_envelope` no more: else it reached it event by event, never by the day."""
    for shape in shapes(cls):
        fields = {"id": ID.decode(), "ts": f"{DAY}T12:00:09.000000Z", "conversation_id": "c", "project": "/p"}
        event: Any = codec.from_fields({**fields, "agent": "codex", "replica": "desk", **shape})
        found = skim([codec.encode(event) + b"\n"], DAY)
        assert found
        at_once, knowledge, whole = Conversations(), Knowledge(), Knowledge()
        at_once.fold_all(found.whole, found.envelopes)
        for one in found.whole:
            knowledge.fold(one)
        whole.fold(event)

        assert _one_by_one([event]) == at_once
        assert whole == knowledge


def test_the_days_of_the_history_lead_to_the_same(tmp_path):
    log = copied(HISTORY, tmp_path)
    ordinary = [day for day in log.days() if skim([read(file) for file in day.files], day.date)]
    assert len(ordinary) > len(log.days()) / 2
    for day in ordinary:
        ids, state = _at_once(day)
        events, _ = day.load()

        assert sorted(event.id for event in events) == sorted(ids)
        assert _sorted(_one_by_one(events)) == _sorted(state)


NAMING = {
    "conversation_id": st.sampled_from("cd"),
    "project": st.sampled_from([None, "/p", "/q"]),
    "agent": st.sampled_from([None, "codex", "cursor"]),
    "replica": st.sampled_from([None, None, "desk", "laptop"]),
    "subagent": st.sampled_from([None, None, None, "helper"]),
}
KINDS: list[dict[str, st.SearchStrategy]] = [
    {"type": st.sampled_from(["session_start", "turn_end", "session_end", "future"])},
    {"type": st.just("host_event"), "name": st.sampled_from(["UserPromptSubmit", "beforeSubmitPrompt", "PostToolUse"])},
    {"type": st.just("fact"), "content": st.just("x")},
    {"type": st.just("project_seen"), "path": st.sampled_from(["/p", "/q"])},
    {"type": st.just("project_joined"), "projects": st.just(["/p", "/q"])},
]
SECONDS = st.integers(0, 3)
ALL = {"type": "turn_end", "conversation_id": "c", "agent": "codex", "replica": "desk"}


@example([(1, {**ALL, "project": path}) for path in ("/p", "/q")])
@given(
    st.lists(st.tuples(SECONDS, st.one_of([st.fixed_dictionaries({**NAMING, **kind}) for kind in KINDS])), min_size=1)
)
def test_what_is_named_first_is_the_same_at_once_in_any_order_and_at_the_same_time(events):
    lines = [
        fastjson.dumps({"v": 1, "id": fact(3000 - number)["id"], "ts": fact(second)["ts"], **fields})
        for number, (second, fields) in enumerate(events)
    ]
    found = skim([b"".join(line + b"\n" for line in lines)], DAY)
    assert found
    state = Conversations()
    state.fold_all(found.whole, found.envelopes)

    assert _sorted(_one_by_one([codec.decode(line) for line in lines])) == _sorted(state)


ODD = {
    "no newline at the end": line(1),
    "two events in a line": line(1) + line(2) + b"\n",
    "an event in two lines": line(1)[:40] + b"\n" + line(1)[40:] + b"\n",
    "no object": b"[]\n",
    "an empty line": b"\n" + line(1) + b"\n",
    "not UTF-8": line(1).replace(b"fact 1", b"\xff") + b"\n",
    "not UTF-8, where nobody looks": TOOL % (ID, b'{"a":"\xff"}'),
    "another day": line(1, day=DAYS[0]) + b"\n",
    "no time": line(1).replace(b"T12:", b"T25:") + b"\n",
    "a newer version": line(1).replace(b'"v":1', b'"v":2') + b"\n",
    "no id": line(1, id="") + b"\n",
    "a field nobody knows, in what is said": line(1, mood="odd") + b"\n",
    "the same id twice": line(1) + b"\n" + line(1) + b"\n",
    "the same id twice, far apart": b"".join(line(n) + b"\n" for n in (*range(2000), 1)),
    "a minute there is not": line(1).replace(b"T12:00", b"T12:60") + b"\n",
    "a second there is not": line(1).replace(b"T12:00:01", b"T12:00:61") + b"\n",
    "a time in two parts": line(1).replace(b".000000Z", b"") + b"\n" + line(2) + b"\n",
    "a layer there is not": (TOOL % (ID, b"{}")).replace(b'"name"', b'"layer":9,"name"'),
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_odd_is_left_to_the_careful_reader(what):
    assert skim([ODD[what]], DAY) is None


@pytest.mark.parametrize(
    "payload", [b'{"a":1e999}', b'{"a":%d}' % (1 << 70), b"[]", b'{"a":' * 300 + b"1" + b"}" * 300]
)
@pytest.mark.parametrize("beside", [b"", b"garbage\n"])
def test_a_tool_call_counts_whatever_it_carries_and_whatever_lies_beside_it(log, payload, beside):
    write(log.store.log, line(1) + b"\n" + TOOL % (ID, payload) + beside)

    assert 2 == replay(log, Settings()).events


@given(st.integers(0, 200), st.integers(0, 255))
def test_an_envelope_is_whole_or_nothing(at, byte):
    whole = TOOL[:-1] % (ID, b"{}")
    other = whole[: at % len(whole)] + bytes([byte]) + whole[at % len(whole) + 1 :]
    found = envelope_of(other, DAY)

    assert found is None or (found.ts[:10] == DAY and found.id and found.type)
    assert skim([whole + b"\n"], DAY) == ([envelope_of(whole, DAY)], [], [ID.decode()])


def test_whatever_a_tool_calls_itself_or_what_triggered_it_it_counts():
    odd = [
        TOOL.replace(b'"x"', b'"x","trigger":%s' % value) % (fact(n)["id"].encode(), b"{}")
        for n, value in enumerate((b"1", b'"prompt"', b"[]"))
    ]
    odd += [
        TOOL.replace(b'"x"', value) % (fact(9 + n)["id"].encode(), b"{}")
        for n, value in enumerate((b"1", b'{"a":[]}', b"null"))
    ]
    found = skim([b"".join(odd)], DAY)
    assert found
    state = Conversations()
    state.fold_all(found.whole, found.envelopes)

    assert (6, 0) == (state.by_id["c"].events, state.by_id["c"].prompts)


def test_what_says_something_is_never_counted_by_its_envelope():
    assert envelope_of(codec.encode(codec.from_fields(fact(1))), DAY) is None
    assert DayScan([], [], []) == skim([b""], DAY)
