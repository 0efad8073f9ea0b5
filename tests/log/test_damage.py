"""Damage costs only itself: every other event is read, and every damage is named with file, line, offset and kind."""

import pytest
from hypothesis import example, given

from eventlog.fast.fastjson import BOM, MAX_LINE
from tests.support.builders import DAY, NEXT_DAY, contents, day_of, kinds, line, lines, write
from tests.support.effort import stride
from tests.support.strategies import any_lines

DAMAGED = {
    "blank": [b"", b" ", b"\t", b"\r"],
    "not-object": [b"null", b"[]", b"7", b'"text"', b"true"],
    "not-json": [
        line(1)[:-1], line(1)[1:], line(1) + line(2), line(1) + b"x", b"\x00", b"{1:2}", b"{'a':1}", b"[" * 100_000,
        b"{}}", BOM + line(1), line(1).replace(b'"fact 1"', b"NaN"), line(1).replace(b"fact 1", b"\\ud800"),
    ],
    "not-utf8": [b"\xff", line(1).replace(b"fact", b"f\xffct"), line(1, mood="calm").replace(b"mood", b"m\xf0od")],
    "invalid": [
        b"{}", line(1, confidence=2), line(1, content=" "), line(1, conversation_id=""), line(1, layer=9),
        line(1, v=0), line(1, v=None, type="dream"), line(1, id=""), line(1, ts=""), line(1, ts="now"),
        line(1, ts=f"{DAY}T25:00:00.000000Z"), line(1, type=None), line(1, type="dream", agent=1),
    ],
    "wrong-day": [line(1, day=NEXT_DAY), line(1, type="dream", day="1999-12-31")],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "bad"), [(kind, bad) for kind, some in DAMAGED.items() for bad in some])
def test_a_damaged_line_costs_only_itself(log_dir, kind, bad):
    file = write(log_dir, lines(0) + bad + b"\n" + lines(3))
    found, [damage] = day_of(file).entries()

    assert ["fact 0", "fact 3"] == contents(entry.event for entry in found)
    assert (file, 2, len(lines(0)), kind) == (damage.file, damage.line, damage.offset, damage.kind)
    assert damage.reason


@pytest.mark.slow
@pytest.mark.parametrize("bad", [bad for some in DAMAGED.values() for bad in some])
def test_a_damaged_line_is_named_the_same_way_by_both_readers(log_dir, bad):
    day = day_of(write(log_dir, lines(0) + bad + b"\n" + lines(3)))

    assert day.entries()[1] == day.load()[1]


def test_a_foreign_byte_is_named_with_its_place(log_dir):
    file = write(log_dir, lines(0) + line(1).replace(b"fact 1", b"fact\xfe1") + b"\n")
    [damage] = day_of(file).entries()[1]

    assert f"byte 0xfe at offset {(lines(0) + line(1)).index(b'fact 1') + 4}" == damage.reason


def test_an_unfinished_last_line_is_pending(log_dir):
    file = write(log_dir, lines(0, 1) + line(2)[:-1])
    found, [damage] = day_of(file).entries()

    assert ["fact 0", "fact 1"] == contents(entry.event for entry in found)
    assert ("pending", 3, len(lines(0, 1))) == (damage.kind, damage.line, damage.offset)


def test_a_byte_order_mark_is_named_and_the_line_behind_it_read(log_dir):
    file = write(log_dir, BOM + lines(0, 1))
    found, [damage] = day_of(file).entries()

    assert ["fact 0", "fact 1"] == contents(entry.event for entry in found)
    assert ("bom", 1, 0) == (damage.kind, damage.line, damage.offset)


def test_line_ends_of_windows_are_no_damage(log_dir):
    day = day_of(write(log_dir, lines(0, 1).replace(b"\n", b"\r\n")))

    assert (["fact 0", "fact 1"], []) == (contents(day.load()[0]), day.entries()[1])


def test_a_line_too_long_is_named_and_read(log_dir):
    day = day_of(write(log_dir, line(0, content="x" * MAX_LINE) + b"\n" + lines(1)))

    assert (2, ["too-long"]) == (len(day.entries()[0]), kinds(day.entries()[1]))


