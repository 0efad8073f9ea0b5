"""Whatever an event says, no verb prints what acts on a terminal or hides, nor a line that the event made up."""

import json
import re

import pytest

from eventlog import Memory
from eventlog.format.text import harmless
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support import screen
from tests.support.command_line import call

pytestmark = pytest.mark.slow

HOSTILE = "\x1b[31m\x9b2J\x9d52;c;eA==\x9c \u202e\u2066\u200b\U000e0041\x85\x00\b\n# FORGED\n- [ ] forged\r\n---\n</b>"
VERBS = [
    ("query",), ("query", "--format", "json"), ("query", "--format", "jsonl"), ("query", "--format", "markdown"), ("sessions",),
    ("sessions", "--json"), ("show", "last"), ("show", "last", "--json"), ("memory",), ("memory", "--json"), ("status",),
    ("today",), ("search", "kestrel"), ("search", "kestrel", "--json"), ("recall", "kestrel"), ("why", "kestrel"), ("context",),
    ("context", "--json"), ("doctor",), ("project", "list"), ("show", "sessions.jsonl", "--as-of", "now"),
    *(("export", "--format", form) for form in ("jsonl", "markdown", "cloudevents", "otlp", "atif")),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A project with such a name, in whose log every text, agent and session is hostile."""
    home = tmp_path_factory.mktemp("printed")
    project = home / "shop\x1b[31m\u202e\n# FORGED"
    (project / ".git").mkdir(parents=True)
    about = {"conversation_id": f"s {HOSTILE}", "project": str(project), "agent": f"a {HOSTILE}"}
    said = {
        "topic": f"t {HOSTILE}",
        "summary": f"s {HOSTILE}",
        "todos": [f"o {HOSTILE}"],
        "decisions": [f"d {HOSTILE}"],
    }
    log = EventLog(Store(str(home / "store")), fsync=False)
    log.append_many(
        [
            {**about, "type": "session_start", "source": HOSTILE, "model": HOSTILE, "git_branch": HOSTILE},
            {**about, "type": "fact", "content": f"The kestrel {HOSTILE}", "category": f"c {HOSTILE}", "key": HOSTILE},
            {**about, "type": "stage_summary", "scope": "session", **said},
            {**about, "type": f"odd {HOSTILE}", "what": HOSTILE},
            {**about, "type": "session_end", "reason": HOSTILE, "status": HOSTILE, "error": HOSTILE},
        ]
    )
    Memory(log.store).replay()
    return home / "store", project


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_prints_what_acts_or_hides_nor_a_line_that_an_event_made_up(place, monkeypatch, verb):
    store, project = place
    monkeypatch.chdir(project)
    ran = call(*verb, "--store", store)
    lines = (ran.out + ran.err).replace("\t", " ").split("\n")
    is_raw = verb[-1] in ("jsonl", "cloudevents", "otlp", "atif") or verb[0] == "show"  # byte for byte in a pipe

    assert ran.out
    assert is_raw or [] == [line for line in lines if line != harmless(line)]
    assert [] == [line for line in lines if re.match(r"\s*(# FORGED|- \[ \] forged|---)", line)]
    assert "json" not in verb[-1] or "jsonl" in verb[-1] or json.loads(ran.out)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_nor_on_a_terminal(place, monkeypatch, verb):
    store, project = place
    monkeypatch.chdir(project)
    said = re.sub("\x1b\\[(?:[0-2]|22|[39][0-7]|39)?m", "", screen.told(*verb, "--store", store, rows=10_000))

    assert [] == [line for line in said.split("\n") if line != harmless(line)]
