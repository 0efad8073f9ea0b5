"""A context that was made before is told only where a new one would say the same."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Fact, Retraction, StageSummary
from eventlog.app.build.rebuild import replay_store
from eventlog.app.machine import Machine
from eventlog.app.open_store import OpenStore, open_store
from eventlog.app.serve import make_ready, session_context, session_start
from eventlog.app.serve.context import build
from eventlog.app.serve.session_context import request_of
from eventlog.format.events import ContextInjected, Rejected, Restored
from eventlog.hooks import hook_main, ready_context
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support.effort import rounds
from tests.support.fences import nonces, without_nonces


class House:
    """A home with a project and a store, in which sessions start as a host starts them."""

    def __init__(self, path):
        self.home, self.store = Path(path, "home"), Store(str(Path(path, "store")))
        self.project = self.home / "shop"
        self.project.mkdir(parents=True)
        self.log = EventLog(self.store, fsync=False)
        self.sessions = 0
        self.found = []  # of each start, whether a context was ready
        self.told = []  # events that may be withdrawn

    def opened(self):
        return open_store(self.store, Machine.here())

    def start(self, source="startup", session="", listens=""):
        self.sessions += 1
        session = session or f"session-{self.sessions:04}"
        sent = {"session_id": session, "cwd": str(self.project), "hook_event_name": "SessionStart", "source": source}
        hints = {"agent": "claude-code", "store": self.store.root, "session-type": listens or "main"}
        find, found = ready_context.find, []

        def watched(*args):
            found.append(find(*args) is not None)
            return find(*args)

        with mock.patch.object(ready_context, "find", watched):
            answer, *_ = hook_main.handle(json.dumps(sent).encode(), hints, {}, session_start.start_context)
        self.found.append(any(found))
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"]

    def anew(self, session=""):
        """What is told where nothing was made before."""
        opened = self.opened()
        request = request_of(
            OpenStore(opened.log, opened.settings, opened.machine),
            str(self.project),
            session=session or f"session-{self.sessions:04}",
            session_type="main",
            source="startup",
            agent="claude-code",
            where=str(self.project),
        )
        return build(opened.log, opened.settings, request).context.text

    def say(self, content="Port 8443", conversation="before", **fields):
        self.told.append(
            self.log.append(Fact(conversation_id=conversation, project=str(self.project), content=content, **fields))
        )


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(make_ready, "TICK_NS", -(10**15))  # what is done here is done one after the other
    house = House(tmp_path)
    house.start()  # makes the user's files
    house.say()
    house.start()
    return house


def test_what_was_made_for_one_session_is_told_the_next(house):
    first, second = house.start(), house.start()

    assert [False, False, True, True] == house.found
    assert "Port 8443" in second
    assert without_nonces(first).replace("session-0003", "session-0004") == without_nonces(second)
    assert nonces(first) != nonces(second)
    assert second == house.anew()


def test_its_receipt_is_that_of_a_context_made_anew(house):
    house.start()
    made, found = (
        event
        for session in ("session-0002", "session-0003")
        for event in house.log.session(session)
        if isinstance(event, ContextInjected)
    )

    assert (made.sources, made.files, made.cut, made.chars) == (found.sources, found.files, found.cut, found.chars)
    assert made.sources
    assert made.digest != found.digest


def test_the_end_of_a_session_makes_the_next_context_ready(house):
    house.say("Deploys on Fridays")
    opened = house.opened()

    assert make_ready.make_ready(opened, "claude-code", str(house.project), "", "session-0003")
    assert "Deploys on Fridays" in house.start()
    assert house.found[-1]
    assert house.start(session="another-length") == house.anew("another-length")


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_who_comes_back_is_told_anew(house, source):
    house.start(source, "session-0001")

    assert not house.found[-1]


def test_a_shared_session_is_not_told_what_a_main_one_was(house):
    house.log.append(Fact(conversation_id="before", content="Likes tea", memory_type="O"))
    main, shared = house.start(), house.start(listens="shared")

    assert "Likes tea" in main
    assert "Likes tea" not in shared


def test_nothing_is_ready_while_bootstrap_waits_for_the_user(house):
    bootstrap = house.home / ".config/agents/BOOTSTRAP.md"
    _edit(bootstrap, "Introduce yourself.\n")
    house.start(listens="shared")
    made = make_ready.make_ready(house.opened(), "claude-code", str(house.project), "", "session-0004")

    assert not made
    assert "Introduce yourself." in house.start()
    assert not bootstrap.exists()


def _edit(path, text="New rules.\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _git(house, *args):
    subprocess.run(["git", "-C", str(house.project), *args], check=True, capture_output=True)


def _on_another_day(house):
    path = Path(house.store.log, "2026-01-05.jsonl")
    path.write_text("")


def _rewritten(house):
    (path,) = Path(house.store.log).glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"8443", b"8444"))


CHANGES = {
    "a fact": lambda house: house.say("Tabs, not spaces"),
    "a retraction": lambda house: house.log.append(Retraction(conversation_id="c", target=house.told[0].id)),
    "a line of a session that spoke before": lambda house: house.log.append(
        {"type": "turn_end", "conversation_id": "before"}
    ),
    "a type nobody knows": lambda house: house.log.append({"type": "future", "conversation_id": "c"}),
    "a file of the project": lambda house: _edit(house.project / "AGENTS.md"),
    "a file of the user": lambda house: _edit(house.home / ".config/agents/USER.md"),
    "a user's file that was not there": lambda house: _edit(house.home / ".config/agents/user/tea.md"),
    "a file the host loads": lambda house: _edit(house.project / "CLAUDE.md", "@AGENTS.md\n"),
    "what only the first session is told": lambda house: _edit(house.home / ".config/agents/BOOTSTRAP.md"),
    "the settings": lambda house: _edit(Path(house.store.config), "locale: zh\n"),
    "a repository": lambda house: _git(house, "init", "-b", "cart"),
    "another file of the log": _on_another_day,
    "the log as it was": _rewritten,
    "the time": lambda house: None,
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_it_was_made_of_changes_it_is_made_anew(house, change, monkeypatch):
    house.start()
    assert house.found[-1]
    CHANGES[change](house)
    if change == "the time":
        later = time.time_ns() + 26 * 3600 * 10**9
        monkeypatch.setattr("time.time_ns", lambda: later)
    told = house.start()

    assert not house.found[-1]
    if change != "what only the first session is told":
        assert house.anew() == told


def test_what_was_decided_in_no_project_is_not_told_once_its_session_starts_in_another(house):
    house.log.append(StageSummary(conversation_id="moving", summary="Worked", decisions=["Herons nest there"]))
    replay_store(house.opened())
    house.start()
    assert "Herons nest there" in house.start()
    assert house.found[-1]
    start = {"type": "session_start", "conversation_id": "moving", "source": "startup"}
    house.log.append({**start, "project": str(house.home / "elsewhere")})

    assert "Herons nest there" not in house.start()
    assert not house.found[-1]


def test_a_log_of_days_to_come_makes_nothing_ready(house):
    Path(house.store.log, "9998-01-01.jsonl").write_text("")
    house.start()
    house.start()

    assert [False, False] == house.found[-2:]


def test_a_file_that_was_just_written_is_not_relied_on(house, monkeypatch):
    monkeypatch.setattr(make_ready, "TICK_NS", 10**12)
    house.say("Deploys on Fridays")
    house.start()
    house.start()

    assert [False, False] == house.found[-2:]


MEANWHILE = {
    "another branch": lambda house: _edit(house.project / ".git/HEAD", "ref: refs/heads/till\n"),
    "the repository's settings": lambda house: _edit(house.project / ".git/config", "[core]\n"),
    "a file of the project is gone": lambda house: (house.project / "AGENTS.md").unlink(),
    "a rendered file is gone": lambda house: next(Path(house.store.knowledge).glob("projects/*/MEMORY.md")).unlink(),
}


@pytest.mark.parametrize("change", MEANWHILE)
def test_what_changes_only_after_a_context_was_made_is_not_what_it_was_made_of(house, monkeypatch, change):
    _git(house, "init", "-b", "cart")
    _edit(house.project / "AGENTS.md")
    replay_store(house.opened())
    make = session_context.session_context

    def and_change(*given):
        built = make(*given)
        MEANWHILE[change](house)
        return built

    with monkeypatch.context() as patched:
        patched.setattr(session_context, "session_context", and_change)
        house.start()

    assert house.start() == house.anew()
    assert [False, False] == house.found[-2:]


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"since":"', bytes(range(128, 168))], ids=repr)
def test_what_is_damaged_is_made_anew(house, damage):
    for path in Path(house.store.cached("ready")).iterdir():
        path.write_bytes(damage)

    assert house.start() == house.anew()
    assert not house.found[-1]


def test_a_replay_leaves_nothing_of_what_was_ready(house):
    replay_store(house.opened())

    assert [] == list(Path(house.store.cached("ready")).glob("*"))


def _withdraw(house, number):
    target = house.told[number % len(house.told)].id
    house.log.put([(Retraction, Rejected)[number % 2](conversation_id="human", target=target)])


def _restore(house, number):
    withdrawn = [event for event in house.log.read() if isinstance(event, Retraction | Rejected)]
    if withdrawn:
        house.log.put([Restored(conversation_id="human", target=withdrawn[number % len(withdrawn)].id)])


def _sum_up(house, number):
    house.log.append(
        StageSummary(
            conversation_id=f"c{number}", project=str(house.project), summary=f"Did {number}", todos=[f"Check {number}"]
        )
    )


ACTS = [
    lambda house, number: house.say(f"Fact {number}", f"c{number}", key=(None, "k")[number % 2]),
    _sum_up,
    _withdraw,
    _restore,
    lambda house, number: house.log.append({"type": "turn_end", "conversation_id": f"c{number}"}),
    lambda house, number: house.log.append({"type": "host_event", "conversation_id": f"c{number}", "name": "Tool"}),
    lambda house, number: _edit(house.home / ".config/agents/USER.md", f"Port 8443\nFact {number}\n"),
    lambda house, number: _edit(house.project / "AGENTS.md", f"Rule {number}\n"),
    lambda house, number: (house.project / "AGENTS.md").unlink(missing_ok=True),
    lambda house, number: replay_store(house.opened()),
    lambda house, number: make_ready.make_ready(house.opened(), "claude-code", str(house.project), "", "session-0001"),
    lambda house, number: house.start("clear"),
]


@settings(max_examples=rounds(fixed=6, fuzz=300))
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 3)), min_size=2, max_size=8))
def test_after_whatever_happens_a_session_is_told_what_a_context_made_anew_says(acts):
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock.patch.dict(os.environ, {"HOME": str(Path(scratch, "home"))}),
        mock.patch.object(make_ready, "TICK_NS", -(10**15)),
    ):
        house = House(scratch)
        house.start()
        house.say()
        for act, number in acts:
            act(house, number)
            assert house.start() == house.anew()
            assert house.start() == house.anew()
