"""What the README shows is what the program does: every block of it, in the order of the page, in a fresh home each story."""

import pytest

from tests.docs.reader import Reader
from tests.docs.stories import STORIES
from tests.docs.terminals import excuse, stories
from tests.support.tree import ROOT, needs_tree

needs_tree()
SHOWN = stories((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


@pytest.mark.parametrize("heading", STORIES)
def test_what_is_shown_below_a_heading_can_be_repeated_word_for_word(heading, reader):
    for position, step in enumerate(SHOWN[heading]):
        STORIES[heading].get(position, lambda _: None)(reader)
        if not excuse("README.md", step):
            reader.follow(step)


def test_every_block_is_followed_or_excused():
    told = {heading for heading, steps in SHOWN.items() if any(step.language for step in steps)}

    assert told == set(STORIES)
