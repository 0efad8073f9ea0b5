"""A hook killed inside its write costs nothing that was there, and the host's retry is stored exactly once."""

import signal
import subprocess
import sys

import pytest

from eventlog.format.events import HostEvent
from eventlog.log.event_log import EventLog
from tests.support.hook_calls import run
from tests.support.host_calls import alone
from tests.support.payloads import claude, data
from tests.support.tree import IMPORT_PATH, PACKAGE

pytestmark = pytest.mark.slow

LONG = claude("PostToolUse", tool_name="Bash", tool_use_id="t-1", tool_response="x" * 1500)
BEFORE = claude("PostToolUse", tool_name="Bash", tool_use_id="t-0")
# the hook, whose write to the log ends after so many bytes with a signal nobody can catch
KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
write = os.write
def torn(fd, said):
    if os.readlink(f"/proc/self/fd/{{fd}}").endswith(".jsonl"):
        write(fd, said[:{cut}])
        os.kill(os.getpid(), signal.SIGKILL)
    return write(fd, said)
os.write = torn
sys.argv = ["eventlog", "--store", {store!r}]
import runpy
runpy.run_path({hook!r}, run_name="__main__")
"""


@pytest.mark.parametrize("cut", [0, 1, 30, 700, -2, -1, None])
def test_a_hook_killed_in_its_write_loses_nothing_and_its_retry_is_stored_once(tmp_path, cut):
    store = alone(tmp_path / "store")
    run(store, BEFORE)
    hook = str(PACKAGE / "hook.py")
    code = KILLED.format(root=IMPORT_PATH, cut=cut, store=str(store), hook=hook)
    died = subprocess.run([sys.executable, "-I", "-S", "-c", code], input=data(LONG), capture_output=True, check=False)
    assert -signal.SIGKILL == died.returncode

    for _ in range(2):
        run(store, LONG)
    tools = [event.payload["tool_use_id"] for event in EventLog(store).read() if isinstance(event, HostEvent)]

    assert ["t-0", "t-1"] == tools
