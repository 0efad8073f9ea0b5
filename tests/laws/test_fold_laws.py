"""The laws of parts: however the lines of a log lie in files, and however parts are grouped, they render as one process does."""

import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import fold
from eventlog.format import codec
from eventlog.format.errors import BadRequest
from eventlog.format.ids import day_in_id
from eventlog.log import days
from eventlog.settings.schema import Settings
from eventlog.store.files import read_regular
from tests.support.builders import fact, replay
from tests.support.golden import DAMAGED, HISTORY, LOCALES, copied, rendered, tree
from tests.support.histories import DAYS, REPLICAS, histories, log_of, ts_of, write

SETTINGS = st.sampled_from([Settings(), Settings(locale="zh", timezone="Asia/Shanghai")])


def days_of(log, name="ada"):
    """The days of a log, as bytes."""
    return [
        fold.DayBytes(name, day.date, tuple((file, read_regular(file)) for file in day.files))
        for day in days.list_days(log.store.log)
    ]


def parts_of(found):
    """The parts of days, those with copies of another day's events folded once more."""
    by_date = {day.date: day for day in found}
    parts = [fold.fold_day(day) for day in found]
    left_out = fold.copies(parts, lambda date, ids: fold.holding(by_date[date], ids) if date in by_date else ())
    again = {date: fold.fold_day(by_date[date], without) for date, without in left_out.items()}
    return [again.get(day.date, part) for day, part in zip(found, parts, strict=True)]


def files_of(part, chosen=Settings()):  # noqa: B008 - never changed
    return {document.path: document.data for document in fold.render(part, chosen)}


def grouped(parts, chance):
    """One part of many, merged in any order and any grouping, each as it comes out of a pickle."""
    heap = [pickle.loads(pickle.dumps(part)) for part in parts]
    while len(heap) > 1:
        chance.shuffle(heap)
        count = chance.randint(2, len(heap))
        heap = [*heap[count:], pickle.loads(pickle.dumps(fold.merge(heap[:count])))]
    return heap[0]


def with_copies(lines, data):
    """The lines, some of them twice: in another file of the day, or told again on the last day."""
    twice = data.draw(st.lists(st.sampled_from(lines), max_size=5))
    early = [line for line in lines if ts_of(line)[:10] < DAYS[-1] != day_in_id(codec.decode(line).id)]
    later = data.draw(st.lists(st.sampled_from(early), max_size=3, unique=True)) if early else []
    moved = [line.replace(ts_of(line)[:10].encode(), DAYS[-1].encode(), 1) for line in later]
    return [*lines, *twice, *moved]


@pytest.mark.slow
@given(histories(), SETTINGS, st.data(), st.randoms(use_true_random=False))
def test_any_files_any_copies_and_any_grouping_render_the_bytes_of_one_process(lines, chosen, data, chance):
    told = data.draw(st.permutations(with_copies(lines, data)))
    with log_of([]) as log:
        write(log, told, [data.draw(st.sampled_from(REPLICAS)) for _ in told])
        expected = rendered(log, chosen, anew=True)

        assert expected == files_of(grouped(parts_of(days_of(log)), chance), chosen)


@pytest.mark.slow
@given(histories(), st.data())
def test_a_part_is_the_same_bytes_in_whatever_order_files_came_and_parts_merged(lines, data):
    with log_of([]) as log:
        write(log, lines, [data.draw(st.sampled_from(REPLICAS)) for _ in lines])
        found = days_of(log)
    turned = [day._replace(files=day.files[::-1]) for day in reversed(found)]

    assert fold.merge(parts_of(found)) == fold.merge(parts_of(turned))


@pytest.mark.parametrize("locale", LOCALES)
def test_the_history_becomes_the_expected_files_by_parts(tmp_path, locale):
    found = days_of(copied(HISTORY, tmp_path))

    assert tree(HISTORY / "expected" / locale) == files_of(fold.merge(parts_of(found)), Settings(locale=locale))


def test_a_damaged_log_gives_the_same_files_and_the_same_damage(tmp_path):
    log = copied(DAMAGED, tmp_path)
    done, alone = fold.replayed(fold.merge(parts_of(days_of(log))), Settings()), replay(log, Settings())

    assert alone.damage
    assert alone.damage == done.damage
    assert (alone.documents, alone.events) == (done.documents, done.events)


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.fixture
def parts(tmp_path):
    return parts_of(days_of(copied(HISTORY, tmp_path)))


def test_merging_a_day_twice_is_refused(parts):
    with pytest.raises(BadRequest, match=r"2026-\d\d-\d\d is in two parts"):
        fold.merge([fold.merge(parts), parts[1]])


def test_parts_of_two_logs_do_not_merge(parts):
    with pytest.raises(BadRequest, match="parts of 'ada' and of 'bob'"):
        fold.merge([parts[0], msgspec.structs.replace(parts[1], log="bob")])


@pytest.mark.parametrize("name", ["Unicode", "events", "eventlog", "schema", "time zones"])
def test_parts_of_two_versions_do_not_merge_and_are_not_rendered(parts, name):
    other = msgspec.structs.replace(parts[1], versions={**parts[1].versions, name: "0"})

    with pytest.raises(BadRequest, match=f"with {name} "):
        fold.merge([parts[0], other])
    with pytest.raises(BadRequest, match=f"a part was made with {name} 0"):
        fold.render(other, Settings())


def test_a_part_names_the_version_of_every_state_it_holds(parts):
    assert {"Conversations", "Knowledge"} <= {name.rpartition(".")[2] for name in parts[0].versions}


def test_a_day_of_which_nobody_asked_what_counts_is_not_rendered(log):
    told = log.append(fact(1))
    line = codec.encode(msgspec.structs.replace(told, ts=f"2030{told.ts[4:]}"))
    day = fold.DayBytes("ada", f"2030{told.ts[4:10]}", (("a.jsonl", line + b"\n"),))

    with pytest.raises(BadRequest, match=f"{day.date} has events that another day may have too"):
        fold.render(fold.fold_day(day), Settings())
    assert [] == fold.render(fold.fold_day(day, {told.id}), Settings())
    assert fold.render(fold.fold_day(day, ()), Settings())


def test_the_part_of_no_day_changes_nothing(parts):
    whole = fold.merge(parts)

    assert whole == fold.merge([fold.empty("ada"), *parts])
    assert [] == fold.render(fold.empty("ada"), Settings())


def test_no_part_at_all_is_no_part():
    with pytest.raises(BadRequest, match="there is no part to merge"):
        fold.merge([])


def test_two_files_of_one_name_are_refused():
    with pytest.raises(BadRequest, match="two files of 2026-02-20 have one name"):
        fold.fold_day(fold.DayBytes("ada", "2026-02-20", (("a.jsonl", b""), ("a.jsonl", b""))))
