"""One section of a Markdown file changes; everything else stays byte for byte."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.sections import Page, Unsafe
from tests.support.sections import delete

# every line may meet every other: openings without ends, ends without openings, headings that are none
LINES = [
    "", "", "  ", "text", "more text ", "# T", "## S", "## S ##", "### S.1", "## **S**", "## 标题", "## `code` _x_",
    "S", "---", "===", "```", "~~~", "- item", "  - nested", "  ## S", "    ## S", "> ## S", "- ## S", "1. one",
    "<div>", "</div>", "<!--", "-->", "<script>", "</script>", "[S]: /url", "| a |", "\tcode", "#hash", "title: x",
    "\u3000", "\u2028", "\x0c", "...", "\\", "######", "## ", "é" * 3,
]  # fmt: skip
EOLS = st.sampled_from(["\n", "\r\n", "\r"])
HEADINGS = st.sampled_from(["S", "T", "S.1", "标题", "**S**", "code x", "New", "C#", "a #", "x\\"])
LEVELS = st.integers(1, 4)
CONTENTS = st.lists(st.sampled_from(LINES), max_size=4).map("\n".join) | st.text(max_size=12)
OPERATIONS = st.sampled_from(["update", "clear", "delete", "delete own"])


@st.composite
def documents(draw):
    texts = draw(st.lists(st.sampled_from(LINES), max_size=14))
    eol = draw(EOLS)
    whole = "".join(text + (draw(EOLS) if draw(st.integers(0, 9)) == 0 else eol) for text in texts)
    whole = whole if draw(st.booleans()) else whole.removesuffix(eol)
    data = ("\ufeff" if draw(st.integers(0, 4)) == 0 else "").encode() + whole.encode()
    return data + draw(st.sampled_from([b"", b"", b"", b"\xff", b"\xe6\n"]))


def refusal(heading, content):
    return section_edits.refused_heading(heading, 2) or section_edits.refused_content(content)


def body_of(data, heading, level):
    page = Page(data)
    found = page.find(heading, level)
    return page.text(found) if found else None


def change(data, operation, heading, level, content):
    if operation == "update":
        return section_edits.update(data, heading, level, content)
    if operation == "clear":
        return section_edits.update(data, heading, level, "")
    return delete(data, heading, level, subsections=operation == "delete")


def around(data, operation, heading, level):
    """The bytes before and after what the change may touch."""
    page = Page(data)
    found = page.find(heading, level)
    if found is None:
        return data, b""
    end = found.last if operation == "delete" else found.end
    return b"".join(page.lines[: found.start]), b"".join(page.lines[end:])


@given(documents(), OPERATIONS, HEADINGS, LEVELS, CONTENTS)
@example(b"# T", "update", "S", 2, "x")
@example(b"para\n## S\nTitle\n---\n", "delete own", "S", 2, "")
@example(b"- a\n## S\nb\n\n  ## T\n", "delete", "S", 2, "")
def test_only_the_addressed_section_changes_and_twice_is_once(data, operation, heading, level, content):
    try:
        changed = change(data, operation, heading, level, content)
    except Unsafe:
        return
    before, after = around(data, operation, heading, level)

    assert changed.startswith(before)
    assert changed.endswith(after)
    assert len(changed) >= len(before) + len(after)
    if "delete" not in operation:  # a second section with the same heading would be the first then
        assert changed == change(changed, operation, heading, level, content)


@given(documents(), HEADINGS, LEVELS, CONTENTS)
def test_what_was_written_is_what_is_read(data, heading, level, content):
    try:
        changed = section_edits.update(data, heading, level, content)
    except Unsafe:
        return

    assert sections.canonical(content.encode("utf-8", "replace").decode()) == body_of(changed, heading, level)


@given(documents(), HEADINGS, LEVELS, CONTENTS)
def test_all_other_sections_read_the_same_afterwards(data, heading, level, content):
    try:
        changed = section_edits.update(data, heading, level, content)
    except Unsafe:
        return
    found = Page(data).find(heading, level)
    others = Page(changed).outline()
    del others[Page(data).sections.index(found) + 1 if found else -1]
    before = Page(data).outline()
    if found:
        del before[Page(data).sections.index(found) + 1]

    assert before == others


@given(documents())
def test_the_lines_of_a_page_are_the_file(data):
    assert data == b"".join(Page(data).lines)


@given(documents(), CONTENTS)
def test_accepted_content_can_be_written_into_any_file_that_is_whole(data, content):
    heading = "Brand new"
    if refusal(heading, content) or data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
        return  # metadata that never ends may end in the content
    try:
        section_edits.update(data, heading, 2, "text")
    except Unsafe:
        return

    assert section_edits.update(data, heading, 2, content).startswith(data)


DOCUMENT = b"""\xef\xbb\xbf---
title: me
## S
---
# Title

Intro with ## S inside.

```markdown
## S
```

<!--
## S
-->

- item

  ## S

> ## S

## S ##

old text

### S.1

child

# Other

## S

