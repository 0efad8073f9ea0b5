"""The pages made from the code are current: the format and the verbs."""

import pytest

from eventlog.format.events import TYPES
from tests.docs.generate import PAGES, page
from tests.support.tree import needs_tree

needs_tree()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_page_is_what_the_code_says(path):
    assert path.read_text(encoding="utf-8") == PAGES[path](), f"{path.name} is stale: run `make docs`"


def test_every_type_has_a_section_of_its_own():
    text = page()

    assert [name for name in TYPES if f"\n### `{name}`\n" not in text] == []
