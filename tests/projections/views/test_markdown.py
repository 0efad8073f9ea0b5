import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.base import Line
from eventlog.projections.views.markdown import STAMP_BYTES, is_untouched, stamped, stamped_at

NEWEST = "2026-02-21T08:35:44.123456Z"
one_line = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
FILE = stamped("MEMORY.md", [Line("# Memory", ("a", "b")), Line("- x", ("b",), ("c",))], NEWEST)


@given(st.lists(one_line))
def test_a_rendered_file_certifies_itself_and_tells_its_time(texts):
    data = stamped("MEMORY.md", [Line(text) for text in texts], NEWEST).data

    assert is_untouched(data)
    assert NEWEST == stamped_at(data)


def test_the_last_line_is_the_stamp_after_an_empty_one():
    last = FILE.data.decode().split("\n")[-3:]

    assert ["", ""] == [last[0], last[2]]
    assert len(last[1]) + 1 == STAMP_BYTES


@given(st.integers(0, len(FILE.data) - 1), st.binary(max_size=2))
def test_any_change_shows(at, put_in):
    changed = FILE.data[:at] + put_in + FILE.data[at + 1 :]

    assert changed == FILE.data or not is_untouched(changed) or changed == FILE.data[:-1]


@pytest.mark.parametrize("added", [b"x", b"\n", b" ", b"- mine\n"])
def test_anything_added_at_either_end_shows(added):
    assert not is_untouched(FILE.data + added)
    assert not is_untouched(added + FILE.data)


def test_an_edited_file_still_tells_the_time_of_its_base():
    assert NEWEST == stamped_at(FILE.data.replace(b"- x", b"- y"))


@pytest.mark.parametrize("data", [b"", b"# mine\n", FILE.data + b"# mine\n"])
def test_a_file_whose_last_line_is_no_stamp_tells_no_time(data):
    assert stamped_at(data) is None
    assert not is_untouched(data)


def test_everything_in_the_file_stands_behind_its_stamp():
    assert (("a", "b"), ("c",)) == (FILE.lines[-1].sources, FILE.lines[-1].conversations)


def test_another_time_is_another_file():
    assert not is_untouched(FILE.data.replace(b"08:35:44.123456Z", b"08:35:44.123457Z"))


def test_an_older_file_whose_digest_is_of_the_text_alone_is_still_known_as_untouched():
    text = b"# Memory\n\n- x\n\n"
    stamp = f"<!-- eventlog {NEWEST} sha256:{hashlib.sha256(text).hexdigest()} -->\n"

    assert is_untouched(text + stamp.encode())
    assert not is_untouched(text.replace(b"x", b"y") + stamp.encode())


def test_a_file_of_megabytes_is_stamped_as_any_other():
    text = b"- x\n" * (1 << 20)
    stamp = f"<!-- eventlog {NEWEST} sha256:{hashlib.sha256(text + NEWEST.encode()).hexdigest()} -->\n"

    assert is_untouched(text + stamp.encode())
    assert not is_untouched(text.replace(b"x", b"y", 1) + stamp.encode())
