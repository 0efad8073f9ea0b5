"""Pages show what the program does: a test follows every block, in the order of the page, with a fresh home for each story."""

import pytest

from tests.docs.reader import Reader
from tests.docs.stories import STORIES
from tests.docs.terminals import excuse, stories
from tests.support.tree import ROOT, needs_tree

needs_tree()
PAGES = sorted({page for page, _ in STORIES})
SHOWN = {
    (page, heading): steps
    for page in PAGES
    for heading, steps in stories((ROOT / page).read_text(encoding="utf-8")).items()
}


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES, ids=" ".join)
def test_what_is_shown_below_a_heading_can_be_repeated_word_for_word(story, reader):
    for position, step in enumerate(SHOWN[story]):
        STORIES[story].get(position, lambda _: None)(reader)
        if not excuse(story[0], step):
            reader.follow(step)


def test_every_block_is_followed_or_excused():
    told = {story for story, steps in SHOWN.items() if any(step.language for step in steps)}

    assert told == set(STORIES)