second
"""

KINDS = {
    "as it is": DOCUMENT,
    "CRLF": DOCUMENT.replace(b"\n", b"\r\n"),
    "CR": DOCUMENT.replace(b"\n", b"\r"),
    "no final newline": DOCUMENT.removesuffix(b"\n"),
    "foreign bytes": DOCUMENT.replace(b"Intro", b"\xff\xfe Intro"),
}


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)
def test_fences_children_namesakes_and_closing_hashes_are_left_alone(data):
    eol = b"\r\n" if b"\r\n" in data else b"\r" if b"\r" in data else b"\n"

    assert data.replace(b"old text", b"new" + eol + b"text") == section_edits.update(
        data, "S", 2, "new\ntext", ["Title"]
    )


@pytest.mark.parametrize("data", KINDS.values(), ids=KINDS)
def test_clearing_keeps_the_heading_and_one_blank_line(data):
    eol = b"\r\n" if b"\r\n" in data else b"\r" if b"\r" in data else b"\n"

    assert data.replace(b"old text" + eol + eol, b"") == section_edits.update(data, "S", 2, "", ["Title"])


def test_deleting_takes_the_subsections_along():
    start = DOCUMENT.index(b"## S ##")

    assert DOCUMENT[:start] + b"# Other\n\n## S\n\nsecond\n" == delete(DOCUMENT, "S", 2, ["Title"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"## S\n\nx\n"),
        (b"\xef\xbb\xbf", b"\xef\xbb\xbf## S\n\nx\n"),
        (b"# T\n", b"# T\n\n## S\n\nx\n"),
        (b"# T\n\n", b"# T\n\n## S\n\nx\n"),
        (b"# T", b"# T\n\n## S\n\nx"),
        (b"# T\r\n", b"# T\r\n\r\n## S\r\n\r\nx\r\n"),
        (b"## S", b"## S\n\nx"),
        (b"## S\n", b"## S\n\nx\n"),
        (b"## S\n# T\n", b"## S\n\nx\n\n# T\n"),
        (b"## S\nold\n# T\n", b"## S\nx\n\n# T\n"),
        (b"S\n---\nold\n", b"S\n---\nx\n"),
        (b"## S\n\n\nold\n\n\n# T\n", b"## S\n\n\nx\n\n\n# T\n"),
    ],
)
def test_a_section_fits_in_with_the_spacing_that_is_there(before, after):
    assert after == section_edits.update(before, "S", 2, "x")


@pytest.mark.parametrize("written", ["## **Bold** `x`", "## Bold x ##", "Bold x\n---", "##\tBold  x"])
@pytest.mark.parametrize("asked", ["Bold x", "**Bold** `x`", " Bold  x "])
def test_a_heading_is_known_by_its_text_however_it_is_marked_up(written, asked):
    assert body_of(f"{written}\n\nbody\n".encode(), asked, 2) == "body"


def test_of_two_headings_with_the_same_text_the_one_written_like_it_is_meant():
    data = b"## **S**\n\nbold\n\n## S\n\nplain\n"

    assert ("bold", "plain") == (body_of(data, "**S**", 2), body_of(data, "S", 2))


def test_the_same_heading_at_another_level_is_another_section():
    assert body_of(b"# S\n\none\n\n### S\n\nthree\n", "S", 2) is None


def test_the_width_of_its_characters_makes_no_second_section_and_tells_two_apart():
    wide, both = "## 偏好（工作）\n\nold\n".encode(), "## 偏好(工作)\n\n## 偏好（工作）\n\nold\n".encode()

    assert wide.replace(b"old", b"new") == section_edits.update(wide, "偏好(工作)", 2, "new")
    assert both.replace(b"old", b"new") == section_edits.update(both, "偏好（工作）", 2, "new")


def test_headings_above_may_be_named_in_either_width_too():
    page = Page("# 偏好（工作）\n\n## S\n\n# 偏好(家)\n\n## S\n".encode())

    named = [page.candidates("S", 2, [name]) for name in ("偏好(工作)", "偏好（家）")]
    assert [[2], [6]] == [[section.start for section in found] for found in named]
    assert [0] == [parent.start for parent in page.parents(2, ["偏好(工作)"])]


def test_a_composed_and_a_decomposed_heading_are_the_same():
    assert body_of("## Cafe\u0301\n\nx\n".encode(), "Caf\u00e9", 2) == "x"


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"# T\n\n```\ncode\n", "x"),
        (b"<!-- open\n", "x"),
        (b"## S\n\nold\n\n# T\n", "```\nopen"),
        (b"## S\n\nold\n\n# T\n", "# mine"),
        (b"## S\n\nold\n\n  ## indented\n", "- a list"),
    ],
)
def test_a_change_that_would_reach_further_is_refused(data, content):
    with pytest.raises(Unsafe):
        section_edits.update(data, "S", 2, content)


@pytest.mark.parametrize(
    ("heading", "content", "reason"),
    [
        ("S", "a\n\n### b\nc", "heading in line 3"),
        ("S", "a\n===", "heading in line 1"),
        ("S", "```\na", "open"),
        ("S", "<!-- a", "open"),
        ("S", "a\0", "NUL"),
        ("S\nT", "a", "one line"),
        ("x" * 501, "a", "one line"),
        ("S #", "a", "cannot be written"),
        ("S", "```\n# a\n```", None),
        ("中文", "- 一\n- 二", None),
    ],
)
def test_what_no_file_could_take_is_told_beforehand(heading, content, reason):
    told = refusal(heading, content)

    assert (reason or "None") in str(told)


def test_line_ends_and_blank_lines_around_do_not_make_a_text_another():
    assert sections.canonical("a\n b ") == sections.canonical("\r\n \t\na\r\n b \r\n\n")
    assert sections.digest(None) != sections.digest("")


@given(CONTENTS.filter(lambda text: "\0" not in text))
def test_what_is_accepted_at_a_glance_would_be_accepted_after_a_close_look(content):
    if refusal("H", content) is None:
        whole = section_edits.update(b"## H\n\n# After\n", "H", 2, content)

        assert ["H", "After"] == [one.heading for one in Page(whole).sections]
