"""A name means one thing: no two classes, and no two modules, share one; and every file of the cache is named in one place."""

import ast
import re
from collections import defaultdict

import pytest

from tests.support.tree import files, needs_tree, nodes

needs_tree()

ROOM = re.compile(r"^eventlog/hosts/\w+/")
PAYLOADS = "eventlog/payloads.py"  # the event types once more, as dictionaries: named as in `events.py` on purpose
PYTHONS = {"__init__", "__main__"}
# a subject that is seen from several floors under its one name: the view or the log's part, then the use case, the verb
SUBJECTS = {
    "hook": {"eventlog/hook.py", "cli/verbs/hook.py"},
    "install": {"app/install/install.py", "cli/verbs/install.py"},
    "memory": {"projections/views/memory.py", "app/memory.py", "cli/verbs/memory.py"},
    "project": {"eventlog/project.py", "cli/verbs/project.py"},
    "recall": {"app/search/recall.py", "cli/verbs/recall.py"},
    "replay": {"projections/engine/replay.py", "app/replay.py", "cli/verbs/replay.py"},
    "search": {"app/search/search.py", "cli/verbs/search.py"},
    "sessions": {"eventlog/hosts/sessions.py", "projections/views/sessions.py", "app/sessions.py", "cli/verbs/sessions.py"},
    "stats": {"projections/views/stats.py", "app/stats.py", "cli/verbs/stats.py"},
    "verify": {"eventlog/verify.py", "cli/verbs/verify.py"},
}  # fmt: skip
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
    """The names of several modules, with their files; hosts' rooms are alike, and a verb is named as its use case."""
    found = defaultdict(set)
    for file in names:
        found[file.rpartition("/")[2].removesuffix(".py")].add(ROOM.sub("eventlog/hosts/", file))
    return {
        name: where
        for name, where in found.items()
        if len(where) > 1
        and name not in PYTHONS
        and where not in ({f"app/{name}.py", f"cli/verbs/{name}.py"}, SUBJECTS.get(name))
    }


def test_no_two_classes_share_a_name():
    others = {file: source for file, source in SOURCES.items() if file != PAYLOADS}

    assert {} == shared_classes(others)


def test_no_two_modules_share_a_name():
    assert {} == shared_modules(SOURCES)


def test_a_shared_name_is_found():
    assert {"Name"} == shared_classes({"app/a.py": "class Name: ...", "cli/b.py": "if 1:\n    class Name: ..."}).keys()
    assert {"a"} == shared_modules(["app/a.py", "projections/a.py", "cli/verbs/a.py"]).keys()
    assert {"hook"} == shared_modules(["eventlog/hook.py", "app/hook.py"]).keys()
    assert {} == shared_modules(["app/a.py", "cli/verbs/a.py", "eventlog/hosts/x/b.py", "eventlog/hosts/b.py"])


IN_THE_CACHE = re.compile(r"\.cache\}/|\.cache\) /|cached\(f")


def test_files_of_the_cache_are_named_in_the_store_only():
    found = {file for file, source in SOURCES.items() if IN_THE_CACHE.search(source)}

    assert {"eventlog/store.py"} == found


@pytest.mark.parametrize("source", ['f"{store.cache}/x"', 'Path(log.store.cache) / "x"', 'store.cached(f"x/{name}")'])
def test_a_name_made_elsewhere_is_found(source):
    assert IN_THE_CACHE.search(source)
