import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast import fastjson
from eventlog.format import codec, ids, timestamps
from eventlog.format.errors import InvalidEvent
from eventlog.format.ids import day_in_id
from eventlog.log.days import DuplicateFilter, misdated
from eventlog.log.verify import verify
from eventlog.settings.schema import Settings
from tests.support.builders import DAY, contents, fact, replay, write

DAYS = ["1970-01-01", "1970-01-02", "2026-02-19", "2026-02-20", "2026-02-21", "9998-12-31"]


def id_of(day, key="k"):
    return ids.derived(timestamps.to_ms(f"{day}T12:00:00.000000Z"), key)


spread = st.lists(st.tuples(st.sampled_from(DAYS), st.sampled_from(DAYS), st.sampled_from("ab")), max_size=8)


def test_an_id_that_names_its_own_day_is_no_stray():
    assert [] == misdated("2026-02-20", [id_of("2026-02-20", str(n)) for n in range(10)])


def test_an_id_that_names_another_day_or_none_is_a_stray():
    lost = [id_of("2026-02-19"), "no id at all", id_of("2026-02-21"), ""]

    assert lost == misdated("2026-02-20", [id_of("2026-02-20"), *lost])


@given(spread)
def test_of_copies_on_several_days_that_of_the_day_its_id_names_counts_else_the_earliest(copies):
    """Each copy: the day its id names, the day it lies on, and its key."""
    by_day = {day: {id_of(home, key) for home, lies, key in copies if lies == day} for day in DAYS}
    elsewhere = DuplicateFilter(lambda day, some: by_day.get(day, set()) & set(some))
    kept = {day: by_day[day] - elsewhere.of(misdated(day, by_day[day])) for day in DAYS}
    everything = set().union(*by_day.values())

    for one in everything:
        lies_on = [day for day in DAYS if one in by_day[day]]
        counts = day_in_id(one) if day_in_id(one) in lies_on else lies_on[0]
        assert [counts] == [day for day in DAYS if one in kept[day]]


@pytest.mark.parametrize("other", ["2020-01-01", "2026-02-21"])
def test_an_id_used_again_on_another_day_hides_no_event(log, log_dir, other):
    true = fact(0, content="true")
    write(log_dir, fastjson.dumps(true) + b"\n")
    write(
        log_dir, fastjson.dumps({**fact(0, day=other, content="a forgery"), "id": true["id"]}) + b"\n", f"{other}.jsonl"
    )

    assert ["true"] == contents(log.read())
    assert ["true"] == contents(log.session("c"))
    assert "true" == log.find([true["id"]])[true["id"]].event.content


@pytest.mark.parametrize("spelled", ["no id at all", "a\\/b", "\\u0061\\u00e9", "ÄB-é", id_of("2020-01-01")])
@pytest.mark.parametrize("others", [0, 200])
def test_an_event_is_found_by_an_id_that_does_not_name_its_day(log, log_dir, spelled, others):
    line = fastjson.dumps({**fact(0, content="here"), "id": "ID"}).replace(b'"ID"', f'"{spelled}"'.encode())
    write(log_dir, line + b"\n")
    name = json.loads(f'"{spelled}"')

    assert "here" == log.find([name, *(id_of(DAY, str(number)) for number in range(others))])[name].event.content


def test_an_id_that_nobody_has_is_looked_for_without_decoding_a_line(log, log_dir, monkeypatch):
    write(log_dir, fastjson.dumps(fact(0)) + b"\n")
    monkeypatch.setattr(codec, "decode", lambda line: pytest.fail(f"{line} was decoded"))

    assert {} == log.find([id_of("2020-01-01"), "no id at all"])


def test_an_id_used_again_in_another_conversation_is_no_event_of_that_either(log, log_dir):
    true = fact(0, content="true")
    write(log_dir, fastjson.dumps(true) + b"\n")
    forged = {**fact(0, day="2020-01-01"), "id": true["id"], "conversation_id": "evil"}
    write(log_dir, fastjson.dumps(forged) + b"\n", "2020-01-01.jsonl")

    assert [] == log.session("evil")


def test_verify_names_the_conflict_across_days_as_it_does_within_one(log, log_dir):
    true = fact(0, content="true")
    write(log_dir, fastjson.dumps(true) + b"\n")
    forged = write(log_dir, fastjson.dumps({**fact(0, day="2020-01-01"), "id": true["id"]}) + b"\n", "2020-01-01.jsonl")
    found = verify(log)

    assert (1, [(forged, 1, "conflict")]) == (found.events, [(one.file, one.line, one.kind) for one in found.damage])
    assert DAY in found.damage[0].reason


def test_an_id_of_another_time_is_refused(log):
    with pytest.raises(InvalidEvent, match="names another time"):
        log.append({**fact(0, day="2020-01-01"), "id": fact(0)["id"]})


def test_the_forgery_counts_in_a_log_cut_before_the_true_event(log, log_dir):
    true = fact(0, content="true")
    write(
        log_dir,
        fastjson.dumps({**fact(0, day="2020-01-01", content="early"), "id": true["id"]}) + b"\n",
        "2020-01-01.jsonl",
    )
    before = replay(log, Settings(), until="2020-12-31T00:00:00.000000Z").documents
    write(log_dir, fastjson.dumps(true) + b"\n")

    assert before == replay(log, Settings(), until="2020-12-31T00:00:00.000000Z").documents
