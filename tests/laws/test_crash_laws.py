"""Every verb that writes, killed before any of its writes, or with a disk that fails at any of them: nothing is lost.

On a store that was lived in, and on none at all: a first use makes what later ones find. Whatever happened, what was
saved before is there once, a person's line is in the file, `verify` names nothing but lines that were torn, and the verb
itself works the next time.
"""

import errno
import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eventlog.log.event_log import EventLog
from tests.support import host_calls, pasts
from tests.support.command_line import call
from tests.support.effort import rounds, seed
from tests.support.faults import KILLED, can_trace, counted, failing, in_database, killed
from tests.support.machines import of_machine
from tests.support.payloads import claude

SAID = "The sea is blue"
TEA = "The tea is green"
LEAKED = "hunter2-Sommer2026"
MINE = "- mine\n"
BASES = (
    "knowledge_bases: {user: {path: ~/.config/agents/USER.md}, soul: {review: true, path: ~/.config/agents/SOUL.md}}\n"
)
SAVES = {
    "fact": ["fact", SAID, "--session", "s", "--agent", "codex"],
    "summary": ["summary", "--topic", "Sea", "--summary", SAID, "--session", "s"],
    "plan": ["plan", "--path", "user", "--heading", "Sea", "--content", SAID, "--session", "s"],
    "append": ["append", "fact", f"content={SAID}", "--session", "s"],
}
VERBS: dict[str, Any] = {
    **SAVES,
    "replay": ["replay", "--full"],
    "apply": ["apply"],
    "resolve": ["resolve", "last", "--apply"],
    "forget": ["forget", TEA, "--yes"],
    "edit": ["edit", TEA, "--content", "The tea is white"],
    "move": ["move", TEA, "user"],
    "undo": ["undo", "--yes"],
    "restore": ["restore", "user", "--as-of", "~then", "--yes"],
    "redact": ["redact", LEAKED, "--yes"],
    "seal": ["seal"],
    "repair": ["verify", "--repair"],
    "backup": ["backup", "create", "~/b.tar"],
    "import": ["import", "claude"],
    "install": ["install", "claude"],
    "uninstall": ["uninstall", "claude"],
    "init": ["init", "--yes"],
    "settle": ["settle"],
    "search": ["search", "tea sea door", "--all-projects", "--json"],
    "sync": ["sync"],
    "share": ["share", "~first", "--why", "It is so"],
    "lifecycle": ["lifecycle", "run", "start", "--session", "s9"],
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "What colour is the tea?", "prompt_id": "p1"},
    "Stop": {"prompt_id": "p1"},
    "SessionEnd": {"reason": "logout"},
}  # fmt: skip
BEFORE = {
    "uninstall": [["install", "claude"]],
    "sync": [["sync", "start", "dir:~/hub"], ["fact", "The cups are blue", "--session", "a"]],
}
FIRST = [
    "fact",
    "summary",
    "plan",
    "append",
    "replay",
    "install",
    "init",
    "import",
    "lifecycle",
    "SessionStart",
    "Stop",
    "restored",
]
TORN = {"not-json", "pending", "torn", "not-object"}  # the last is the damage of the scene
pytestmark = [
    pytest.mark.slow,
    pytest.mark.fuzz,
    pytest.mark.filterwarnings(
        "ignore:This process:DeprecationWarning"
    ),  # fork beside xdist's thread; nothing is shared
]


class Scene:
    """A home with a store, and how both were at the beginning."""

    def __init__(self, root):
        self.root, self.home = root, root / "home"
        self.store = self.home / ".eventlog"
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ada\n")
        pasts.lay_out(self.home, "claude")
        self.then = self.first = ""
        self.keep("new")

    def begin(self):
        """Let everything be as in a new home."""
        shutil.rmtree(self.root / "shop", ignore_errors=True)
        (self.root / "shop" / ".git").mkdir(parents=True)
        self.begin_again("new")

    @property
    def user_md(self):
        return self.home / ".config" / "agents" / "USER.md"

    def live_in(self):
        """Let the store have something of everything; what it took to get there is done for the first test only."""
        if (self.root / "lived in").exists():
            return self.begin_again("lived in")
        for args in (
            ["fact", TEA, "--session", "a"],
            ["fact", f"The door opens with {LEAKED}", "--session", "b"],
            ["plan", "--path", "user", "--heading", "Work", "--content", "- Backend", "--session", "a"],
            ["replay"],
        ):
            assert 0 == call(*args).code
        self.then, self.first = self.events()[0].ts, self.events()[0].id
        self.user_md.write_text(self.user_md.read_text() + f"\n## Mine\n\n{MINE}")
        (self.store / "config.yaml").write_text(BASES)
        assert 0 == call("plan", "--path", "soul", "--heading", "Tone", "--content", "Kind", "--session", "a").code
        assert 0 == call("replay").code
        assert 0 == call("plan", "--path", "user", "--heading", "Later", "--content", "- More", "--session", "a").code
        assert 0 == call("seal").code
        [day] = (self.store / "log").iterdir()
        day.write_bytes(day.read_bytes() + b"null\n")
        Path(self.home, "backup.tar").write_bytes(b"")
        return self.keep("lived in")

    def keep(self, name="kept"):
        shutil.rmtree(self.root / name, ignore_errors=True)
        shutil.copytree(self.home, self.root / name, symlinks=True)

    def begin_again(self, name="kept"):
        shutil.rmtree(self.home)
        shutil.rmtree(self.root / "shop" / ".eventlog", ignore_errors=True)
        shutil.copytree(self.root / name, self.home, symlinks=True)

    def events(self):
        return list(EventLog(self.store).read()) if (self.store / "log").exists() else []

    def found(self):
        return call(*VERBS["search"]).out

    def damage(self):
        return json.loads(call("verify", "--json").out)["damage"]

    def named(self, arg):
        return arg.replace("~/", f"{self.home}/").replace("~then", self.then).replace("~first", self.first)

    def does(self, name):
        """Call a verb, or a hook; 99 for a traceback."""
        if name == "restored":
            ran = call("backup", "restore", str(self.root / "b.tar"))
        elif isinstance(VERBS[name], list):
            ran = call(*map(self.named, VERBS[name]))
        else:
            sent = claude(name, session_id="h", cwd=str(self.root / "shop"), transcript_path="/nowhere", **VERBS[name])
            host_calls.tell(self.store, sent, "--agent", "claude")
            return 0
        return 99 if "Traceback" in ran.err else ran.code


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Scene(tmp_path_factory.mktemp("scene"))


