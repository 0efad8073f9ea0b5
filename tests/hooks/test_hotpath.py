"""What agents' hooks import: a handful of small modules, or every turn of every agent pays for it."""

import json

import pytest

from tests.support.builders import spawn
from tests.support.tree import IMPORT_PATH

MODULES = ["dayfile", "errors", "files", "ids", "project", "store", "timestamps", "fastjson"]
ALLOWED = {
    "_blake2",
    "_json",
    "_stat",
    "fcntl",
    "genericpath",
    "os",
    "os.path",
    "posixpath",
    "stat",
    "time",
    "_collections_abc",
    "abc",
    "_abc",
}
SCRIPT = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    __import__("eventlog." + name)
from eventlog import ids
ids.derived(0, "key")
sys.stdout.write(repr(sorted(set(sys.modules) - before)).replace("'", '"'))
"""


def imported(*modules):
    with spawn("-I", "-S", "-c", SCRIPT, IMPORT_PATH, *modules) as process:
        return set(json.loads(process.stdout.read()))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_the_hot_path_imports_next_to_nothing(module):
    assert set() == {name for name in imported(module) if not name.startswith("eventlog")} - ALLOWED


def test_the_whole_hot_path_imports_itself_and_no_other_module_of_ours():
    ours = {name for name in imported(*MODULES) if name.startswith("eventlog")}

    assert {"eventlog", *(f"eventlog.{module}" for module in MODULES)} == ours
