"""Docstrings begin with a verb and its object, or with the noun they describe, in words of the glossary.

A function's first sentence begins with one of `VERBS` and names an object; that of a class, a module or a property
begins with a verb or a noun, never with a pronoun. No first sentence has one of `PRIVATE` words: those are not terms.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.tree import files, needs_tree, nodes

needs_tree()


def words_of(text: str) -> set[str]:
    return set(text.split())


VERBS = words_of(
    """
    abbreviate accept acquire add allow answer append apply ask assemble assign attach backdate begin block break
    bring build cache call cancel change check choose claim clean clear close collapse collect colour combine
    compare compile complete compose compress compute conclude confirm connect continue convert copy count create
    cut date decide decode decrypt define delete derive describe detect digest discard draw drop edit empty encode
    encrypt end ensure erase escape estimate examine exchange exclude execute exit expand explain export extend
    extract fail fence fetch filter find finish fit flush fold follow forget format forward free generate get give
    group guess handle hang hash hide highlight identify ignore import index infer insert inspect install
    interpret invalidate iterate join keep leave let lift limit link list load locate lock log look lower make map mark match measure
    merge migrate mount move name narrow normalise normalize note notify number offer open order overwrite pad parse
    pass pick pair place plan point prepare preserve prevent print probe provide publish purge put quote raise
    rank read rebuild recompute record redact redirect reduce refold refresh refuse register reject release reload
    remember remove rename render reopen repair repeat replace replay report request require reset resolve restore
    retract retry return reuse reverse revert rewrite run save scan schedule score scrub seal search seek select send
    serialise serve set settle share shorten show sign skip sort split stage start stat stop store stream strip
    substitute suggest sum summarise swap sync take terminate test tokenize touch track transfer translate treat trim
    truncate trust try turn undo unescape uninstall unite unlock unregister unwrap update upgrade use validate
    verify view visit wait walk warn weigh withdraw word wrap write yield
    """
)
PRONOUNS = words_of(
    """
    all another any anything as each either everything everybody he her his how i in it its more neither nobody
    none nothing of one others our ours some somebody someone something that their theirs there these they this
    those to until we what whatever when where whether which whichever who whoever whom whose why with without you
    your
    """
)
PRIVATE = re.compile(
    r"\b(?:told|tells?|telling|says?|said|saying|kept|ours|theirs|whoever|whomever|whatever|somebody|nobody|anybody|anew"
    r"|ones)\b|\bone(?=[.,;:)]|$| (?:by|for|from|has|in|is|may|of|on|that|to|which|who|with|without)\b)",
    re.IGNORECASE,
)


def first_sentences(source: str) -> Iterator[tuple[str, str]]:
    """Yield the kind (`function` or `thing`) and the first sentence of every docstring."""
    for node in nodes(source):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
            if not text:
                continue
            is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
                "property" in ast.unparse(decorator) for decorator in node.decorator_list
            )
            yield "function" if is_function else "thing", re.split(r"(?<=[.!?]) ", text)[0]


def mistake(kind: str, sentence: str) -> str:
    """Name the rule that a first sentence breaks; "" for none."""
    first, _, rest = sentence.partition(" ")
    word = re.sub(r"\W+$", "", first).lower()
    if kind == "function" and word not in VERBS:
        return "no verb first"
    if kind == "function" and not rest.strip(" ."):
        return "no object"
    if word in PRONOUNS:
        return "a pronoun first"
    found = PRIVATE.search(re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "", sentence))
    return f"{found[0]!r} is no term" if found else ""


def mistakes(folder: str) -> dict[str, list[str]]:
    """List the mistakes of a floor by the folder of the file."""
    found: dict[str, list[str]] = {}
    for name, source in files(folder).items():
        for kind, sentence in first_sentences(source):
            if broken := mistake(kind, sentence):
                found.setdefault(name.rpartition("/")[0], []).append(f"{name}: {sentence!r}: {broken}")
    return found


@pytest.mark.parametrize("folder", ["eventlog", "projections", "app", "cli"])
def test_first_sentences_are_a_verb_and_its_object_or_a_noun(folder):
    found = mistakes(folder)

    assert files(folder)
    assert {} == found


@pytest.mark.parametrize(
    ("kind", "sentence", "broken"),
    [
        ("function", "What is found.", "no verb first"),
        ("function", "Tell whether it is.", "no verb first"),
        ("function", "Read.", "no object"),
        ("thing", "One event.", "a pronoun first"),
        ("thing", "Whose statements are visible.", "a pronoun first"),
        ("function", "Return the lines nobody needs.", "'nobody' is no term"),
        ("thing", "The events that were told.", "'told' is no term"),
        ("function", 'Return "" for `told`.', ""),
        ("function", "Parse one of the lines.", "'one' is no term"),
        ("function", "Print one line of the log.", ""),
        ("function", "Check a line; raises BadRequest.", ""),
        ("thing", "The events of a day, oldest first.", ""),
        ("thing", "Plan changes of knowledge bases.", ""),
    ],
)
def test_a_mistake_is_found(kind, sentence, broken):
    assert broken == mistake(kind, sentence)


def test_sentences_are_read_from_every_kind_of_docstring():
    source = '''"""A module. More."""
class Name:
    """A class
    in two lines."""
    @property
    def size(self): """The size."""
    async def read(self): r"""Read it."""
'''

    assert Counter(
        [
            ("thing", "A module."),
            ("thing", "A class in two lines."),
            ("thing", "The size."),
            ("function", "Read it."),
        ]
    ) == Counter(first_sentences(source))
