import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast.copies import replace
from eventlog.projections.base import Line
from eventlog.projections.context import phrases
from eventlog.projections.context.budget import ContextSection, fit

PHRASES = replace(phrases.PHRASES["en"], more="[{count} more: {command}]", dropped="[without {count}]")
HEAD = "how to save\n"


def section(title, *texts, priority=1, more="show"):
    return ContextSection(title, tuple(Line(text, (text,)) for text in texts), priority, more)


def test_what_fits_is_told_as_it_is():
    fitted = fit(HEAD, [section("A", "one", "two"), section("B", "three")], 1000, PHRASES)

    assert fitted.text == "how to save\n\n# A\n\none\ntwo\n\n# B\n\nthree\n"
    assert fitted.cut == []


def test_without_instructions_a_text_begins_with_its_first_title():
    assert fit("", [section("A", "one")], 100, PHRASES).text == "# A\n\none\n"


def test_a_section_is_cut_at_a_line_and_says_how_to_see_the_rest():
    texts = [f"line {number}" for number in range(100)]
    fitted = fit(HEAD, [section("A", *texts, more="cat A")], 200, PHRASES)
    told = fitted.text.splitlines()

    assert told[-1] == f"[{100 - (len(told) - 5)} more: cat A]"
    assert texts[: len(told) - 5] == told[4:-1]
    assert fitted.cut == ["A"]


def test_what_was_cut_is_behind_nothing_that_was_told():
    fitted = fit(HEAD, [section("A", *(f"line {number}" for number in range(100)))], 200, PHRASES)

    assert [event for line in fitted.shown for event in line.sources] == [
        line.text for line in fitted.shown if line.text.startswith("line")
    ]


def test_what_matters_more_gets_its_room_first():
    lines = [f"line {number}" for number in range(40)]
    fitted = fit(HEAD, [section("less", *lines, priority=2), section("more", *lines[:10], priority=1)], 300, PHRASES)

    assert fitted.cut == ["less"]


def test_sections_stay_in_the_order_given():
    fitted = fit(HEAD, [section("A", "a", priority=9), section("B", "b", priority=1)], 1000, PHRASES)

    assert fitted.text.index("# A") < fitted.text.index("# B")


def test_a_giant_takes_no_more_than_half_from_those_after_it():
    giant = section("giant", *(f"line {number}" for number in range(10_000)), priority=1)
    others = [section(f"other {number}", "a" * 80, priority=2 + number) for number in range(3)]
    fitted = fit(HEAD, [giant, *others], 1000, PHRASES)

    assert fitted.cut == ["giant"]


def test_what_has_no_room_even_for_a_title_is_named():
    sections = [section(f"section {number}", "x" * 300, priority=number) for number in range(5)]
    fitted = fit(HEAD, sections, 100, PHRASES)

    assert fitted.text.splitlines()[-1].startswith("[without ")


def test_instructions_that_alone_are_too_long_are_cut_at_a_line():
    assert fit("one\ntwo\nthree\n", [section("A", "a")], 9, PHRASES).text == "one\ntwo\n"


texts = st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=60), min_size=1, max_size=12)
drawn = st.lists(st.tuples(st.text("abc 中", min_size=1, max_size=20), texts, st.integers(0, 9)), max_size=6)


@pytest.mark.slow
@given(drawn, st.integers(1, 1500))
def test_no_text_is_longer_than_its_budget_and_nothing_vanishes_unsaid(sections, budget):
    made = [section(title, *lines, priority=priority) for title, lines, priority in sections]
    fitted = fit(HEAD, made, budget, PHRASES)

    assert len(fitted.text) <= budget
    for one in made:
        assert one.title in fitted.cut or one.text.removeprefix("\n") in fitted.text


def test_what_has_no_command_of_its_own_is_shown_by_a_look_with_room_for_all():
    words = replace(PHRASES, more="[{count} more: {command}]", dropped="[{count} dropped: {command}]")
    texts = [f"line {number}" for number in range(3000)]
    fitted = fit("", [section("A", *texts, more=""), section("B" * 99, "b", priority=2)], 150, words, "look {x}")

    assert fitted.text.count("look {x} --budget 40000") == 2


def test_where_even_the_instructions_are_cut_nothing_else_is_told():
    assert fit("one\ntwo\nthree\n", [section("A", "a"), section("B", "b")], 13, PHRASES).text == "one\ntwo\n"


def test_of_a_memory_each_part_tells_its_first_lines_and_none_starves_those_after_it():
    parts = {"Decisions": 50, "Lessons": 20, "Knowledge": 3}
    lines = [
        text
        for name, size in parts.items()
        for text in ("", f"## {name}", "", *(f"- {name} {at}" for at in range(size)))
    ][1:]
    memory = replace(section("Memory", *lines), in_parts=True)

    fitted = fit("", [memory], 500, PHRASES)
    told = fitted.text.splitlines()[2:]
    counts = {name: sum(line.startswith(f"- {name}") for line in told) for name in parts}

    assert told[:-1] == [line for line in lines if line in told or not line][: len(told) - 1]
    assert counts["Decisions"] > counts["Lessons"] > 0
    assert counts["Knowledge"] == 3
    assert told[-1] == f"[{len(lines) - len(told) + 1} more: show]"
