"""Two changes of one text are both made, or told to be in each other's way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.bases.section_history import added, merged, missing

TEXTS = st.lists(st.sampled_from("abcd"), max_size=6)


@pytest.mark.parametrize(
    ("base", "one", "other", "both"),
    [
        ("abc", "aBc", "abC", "aBC"),
        ("abc", "abcx", "abC", "abCx"),
        ("abc", "abcx", "abcy", "abcxy"),
        ("abc", "aBc", "aXc", None),
        ("a", "", "b", None),
        ("abc", "bc", "abcd", "bcd"),
    ],
)
def test_changes_of_different_lines_are_both_made(base, one, other, both):
    assert (list(both) if both else None) == merged(base, one, other)


@given(TEXTS, TEXTS)
def test_where_only_one_has_changed_that_is_the_result(base, one):
    assert merged(base, one, base) == merged(base, base, one) == merged(base, one, one) == one


@given(TEXTS, TEXTS)
def test_nothing_is_missing_exactly_where_all_is_there_in_order(wanted, lines):
    left = iter(lines)

    assert (missing(wanted, lines) == []) == all(line in left for line in wanted)


@given(TEXTS, TEXTS)
def test_every_line_of_the_later_text_has_one_mark(before, after):
    marked = added([(line, True) for line in before], after, mark=False)

    assert after == [line for line, _ in marked]
    assert all(mark for _, mark in added([(line, True) for line in before], before, mark=False))
