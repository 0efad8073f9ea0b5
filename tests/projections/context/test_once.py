"""The same line stands once in a context."""

import pytest

from eventlog.projections.base import Line
from eventlog.projections.context.budget import ContextSection
from eventlog.projections.context.once import without_repetitions

LONG = "the cart is priced in integers, and never in floats"


def section(*texts):
    return ContextSection("any", tuple(map(Line, texts)), 0)


def told(*sections, ranks=None, theirs=()):
    kept = without_repetitions(sections, ranks or range(len(sections)), "shop", map(Line, theirs))
    return [[line.text for line in section.lines] for section in kept]


@pytest.mark.parametrize(
    "again",
    [
        "- [2026-02-15] Use RS256!",
        "- [O][2026-02-15] use  rs256",
        "- 08:35 shop: Use RS256",
        "- shop: Use RS256",
        "- [ ] shop: Use RS256",
        "- Use RS256",
    ],
)
def test_a_line_is_told_once_wherever_else_it_stands_and_however_it_is_marked(again):
    assert [["- [W][2026-02-20] Use RS256"], []] == told(section("- [W][2026-02-20] Use RS256"), section(again))


def test_it_is_told_where_it_matters_most():
    assert [["- b"], ["- a"]] == told(section("- a", "- b"), section("- a"), ranks=[1, 0])


def test_a_heading_that_has_lost_all_of_its_own_goes_with_it():
    before = section("**Session ID:** s1", "", "## Done", "- a", "", "## Open", "- b")

    assert [["- a"], ["**Session ID:** s1", "", "## Open", "- b"]] == told(section("- a"), before)


@pytest.mark.parametrize("theirs", ["- Use RS256", "* use rs256.", "  + Use RS256", "1. Use RS256", "- [x] Use RS256"])
def test_what_a_persons_own_file_says_is_not_said_again(theirs):
    assert [["- [W][2026-02-20] Use JWT"]] == told(
        section("- [W][2026-02-20] Use RS256", "- [W][2026-02-20] Use JWT"), theirs=[theirs]
    )


@pytest.mark.parametrize("theirs", ["Use RS256", "# Use RS256", "- Use RS256 only here", "-Use RS256"])
def test_what_a_persons_own_file_does_not_say_is_said(theirs):
    assert [["- [W][2026-02-20] Use RS256"]] == told(section("- [W][2026-02-20] Use RS256"), theirs=[theirs])


def test_what_is_no_bullet_stays_where_a_bullet_does():
    assert [["- a"], ["intro", "- b"]] == told(section("- a"), section("intro", "- a", "- b"))


@pytest.mark.parametrize(("first", "second"), [(f"- {LONG}", f"- {LONG[:30]}…"), (f"- {LONG[:30]}…", f"- {LONG}")])
def test_a_text_that_was_cut_stands_for_the_whole(first, second):
    assert [[first], []] == told(section(first), section(second))
