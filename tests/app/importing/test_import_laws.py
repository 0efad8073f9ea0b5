"""Whatever a log has of a past already, by hooks or by imports, in whatever order, an import leaves the same events."""

from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import EventLog
from tests.support.effort import rounds
from tests.support.pasts import bring_in, conversation, told

pytestmark = pytest.mark.slow

DAYS = (9, 10, 11, 12)


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """A home with conversations of four days that reach past midnight, and all that an import says of them."""
    home = tmp_path_factory.mktemp("past")
    for day in DAYS:
        conversation(home, f"c{day}", f"2026-02-{day:02d}T23:50:00.000000Z")
    log = EventLog(home / "whole", fsync=False)
    bring_in(log, "claude", home)
    return home, list(log.read()), told(log)


@settings(max_examples=rounds(fixed=5, fuzz=200))
@given(data=st.data())
def test_an_import_completes_any_part_of_itself(data, past, tmp_path_factory):
    home, events, whole = past
    log = EventLog(tmp_path_factory.mktemp("log"), fsync=False)
    log.append_many(data.draw(st.lists(st.sampled_from(events), unique_by=lambda event: event.id)))
    for day in data.draw(st.permutations(DAYS)):
        bring_in(log, "claude", home, next(home.rglob(f"c{day}.jsonl")))
    assert whole == told(log)
    bring_in(log, "claude", home)

    assert whole == told(log)


HOOKED: dict[str, dict[str, Any]] = {
    "session_start": {"ts": "2026-02-{:02d}T23:50:00.200000Z", "source": "startup"},
    "stage_summary": {"ts": "2026-02-{:02d}T23:59:00.000000Z", "scope": "session", "summary": "Rounded", "layer": 1},
    "session_end": {"ts": "2026-02-{:02d}T00:20:00.300000Z", "reason": "exit"},
}


def _hooked(day, kind):
    """What a hook recorded of the conversation of a day, which ends on the next one."""
    fields = HOOKED[kind]
    ts = fields["ts"].format(day + (kind == "session_end"))
    return {"type": kind, "conversation_id": f"c{day}", "project": "/home/ada/shop", **fields, "ts": ts}


@settings(max_examples=rounds(fixed=5, fuzz=200))
@given(data=st.data())
def test_an_import_completes_what_hooks_and_a_part_of_itself_have_left(data, past, tmp_path_factory):
    home = past[0]
    recorded = data.draw(st.sets(st.tuples(st.sampled_from(DAYS), st.sampled_from(sorted(HOOKED)))))
    hooks = [_hooked(*one) for one in sorted(recorded)]
    log = EventLog(tmp_path_factory.mktemp("log"), fsync=False)
    log.append_many(hooks)
    bring_in(log, "claude", home)
    whole, events = told(log), list(log.read())
    again = EventLog(tmp_path_factory.mktemp("again"), fsync=False)
    again.append_many([*hooks, *data.draw(st.lists(st.sampled_from(events)))])
    bring_in(again, "claude", home)

    assert whole == told(again)
    for day, kind in recorded:
        assert 1 == sum(event.conversation_id == f"c{day}" and event.type == kind for event in events)


def test_imports_at_the_same_time_add_each_thing_once(past, tmp_path):
    home, _, whole = past
    log = EventLog(tmp_path / "store", fsync=False)
    threads = [Thread(target=bring_in, args=(log, "claude", home)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert whole == told(log)
