"""The use cases serve any shell: here one of a few lines, without click, asks what the verbs ask."""

import json
import subprocess
import sys

import pytest

from tests.support.command_line import surroundings
from tests.support.tree import ROOT

pytestmark = pytest.mark.slow

SHELL = """
import sys
sys.modules["click"] = None
from eventlog import EventLog
from eventlog.app.ask import brief, query, sessions, why
from eventlog.app.build import apply, finalize, rebuild
from eventlog.app.serve import session_context
from eventlog.app.setup import user_setup
from eventlog.app.open_store import Machine
from eventlog.app.open_store import open_store
from eventlog.store import Store
from eventlog.log.verify import verify
import json

machine = Machine(home=sys.argv[2], environ={}, clock=lambda: 1_771_675_200 * 10**9, program="memo")
opened = open_store(Store(sys.argv[1]), machine)
opened.log.append({"type": "fact", "conversation_id": "s", "project": "/p/shop", "content": "Prices are in cents"})
told = {"found": [e.event.content for e in query.query(opened.log, query.EventFilter(text="CENTS", project="/p/shop"))]}
told["written"] = rebuild.replay_store(opened).published.written
memory = next(name for name in told["written"] if name.endswith("MEMORY.md"))
lines = why.explain(opened, why.known_file(opened, memory))
told["why"] = [line.entries[0].event.content for line in lines if "cents" in line.text]
told["sessions"] = [row.session_id for row in sessions.sessions(opened, project="/p/shop")]
told["weeks"] = [week.sessions for week in sessions.stats(opened)]
told["waits"] = brief.status(opened).anything_waits or apply.apply(opened).stored
told["damage"] = verify(opened.log).damage
told["locale"] = [setting.value for setting in user_setup.config(opened.store, machine.home) if setting.key == "locale"]
request = session_context.request_of(opened, "/p/shop", session="new", agent="stub")
told["context"] = session_context.session_context(opened, request).context.text
told["rounds"] = len(list(finalize.finalize(opened.store, lambda: opened)))
json.dump(told, sys.stdout)
"""


def test_another_shell_asks_the_same_questions(tmp_path):
    command = [sys.executable, "-c", SHELL, str(tmp_path / "store"), str(tmp_path / "home")]
    (tmp_path / "home").mkdir()
    told = json.loads(subprocess.run(command, env=surroundings(), cwd=ROOT, check=True, capture_output=True).stdout)

    assert (["Prices are in cents"], ["Prices are in cents"]) == (told["found"], told["why"])
    assert "sessions.jsonl" in told["written"]
    assert (["s"], [1, 1], 0, [], ["en"]) == (
        told["sessions"], told["weeks"], told["waits"], told["damage"], told["locale"]
    )  # fmt: skip
    assert "Prices are in cents" in told["context"]
    assert "--session new" in told["context"]
    assert 1 == told["rounds"]
