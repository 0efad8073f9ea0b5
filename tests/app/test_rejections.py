"""What people decided is read when it is asked for, and once."""

import pytest

from eventlog.app.write.plan import plan
from eventlog.app.write.rejections import Rejections
from eventlog.app.write.resolve import decide, waiting
from eventlog.format.events import Fact, PlanEntry, SectionKey, TurnEnd
from eventlog.log.days import Day
from tests.support.bases import REVIEWED, planned
from tests.support.use_cases import opened


def test_a_batch_of_entries_reads_what_people_decided_once(log, monkeypatch):
    planned(log, "Tea", "Green tea")
    [staged] = waiting(opened(log, REVIEWED))
    decide(opened(log, REVIEWED), staged, "discard")
    asked, load = [], Day.load_mentioning

    def counting(day, words):
        asked.append(tuple(words))
        return load(day, words)

    monkeypatch.setattr(Day, "load_mentioning", counting)
    kept = plan(log, [{"path": "user", "heading": "Tea", "content": "green  TEA"} for _ in range(5)], session="s")

    assert kept == []
    assert (
        sorted(asked) == sorted(set(asked)) == [(b'"entry_resolved"',), (b'"retraction"', b'"rejected"', b'"restored"')]
    )


@pytest.mark.parametrize(
    "event", [TurnEnd(conversation_id="s"), Fact(conversation_id="s", content="x", subagent="helper")]
)
def test_of_what_nobody_can_reject_nothing_is_read(log, monkeypatch, event):
    log.append(Fact(conversation_id="s", content="x"))
    monkeypatch.setattr(Day, "load_mentioning", lambda *_: pytest.fail("the log was read"))

    assert Rejections(log).of(event) is None


def test_where_no_entry_was_ever_decided_about_nobody_asks_for_the_bases(log):
    planned(log, "Tea", "Green tea")
    entry = PlanEntry(conversation_id="s", key=SectionKey(path="user", heading="Tea"), content="Green tea")

    assert Rejections(log, lambda: pytest.fail("the settings were read")).of_entry(entry) is None
