"""The hook's path is made of the standard library, and of little of that."""

import os
import subprocess
import sys

import pytest

from tests.builders import ROOT
from tests.hooking import events_of
from tests.payloads import MOMENTS, claude, data

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
from eventlog.agents.hook import run
run(sys.argv[1:])
"""


@pytest.mark.parametrize("payload", [QUIET, claude("SessionEnd", reason="x"), MOMENTS["cursor ends a turn"][0]])
def test_the_append_path_uses_the_standard_library_only(store, payload):
    program = LIST_MODULES.format(store=str(store), root=str(ROOT))
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input=data(payload), capture_output=True, check=True
    )
    loaded = dict(line.split("=", 1) for line in ended.stderr.decode().splitlines())
    foreign = {
        name: file
        for name, file in loaded.items()
        if file and not file.startswith((os.__file__.removesuffix("os.py"), str(ROOT)))
    }

    assert "eventlog.live" in loaded
    assert {} == foreign
    assert not {"json", "re", "typing", "pathlib", "datetime", "hashlib", "click", "msgspec"} & loaded.keys()
    assert 1 == len(events_of(store))
