"""Whatever a log has of a past already, and in whatever order it came, an import leaves the same events."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import EventLog
from tests.support.effort import rounds
from tests.support.pasts import bring_in, conversation, told

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


@settings(max_examples=rounds(fixed=12, fuzz=200))
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