@pytest.fixture
def scene(place, monkeypatch):
    place.begin()
    for name in list(os.environ):
        if name.startswith(("EVENTLOG_", "CLAUDE", "CODEX", "COPILOT")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(place.home))
    of_machine(monkeypatch, place.root, 1)
    monkeypatch.chdir(place.root / "shop")
    return place


def happens(scene, name):
    """Kill the verb, and let its disk fail, at some or all of its writes; look each time at what is there."""
    code, calls = counted(lambda: scene.does(name))
    assert code in (0, 4)  # of some, there is damage
    assert calls
    scene.begin_again()
    before = {event.id for event in scene.events()}
    chance = random.Random(f"{seed()} {name}")
    for fault in ("kill", errno.EIO, errno.ENOSPC):
        some = rounds(fixed=int(fault == chance.choice(["kill", errno.EIO])), fuzz=calls)
        for number in sorted(chance.sample(range(calls), min(some, calls))):
            where = f"{name}, {fault} at {number} of {calls}"
            if fault == "kill":
                code = killed(lambda: scene.does(name), number)
                assert code in (KILLED, 0), where
            else:
                code = failing(lambda: scene.does(name), number, fault).code
                assert 0 <= code <= 4, where
            nothing_is_lost(scene, name, before, code, where)
            scene.begin_again()


def nothing_is_lost(scene, name, before, code, where):
    there = Counter(event.id for event in scene.events())
    assert {event_id for event_id in before if there[event_id] != 1} == set(), where
    if code == 0 and name in SAVES:
        data = b"".join(path.read_bytes() for room in ("log", "spool") for path in (scene.store / room).glob("*"))
        assert SAID.encode() in data, where
    if name != "restore" and before:
        assert MINE in scene.user_md.read_text(), where
    if code == 0:
        nothing_is_told(scene, name, where)
    allowed = {*TORN, "missing"} if name == "restored" else TORN  # a restore that broke off is not whole, and is named
    assert [] == [bad for bad in scene.damage() if bad["kind"] not in allowed], where
    again = scene.does(name)
    assert again in (0, 1, 2, 4), f"{where}: then {again}"
    assert call("replay").code in (0, 4), where
    assert before <= {event.id for event in scene.events()}, where
    assert [] == [bad for bad in scene.damage() if bad["kind"] not in TORN], where
    nothing_is_told(scene, name, where)


def nothing_is_told(scene, name, where):
    """What was withdrawn, replaced or erased is told no more, and what was moved is told once."""
    if name == "redact":
        files = [path for path in scene.home.rglob("*") if path.is_file()]
        assert [] == [path for path in files if LEAKED.encode() in path.read_bytes()], where
    if name in ("forget", "edit", "move"):
        told = [path.read_text().count(TEA) for path in (scene.store / "knowledge").rglob("MEMORY.md")]
        assert sum(told) == (name == "move"), where
        assert name == "move" or TEA not in scene.found(), where


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_killed_or_failing_at_any_write_loses_nothing(scene, name):
    scene.live_in()
    for args in BEFORE.get(name, []):
        assert 0 == call(*map(scene.named, args)).code
    scene.keep()
    happens(scene, name)


@pytest.mark.parametrize("name", ["replay", "forget", "redact", "search", "UserPromptSubmit"])
def test_so_does_what_writes_to_a_database_that_fails(scene, name):
    if not can_trace():
        pytest.skip("strace cannot look into a child here")
    scene.live_in()
    if name in ("search", "UserPromptSubmit"):
        shutil.rmtree(scene.store / "cache")
    scene.keep()
    calls = in_database(lambda: scene.does(name)).calls
    assert calls > 10
    scene.begin_again()
    before = {event.id for event in scene.events()}
    chance = random.Random(f"{seed()} {name}")
    for fault in ("signal=KILL", "error=EIO", "error=ENOSPC"):
        for number in chance.sample(range(1, calls + 1), min(calls, rounds(fixed=1, fuzz=calls))):
            where = f"{name}, {fault} at {number} of {calls} in a database"
            code = in_database(lambda: scene.does(name), number, fault).code
            assert code == KILLED or 0 <= code <= 4, where
            nothing_is_lost(scene, name, before, code, where)
            found = scene.found()
            shutil.rmtree(scene.store / "cache")
            assert found == scene.found(), where
            scene.begin_again()


@pytest.mark.parametrize("name", FIRST)
def test_so_does_its_very_first_use(scene, name):
    if name == "restored":
        scene.live_in()
        assert 0 == call("backup", "create", str(scene.root / "b.tar")).code
        shutil.rmtree(scene.store)
    scene.keep()
    happens(scene, name)