def test_of_two_lines_with_one_id_the_smaller_counts_wherever_it_stands(log_dir):
    one, other = line(0, content="a"), line(0, content="b")
    for first, second in ((one, other), (other, one)):
        file = write(log_dir, first + b"\n" + second + b"\n")
        [entry], [damage] = day_of(file).entries()

        assert one == entry.line
        assert ("conflict", 2) == (damage.kind, damage.line)


def test_the_same_line_twice_is_no_damage(log_dir):
    day = day_of(write(log_dir, lines(0, 0)), write(log_dir, lines(0), f"{DAY}.copy.jsonl"))

    assert (1, []) == (len(day.entries()[0]), day.entries()[1])


def test_two_events_on_one_line_are_not_made_up_for_by_a_line_of_blanks(log_dir):
    day = day_of(write(log_dir, line(0) + line(1) + b"\n \n"))

    assert ([], ["not-json", "blank"]) == (day.load()[0], kinds(day.load()[1]))


def test_an_event_on_two_lines_is_no_event(log_dir):
    day = day_of(write(log_dir, line(0).replace(b',"content"', b',\n"content"') + b"\n"))

    assert ([], ["not-json", "not-json"]) == (day.load()[0], kinds(day.load()[1]))


def agreed(day):
    """The day's events, by line where both readers agree."""
    found, damage = day.entries()
    loaded, loaded_damage = day.load()
    assert sorted((entry.event for entry in found), key=repr) == sorted(loaded, key=repr)
    assert loaded_damage in ([], damage)
    return {entry.line for entry in found}


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("mask", [0xFF, 0x80, 0x20, 0x01])
def test_a_flipped_byte_costs_no_other_line(log_dir, mask):
    texts = [line(0), line(1, mood="x"), line(2, type="dream"), line(3, entities=["é"])]
    whole = b"\n".join(texts) + b"\n"
    for position in range(0, len(whole), stride(3)):
        flipped = bytearray(whole)
        flipped[position] ^= mask
        hit = whole[:position].count(b"\n")
        hits = {texts[hit], *(texts[hit + 1 : hit + 2] if whole[position : position + 1] == b"\n" else [])}

        assert set(texts) - hits <= agreed(day_of(write(log_dir, bytes(flipped))))


@pytest.mark.slow
def test_a_cut_file_is_read_up_to_the_cut(log_dir):
    texts = [line(0), line(1, mood="x"), line(2, type="dream")]
    whole = b"\n".join(texts) + b"\n"
    for cut in range(len(whole)):
        assert set(texts) & set(whole[:cut].split(b"\n")) == agreed(day_of(write(log_dir, whole[:cut])))


@pytest.mark.slow
@given(any_lines)
def test_both_readers_agree_whatever_the_lines(tmp_path_factory, some):
    directory = tmp_path_factory.mktemp("log")
    pieces = {piece for one in some for piece in one.split(b"\n")}  # junk may hold newlines

    for data in (b"\n".join(some), b"\n".join([*some, b""])):
        assert agreed(day_of(write(directory, data))) <= {*pieces, *(piece.removeprefix(BOM) for piece in pieces)}


TWICE = [line(0), line(0, session_type="shared")]  # of one id


@pytest.mark.slow
@given(any_lines, any_lines)
@example(TWICE, TWICE[:1])
def test_a_day_is_the_same_however_it_is_split_into_files(tmp_path_factory, some, others):
    """Of an id with two lines, that in the file of this machine counts: all files are of others."""
    directory = tmp_path_factory.mktemp("log")
    whole = day_of(write(directory, b"\n".join([b"", *some, *others, b""]), "whole"))
    split = day_of(
        write(directory, b"\n".join([b"", *others, b""]), "one"),
        write(directory, b"\n".join([b"", *some, b""]), "other"),
    )

    assert agreed(whole) == agreed(split)


def test_every_event_of_a_log_with_every_damage_is_read(log, log_dir):
    bad = [one for some in DAMAGED.values() for one in some]
    data = b"".join(one + b"\n" + line(number + 10) + b"\n" for number, one in enumerate(bad))
    write(log_dir, data + line(5)[:20])
    write(log_dir, lines(0), f"{DAY}.laptop.jsonl")
    write(log_dir, lines(6), "notes.txt")
    named = [bad for day in log.days() for bad in day.entries()[1]]

    assert [f"fact {n}" for n in (0, *range(10, 10 + len(bad)))] == contents(log.read())
    assert len(bad) + 1 == len(named)
