"""No page shows a command that nobody runs: what cannot be run is in one short table, with the reason."""

import re

from tests.docs.follow import Step
from tests.docs.references import references
from tests.docs.stories import STORIES
from tests.docs.terminals import EXCUSED, FOLLOWED, blocks, excuse, stories
from tests.support.tree import needs_tree

needs_tree()
TERMINALS = ("console", "terminal", "sh", "bash", "shell")


def followed(page, text, step):
    told = (one.body for heading, shown in stories(text).items() if (page, heading) in STORIES for one in shown)
    return page in FOLLOWED or step.body in told


def test_every_terminal_of_every_page_is_followed_or_excused():
    left = [
        (page, step.body)
        for page, text, step in blocks()
        if step.language in TERMINALS and not excuse(page, step) and not followed(page, text, step)
    ]

    assert left == []


def test_what_looks_like_a_terminal_says_so():
    assert [
        step.body
        for _, _, step in blocks()
        if step.language not in TERMINALS and re.search(r"^\$ ", step.body, re.MULTILINE)
    ] == []


def test_every_excuse_is_for_a_block_that_is_there_and_names_a_test_that_is_there():
    shown = [(page, step) for page, _, step in blocks()]

    assert [one for one in EXCUSED if not any(excuse(page, step) == one for page, step in shown)] == []
    assert [one for one in EXCUSED if not all(named.is_there for named in references(one.reason))] == []


def test_a_new_terminal_is_found():
    new = Step("console", "$ eventlog stats --pretty\n")

    assert not excuse("README.md", new)
    assert not followed("README.md", "## Stats\n\n```console\n$ eventlog stats\n```\n", new)
    assert not followed("SECURITY.md", "", new)
