from hypothesis import given
from hypothesis import strategies as st

from eventlog import ids, timestamps, wire
from eventlog.duplicates import Earlier, strays
from tests.builders import contents, fact, write

DAYS = ["1969-12-31", "1970-01-01", "2026-02-19", "2026-02-20", "2026-02-21", "9999-12-31"]


def id_of(day, key="k"):
    return ids.derived(timestamps.to_ms(f"{day}T12:00:00.000000Z"), key)


spread = st.lists(st.tuples(st.sampled_from(DAYS[1:]), st.sampled_from(DAYS[1:]), st.sampled_from("ab")), max_size=8)


def test_an_id_that_names_its_own_day_is_no_stray():
    assert [] == strays("2026-02-20", [id_of("2026-02-20", str(n)) for n in range(10)])


def test_an_id_that_names_another_day_or_none_is_a_stray():
    lost = [id_of("2026-02-19"), "no id at all", id_of("2026-02-21"), ""]

    assert lost == strays("2026-02-20", [id_of("2026-02-20"), *lost])


@given(spread)
def test_of_copies_on_several_days_the_earliest_counts(copies):
    """Each copy: the day its id names, the day it lies on, and its key."""
    by_day = {day: {id_of(home, key) for home, lies, key in copies if lies == day} for day in DAYS}
    earlier = Earlier(lambda day, event_id: event_id in by_day.get(day, ()))
    kept = {day: by_day[day] - earlier.copies(day, strays(day, by_day[day])) for day in DAYS}
    everything = set().union(*by_day.values())

    assert {one: [min(day for day in DAYS if one in by_day[day])] for one in everything} == {
        one: [day for day in DAYS if one in kept[day]] for one in everything
    }


def test_a_copy_on_a_later_day_is_read_once_and_by_its_earlier_time(log, log_dir):
    first = fact(0, content="first")
    copy = {**fact(0, day="2026-02-21", content="second"), "id": first["id"]}
    write(log_dir, wire.dumps(first) + b"\n")
    write(log_dir, wire.dumps(copy) + b"\n", "2026-02-21.jsonl")

    assert ["first"] == contents(log.read())
    assert ["first"] == contents(log.session("c"))
