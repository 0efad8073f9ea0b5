"""What people decided is kept in one row, true for exactly the files it was read from."""

from pathlib import Path

from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.replay import replay
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.withdrawals import decided_before
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.settings.schema import Settings
from tests.support.typed_events import event, fact, folded, summary


class OneRow(MemoryRows):
    """A shelf that has nothing but the row of decisions."""

    def __init__(self, below):
        super().__init__()
        self.write("decisions", "", "", below.read("decisions", "", ""))


def _reject(log, day, text):
    (done,) = log.put(
        [
            {
                "type": "rejected",
                "conversation_id": "human",
                "agent": "human",
                "statement": text,
                "ts": f"{day}T10:00:00Z",
            }
        ]
    )
    return done.event


def _ids(log, shelf):
    return [event.id for event in decided_before(log, shelf)]


def test_decisions_of_all_days_are_read_from_one_row(log, monkeypatch):
    made = [_reject(log, f"2026-02-0{day}", f"No {day}") for day in (1, 2)]
    log.append({"type": "retraction", "conversation_id": "c", "target": "x"})
    replay(log, Settings())
    row = OneRow(open_for_reading(log.store))
    monkeypatch.setattr("eventlog.log.days.read", None)  # no file is read

    assert [event.id for event in made] == _ids(log, row)


def test_joining_what_a_conversation_did_on_its_days_changes_none_of_them():
    def day(date):
        given = {"digest": "d", "chars": 1, "trigger": "prompt"}
        return folded(fact(day=date), summary(day=date), event("context_injected", day=date, **given)).by_id["c"]

    days = [day("2026-02-20"), day("2026-02-21")]
    both = Conversation.merged(days)

    assert [day("2026-02-20"), day("2026-02-21")] == days
    assert both
    assert [2, 2, 2] == [len(both.facts), len(both.summaries), len(both.recalled)]


def test_of_a_day_that_has_changed_since_the_log_is_asked(log):
    first = _reject(log, "2026-02-01", "No")
    replay(log, Settings())
    row = OneRow(open_for_reading(log.store))
    second = _reject(log, "2026-02-01", "Nor this")

    assert {first.id, second.id} == set(_ids(log, row))
    Path(log.store.log, "2026-02-01.jsonl").unlink()
    replay(log, Settings())

    assert [] == _ids(log, OneRow(open_for_reading(log.store))) == _ids(log, row)
