"""Lines that hold certain bytes are found without looking at the others, and are the same by any way of looking."""

from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast.fastjson import BOM
from eventlog.store.index_lookup import line_at, lines_with

DATA = st.lists(st.sampled_from([b"a", b"b", b"\n", b"ab"]), max_size=30).map(b"".join)
WORDS = st.lists(st.sampled_from([b"a", b"b", b"ab", b"ba"]), max_size=3)


@given(DATA, WORDS)
def test_each_line_with_a_word_is_found_once(data, words):
    found = [data[start:end] for start, end in lines_with(data, words)]

    assert sorted(found) == sorted(line for line in data.split(b"\n") if any(word in line for word in words))


@given(DATA, st.integers(0, 60))
def test_the_line_around_an_offset_has_no_line_break(data, at):
    start, end = line_at(data, min(at, len(data)))

    assert b"\n" not in data[start:end]


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    assert [(3, 5), (6, 8)] == list(lines_with(BOM + b"ab\nab\n", [b"ab"]))
