"""The hook's path is made of the standard library, and of little of that."""

import os
import subprocess
import sys

import pytest

from eventlog.log import EventLog
from tests.support.hook_calls import errors_of, events_of
from tests.support.payloads import MOMENTS, claude, data
from tests.support.tree import IMPORT_PATH, PACKAGE

QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


LIST_MODULES = """
import os, sys
sys.argv = ["hook", "--store", {store!r}]
def leave(code):
    os.write(2, "\\n".join(f"{{name}}={{getattr(m, '__file__', None) or ''}}" for name, m in sys.modules.items()).encode())
    leave_really(code)
leave_really, os._exit = os._exit, leave
sys.path.insert(0, {root!r})
from eventlog.hook import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("payload", [QUIET, claude("SessionEnd", reason="x"), MOMENTS["cursor ends a turn"][0]])
def test_the_append_path_uses_the_standard_library_only(store, payload):
    program = LIST_MODULES.format(store=str(store), root=IMPORT_PATH)
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input=data(payload), capture_output=True, check=True
    )
    loaded = dict(line.split("=", 1) for line in ended.stderr.decode().splitlines())
    foreign = {
        name: file
        for name, file in loaded.items()
        if file and not file.startswith((os.__file__.removesuffix("os.py"), str(PACKAGE)))
    }

    assert "eventlog.append_once" in loaded
    assert {} == foreign
    assert not {"json", "re", "typing", "pathlib", "datetime", "hashlib", "click", "msgspec"} & loaded.keys()
    assert 1 == len(events_of(store))


def test_libraries_are_found_also_where_they_are_not_beside_the_package(store, tmp_path):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "eventlog").symlink_to(PACKAGE)
    EventLog(store).append({"type": "fact", "conversation_id": "c", "content": "Likes tea", "memory_type": "O"})
    hook = [sys.executable, "-I", "-S", str(tmp_path / "site-packages" / "eventlog" / "hook.py"), "--store", store]
    started = claude("SessionStart", source="startup", cwd=str(tmp_path))
    ended = subprocess.run(hook, input=data(started), capture_output=True, check=True, env={"HOME": str(tmp_path)})

    assert b"Likes tea" in ended.stdout
    assert [] == errors_of(store)
