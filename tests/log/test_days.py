import pytest

from eventlog.format import codec
from eventlog.log import days
from tests.support.builders import DAY, NEXT_DAY, contents, day_of, kinds, line, lines, write


def test_the_days_of_a_log_that_does_not_exist_are_none(tmp_path):
    assert [] == days.list_days(str(tmp_path / "nowhere"))


def test_days_are_listed_oldest_first(log_dir):
    for day in (NEXT_DAY, "2025-12-31", DAY):
        write(log_dir, b"", f"{day}.jsonl")

    assert [day.date for day in days.list_days(str(log_dir))] == ["2025-12-31", DAY, NEXT_DAY]


def test_all_files_of_a_day_are_one_day_its_own_first_then_replicas_by_name(log_dir):
    names = [f"{DAY}.jsonl", f"{DAY}.a-long-name.jsonl", f"{DAY}.b.jsonl", f"{DAY}.z.jsonl"]
    files = [write(log_dir, b"", name) for name in names]

    assert [days.Day(DAY, tuple(files))] == days.list_days(str(log_dir))


STRANGERS = [
    "2026-02-30.jsonl", "2026-2-20.jsonl", "20260220.jsonl", f"{DAY}.json", f"{DAY}.jsonl~", f".{DAY}.jsonl",
    f"{DAY}.sync-conflict-20260221-080000-ABCDEFG.jsonl", f"{DAY}.a.sync-conflict-x.jsonl", f"{DAY}.Conflict.jsonl",
    f"{DAY}.{'r' * 61}.jsonl", f"{DAY}.a b.jsonl", f"{DAY}..jsonl", f"{DAY}.jsonl.lock", "notes.txt", f"x{DAY}.jsonl", f"{DAY}.jsonl\n",
    "٢٠٢٦-02-20.jsonl",
]  # fmt: skip


@pytest.mark.parametrize("name", STRANGERS)
def test_a_file_with_another_name_is_a_stranger_and_never_read(log_dir, name):
    file = write(log_dir, lines(0), name)

    assert ([], [file]) == (days.list_days(str(log_dir)), days.foreign_files(str(log_dir)))


def test_a_day_file_is_no_stranger(log_dir):
    write(log_dir, lines(0))
    write(log_dir, lines(0), f"{DAY}.laptop.jsonl")

    assert [] == days.foreign_files(str(log_dir))


def test_a_directory_is_an_unreadable_day(log_dir):
    (log_dir / f"{DAY}.jsonl").mkdir()
    [day] = days.list_days(str(log_dir))

    assert ([], ["unreadable"]) == (day.load()[0], kinds(day.load()[1]))


def test_entries_are_ordered_by_time_then_id(log_dir):
    same_time = line(0, id=line(1)[14:50].decode()), line(0)
    file = write(log_dir, lines(2) + b"\n".join(same_time) + b"\n" + lines(1))
    order = [(entry.event.ts, entry.event.id) for entry in day_of(file).entries()[0]]

    assert sorted(order) == order
    assert 4 == len(order)


def test_an_entry_says_where_its_line_is(log_dir):
    file = write(log_dir, lines(0, 1, 2))

    assert [(line(n), file, n + 1, n * len(lines(0))) for n in range(3)] == [
        entry[1:] for entry in day_of(file).entries()[0]
    ]


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\r\n", b"junk\n"])
def test_an_entry_is_found_again_at_its_offset(log_dir, start):
    file = write(log_dir, start + lines(0, 1))
    for entry in day_of(file).entries()[0]:
        [again] = days.entries_at(file, [entry.offset])

        assert (entry.event, entry.line) == (again.event, again.line)


@pytest.mark.parametrize("offset", [1, 10**9])
def test_where_no_event_starts_none_is_found(log_dir, offset):
    assert [] == list(days.entries_at(write(log_dir, lines(0)), [offset]))


def test_an_ordinary_day_is_loaded_with_the_fields_nobody_knows(log_dir):
    day = day_of(write(log_dir, lines(0) + line(1, mood="calm", extra={"a": 1}) + b"\n"))

    assert [{}, {"mood": "calm", "extra": {"a": 1}}] == [event.extra for event in day.load()[0]]


def test_an_ordinary_day_is_decoded_at_once_for_its_lines_too(log_dir, monkeypatch):
    day = day_of(write(log_dir, lines(0, 1, 2)))
    line_by_line = [entry for one in (0, 1, 2) for entry in day._mentioning([b"fact %d" % one])]
    monkeypatch.setattr(codec, "decode", None)  # what decodes a single line

    entries, damage = day.entries()

    assert ([entry[:3] for entry in line_by_line], []) == ([entry[:3] for entry in entries], damage)


def test_a_replica_adds_its_events_to_the_day(log, log_dir):
    write(log_dir, lines(0, 2))
    write(log_dir, lines(1, 2), f"{DAY}.laptop.jsonl")

    assert ["fact 0", "fact 1", "fact 2"] == contents(log.read())
