"""Sessions that end at the same time, each in a process of its own."""

import shutil
import subprocess
import sys

import pytest

from eventlog.app.build.replay import replay
from eventlog.projections.bases.sections import Page
from tests.support.bases import SETTINGS, edits, planned, user_md
from tests.support.command_line import surroundings
from tests.support.effort import rounds
from tests.support.use_cases import apply

SESSIONS = rounds(fixed=6, fuzz=64)
CODE = """
import os, sys
from eventlog import EventLog, plan
from tests.support.use_cases import apply
from eventlog.settings.schema import Settings

def session(name):
    log = EventLog(sys.argv[1])
    plan(log, {"path": "user", "heading": f"Section {name}", "content": f"of {name}"}, session=name)
    os.close(writing)
    gate.read(1)
    os._exit(len(apply(log, Settings()).pending))

reading, writing = os.pipe()
gate = os.fdopen(reading, "rb", buffering=0)
children = [os.fork() or session(str(name)) for name in range(int(sys.argv[2]))]
os.close(writing)  # all at once
sys.exit(sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


@pytest.mark.slow
@pytest.mark.fuzz
def test_parallel_sessions_each_with_its_own_section_are_all_in_one_file(log):
    command = [sys.executable, "-c", CODE, log.store.root, str(SESSIONS)]
    told = subprocess.run(command, env=surroundings(), check=False)
    page = Page(user_md().read_bytes())

    assert told.returncode == 0
    assert sorted(f"Section {name}" for name in range(SESSIONS)) == sorted(one.heading for one in page.sections)
    assert all(page.text(one) == f"of {one.heading.removeprefix('Section ')}" for one in page.sections)
    assert ([], SESSIONS) == (edits(log), sum(event.type == "entry_applied" for event in log.read()))
    assert apply(log, SETTINGS).applied == []


def test_entries_that_are_gone_when_their_turn_comes_are_left_alone(log):
    planned(log)
    state = replay(log, SETTINGS).knowledge
    shutil.rmtree(log.store.log)
    done = apply(log, SETTINGS, state=state)

    assert ([], [], False) == (done.applied, done.pending, user_md().exists())
