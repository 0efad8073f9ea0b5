"""Docstrings begin with a verb and its object, or with the noun they describe: never with a riddle's first word."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.tree import files, needs_tree, nodes

needs_tree()

RIDDLE = re.compile(r"(?:What|Whether|As it|Nothing)\b")


def riddles(source: str) -> Iterator[str]:
    """The first lines of a source's docstrings that name neither an action nor a thing."""
    for node in nodes(source):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if RIDDLE.match(first):
                yield first


@pytest.mark.parametrize("folder", ["eventlog", "projections", "app", "cli"])
def test_a_docstring_says_what_is_done_or_what_there_is(folder):
    found = {name: list(riddles(source)) for name, source in files(folder).items()}

    assert found
    assert {} == {name: sentences for name, sentences in found.items() if sentences}


@pytest.mark.parametrize(
    "source",
    [
        '"""What is found."""',
        'class Name:\n    """Nothing: it is told elsewhere."""',
        'async def name():\n    r"""Whether there is one.\n\n    More of it.\n    """',
        'def name():\n    """As it says."""',
    ],
)
def test_a_riddle_is_found(source):
    assert 1 == len(list(riddles(source)))


@pytest.mark.parametrize("text", ["Whatever a host sends, as JSON.", "As in `session_hooks:`.", "Tell whether it is."])
def test_other_sentences_are_not_riddles(text):
    assert [] == list(riddles(f'"""{text}"""'))
