"""The reference of the format is the code's, not a copy that somebody remembers to keep."""

from eventlog.format.events import TYPES
from tests.docs.generate import PAGE, page
from tests.support.tree import needs_tree

needs_tree()


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/format.md is stale: run `make docs`"


def test_every_type_has_a_section_of_its_own():
    text = page()

    assert [name for name in TYPES if f"\n### `{name}`\n" not in text] == []
