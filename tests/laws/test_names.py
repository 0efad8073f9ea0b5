"""A name means one thing: no two classes, and no two modules, share one; and every file of the cache is named in one place."""

import ast
import re
from collections import defaultdict

import pytest

from tests.support.tree import files, needs_tree, nodes

needs_tree()

ROOM = re.compile(r"^eventlog/hosts/\w+/")
PAYLOADS = (
    "eventlog/format/payloads.py"  # the event types once more, as dictionaries: named as in `events.py` on purpose
)
PYTHONS = {"__init__", "__main__"}
SOURCES = {
    name: source for folder in ("eventlog", "projections", "app", "cli") for name, source in files(folder).items()
}


def shared_classes(sources):
    """The names of several classes, with their files."""
    found = defaultdict(list)
    for file, source in sources.items():
        for node in nodes(source):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file)
    return {name: where for name, where in found.items() if len(where) > 1}


def shared_modules(names):
    """The names of several modules of one floor, with their files.

    Hosts' rooms are alike. A subject has one name on every floor: its view, its use case, its verb, how it is shown.
    """
    found = defaultdict(set)
    for file in names:
        stem = file.rpartition("/")[2].removesuffix(".py")
        floor = file.rpartition("/")[0] if file.startswith(("cli/verbs/", "cli/show/")) else file.partition("/")[0]
        found[stem, floor].add(ROOM.sub("eventlog/hosts/", file))
    return {name: where for (name, _), where in found.items() if len(where) > 1 and name not in PYTHONS}


def test_no_two_classes_share_a_name():
    others = {file: source for file, source in SOURCES.items() if file != PAYLOADS}

    assert {} == shared_classes(others)


def test_no_two_modules_share_a_name():
    assert {} == shared_modules(SOURCES)


def test_a_shared_name_is_found():
    assert {"Name"} == shared_classes({"app/a.py": "class Name: ...", "cli/b.py": "if 1:\n    class Name: ..."}).keys()
    assert {"a"} == shared_modules(["app/write/a.py", "app/ask/a.py", "cli/verbs/a.py"]).keys()
    assert {} == shared_modules(["app/a.py", "cli/verbs/a.py", "eventlog/hosts/x/b.py", "eventlog/hosts/b.py"])


IN_THE_CACHE = re.compile(r"\.cache\}/|\.cache\) /|cached\(f")


def test_files_of_the_cache_are_named_in_the_store_only():
    found = {file for file, source in SOURCES.items() if IN_THE_CACHE.search(source)}

    assert {"eventlog/store/__init__.py"} == found


@pytest.mark.parametrize("source", ['f"{store.cache}/x"', 'Path(log.store.cache) / "x"', 'store.cached(f"x/{name}")'])
def test_a_name_made_elsewhere_is_found(source):
    assert IN_THE_CACHE.search(source)


VAGUE = {"told", "said", "kept", "ours"}  # of anything: what it is has a word of its own


def vague_names(source):
    """The names of variables, parameters, attributes, functions and classes that say nothing by one of their words."""
    return {name for node in nodes(source) for name in bound(node) if VAGUE.intersection(name.lower().split("_"))}


def bound(node):
    """The names that a node gives to something."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return [name]
    return []


def test_a_name_tells_what_it_stands_for():
    assert {} == {file: found for file, source in SOURCES.items() if (found := vague_names(source))}


def test_a_vague_name_is_found():
    assert {"said", "is_ours", "_Told"} == vague_names("def f(said):\n    is_ours = said.kept\nclass _Told: ...")
