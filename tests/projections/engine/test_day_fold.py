"""The rows of a day: without withdrawn words, and with what people decided, true for exactly the files they are of."""

from pathlib import Path

from hypothesis import given

from eventlog.app.build.cache import open_for_reading
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.day_states import DayStates
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.settings.schema import Settings
from tests.support.builders import replay
from tests.support.histories import histories, log_of
from tests.support.typed_events import event, fact, folded, summary


class DayRows(MemoryRows):
    """A shelf that has nothing but the rows of days."""

    def __init__(self, below):
        super().__init__(("day", "", date, row) for date, row in below.rows("day", ""))


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
    return [event.id for event in withdrawals_until(log, shelf)]


def test_withdrawals_of_all_days_are_read_from_their_rows_alone(log, monkeypatch):
    made = [_reject(log, f"2026-02-0{day}", f"No {day}") for day in (1, 2)]
    made.append(log.append({"type": "retraction", "conversation_id": "c", "target": "x"}))
    replay(log, Settings())
    row = DayRows(open_for_reading(log.store))
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
    row = DayRows(open_for_reading(log.store))
    second = _reject(log, "2026-02-01", "Nor this")

    assert {first.id, second.id} == set(_ids(log, row))
    Path(log.store.log, "2026-02-01.jsonl").unlink()
    replay(log, Settings())

    assert [] == _ids(log, DayRows(open_for_reading(log.store))) == _ids(log, row)


class Persistent(MemoryRows):
    """Rows in memory that another replay may read: withdrawn words are no part of them."""

    is_persistent = True


@given(histories(max_size=20, plans=True))
def test_a_day_with_withdrawn_words_that_is_folded_again_has_the_rows_it_had(lines):
    with log_of(lines) as log:
        rows = Persistent()
        states = DayStates(log, rows)
        states.catch_up(lambda _done, _all: None)
        stored = {row[:3]: row[3] for row in rows.all()}
        for day in states.days:
            row = states.rows[day.date]
            if row.redacted:
                states._fold(day, row.left_out)
                states._redact({day.date}, {day.date})

                assert row.redacted == states.rows[day.date].redacted
                for kind, name in (("said", ""), ("state", "knowledge")):
                    assert stored.get((kind, name, day.date)) == rows.read(kind, name, day.date)
