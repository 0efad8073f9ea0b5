"""A history is a list of steps drawn from a seed, played on machines that share a project; each step has to leave every promise kept.

The promises, each checked where it can first be broken:
- what was acknowledged is there, once, on the machine that acknowledged it and wherever its log was copied;
- no event of a person that no person caused;
- lines that a person wrote into a knowledge base stay until a person removes them;
- what is forgotten is told nowhere: files, context, search, recall; what is redacted is in no file of the store;
- a second replay writes nothing, and a replay from nothing makes the same bytes;
- `verify` names no line as altered, missing, inserted or swapped that nobody took away;
- machines that sync have the same events in the end;
- no verb ends with a traceback.
"""

import contextlib
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from eventlog.cli import EXIT_DAMAGED, EXIT_FOUND, EXIT_NOT_WRITTEN, EXIT_USAGE
from eventlog.format.events import HUMAN
from eventlog.log.event_log import EventLog
from eventlog.projections.bases import section_edits
from tests.support import faults, host_calls
from tests.support.builders import NOON
from tests.support.command_line import call
from tests.support.machines import of_machine
from tests.support.payloads import claude
from tests.support.sections import delete

BIRDS = ("heron", "otter", "stork", "crane", "finch", "raven")
PLANTS = ("fern", "moss", "ivy")
HEADINGS = ("Tea", "Work", "Home")
HOUR = 3600 * 10**9
_ID = re.compile(rb'"id":"([^"]*)"')
_JUMPS = (-48 * HOUR, -HOUR, HOUR, 30 * HOUR, 24 * 400 * HOUR, -24 * 400 * HOUR)
_WEIGHTS = {
    "fact": 6, "keyed": 2, "summary": 3, "plan": 4, "append": 2, "write_entry": 2, "start": 2, "prompt": 2, "turn_end": 2, "session_end": 1,
    "replay": 5, "settle": 2, "look": 2, "forget": 4, "forget_session": 1, "edit_line": 2, "move_line": 1, "undo": 3, "undo_id": 1, "restore": 1,
    "resolve": 2, "edit_memory": 2, "edit_base": 4, "clock": 1, "take": 4, "torn_take": 1, "copy": 1, "lose_name": 1,
    "lose_cache": 1, "damage_cache": 1, "tear": 1, "drop": 1, "redact": 2, "seal": 2, "verify": 1, "repair": 1, "prune": 1,
    "back_up": 1, "import_log": 2, "user_fact": 1, "replace": 2, "go": 1,
}  # fmt: skip
_SYNCED = {what: weight for what, weight in _WEIGHTS.items() if what not in ("take", "torn_take", "drop")} | {
    "sync": 8, "leave": 1, "lose_remote": 1,
}  # fmt: skip
_KILLABLE = {
    "sync", "fact", "keyed", "summary", "plan", "append", "prompt", "turn_end", "replay", "settle", "forget", "undo", "resolve", "redact",
    "seal", "repair", "edit_line", "prune", "import_log", "user_fact", "replace",
}  # fmt: skip


_QUESTIONS = (
    ("recall", "--explain", "Where does the heron nest?"), ("why", "--not", "The heron nests in box 0", "--session", "a"),
    ("why", "MEMORY.md:5"), ("why", "The otter nests in box 1"), ("why", "--session", "a"), ("show", "a"), ("query", "--session", "b"),
    ("sessions",), ("stats",), ("today",), ("week",), ("on", "2026-02-20"), ("diff",), ("bisect", "MEMORY.md", "crane"), ("doctor",), (),
    ("project", "list"), ("export", "--format", "markdown"), ("report", "page.html"), ("scan",), ("status",),
)  # fmt: skip


class Step(NamedTuple):
    """What happens on which machine; the numbers choose among what is there. `fault`: "", "kill" or "full"."""

    what: str
    at: int
    a: int
    b: int
    fault: str = ""
    where: int = 0


class Broken(AssertionError):
    """A promise that was not kept."""


def drawn(seed, length):
    """The history of a seed; where that is odd, the machines sync, else they copy day files."""
    dice = random.Random(seed)
    names, weights = zip(*(_SYNCED if seed % 2 else _WEIGHTS).items(), strict=True)
    steps = []
    for _ in range(length):
        what = dice.choices(names, weights)[0]
        fault = dice.choices(("", "kill", "full"), (6, 2, 1))[0] if what in _KILLABLE else ""
        step = Step(what, dice.choice((0, 0, 0, 1, 1, 2)), dice.randrange(1000), dice.randrange(1000), fault, 0)
        steps.append(step._replace(where=dice.randrange(dice.choice((4, 12, 40)))) if fault else step)
    return steps


def play(steps, directory):
    """Play a history below a directory; raises Broken."""
    with pytest.MonkeyPatch.context() as patch, faults.no_syncs():
        history = History(Path(directory), patch)
        for number, step in enumerate(steps):
            try:
                history.happen(step)
            except AssertionError as broken:
                raise Broken(f"step {number}, {step}: {broken}") from broken
        try:
            history.settle_all()
        except AssertionError as broken:
            raise Broken(f"at the end: {broken}") from broken


class Desk:
    """One machine: a home, its store, and what is expected of them."""

    def __init__(self, root, number):
        self.root, self.number = root, number
        self.home = root / "home"
        self.home.mkdir(parents=True)
        self.offset = 0
        self.acknowledged = set()  # marks of events that have to be there once
        self.redacted = set()  # marks of events that are erased
        self.forgotten = set()  # birds
        self.mine = set()  # marks of lines a person wrote into USER.md and has not removed
        self.taken = {}  # files of other machines: the ids of their lines, as many as there ever were
        self.repaired = set()  # of these files, those from which damage was moved that may come back
        self.has_edits = False  # a person changed files, or was killed while deciding: a replay may say so

    @property
    def store(self):
        return self.home / ".eventlog"

    @property
    def log(self):
        return EventLog(self.store, fsync=False)

    @property
    def user_md(self):
        return self.home / ".config" / "agents" / "USER.md"

    @property
    def base(self):
        return self.user_md.read_bytes() if self.user_md.exists() else b""

    @property
    def name(self):
        file = self.store / "replica"
        return file.read_text().strip() if file.exists() else ""

    def memories(self):
        return sorted((self.store / "knowledge").rglob("MEMORY.md"))

    def events(self):
        return list(self.log.read()) if (self.store / "log").exists() else []

    def bytes(self):
        """Everything a replay may write: log, knowledge, bases."""
        places = (self.store / "log", self.store / "knowledge", self.user_md.parent)
        files = (path for place in places for path in place.rglob("*") if path.is_file())
        return {str(path.relative_to(self.home)): path.read_bytes() for path in sorted(files)}


class History:
    """Three machines, one of them used from the beginning, and a clock that each reads in its own way."""

    def __init__(self, root, patch):
        self.root, self.patch, self.now = root, patch, NOON
        self.numbers = itertools.count(1)
        self.project, self.hub = root / "shop", root / "hub"
        self.code = ""  # with which machines join
        self.ever = set()  # the ids of all events that a log had
        self.erased = set()  # marks of events that are erased, or may be
        self.sent = set()  # marks of events whose redaction was sent
        self.gone = set()  # "machine", "remote": with both, what only that machine had sent may be gone
        (self.project / ".git").mkdir(parents=True)
        self.desks = [Desk(root / f"m{number}", number) for number in range(3)]
        self.desk = self.desks[0]
        for name in list(os.environ):
            if name.startswith(("EVENTLOG_", "CLAUDE", "CODEX", "COPILOT")):
                patch.delenv(name)
        patch.setattr(time, "time_ns", lambda: self.now + self.desk.offset)
        self.chance = random.Random(0)
        patch.setattr(os, "urandom", self.chance.randbytes)
        patch.setattr(os, "nice", lambda _: 0)
        patch.chdir(self.project)

    def happen(self, step):
        """Take one step, and look whether the promises hold."""
        self.now += 10**9
        self.desk = desk = self.desks[step.at]
        self.patch.setenv("HOME", str(desk.home))
        of_machine(self.patch, desk.root, desk.number)
        before = {event.id for event in desk.events()}
        self.step, self.may_decide = step, desk.has_edits
        getattr(self, step.what)(step)
        self._nothing_forged(desk, before)
        self._people_keep_their_lines(desk)

    def settle_all(self):
        """Let every machine replay: what is there is what was said, and comes out of nothing but the log."""
        synced = [desk for desk in self.desks if self._is_synced(desk)]
        for desk in synced * 3 if len(synced) > 1 else ():
            self.happen(Step("sync", desk.number, 0, 0))
        for desk in self.desks:
            if (desk.store / "log").exists():
                self.happen(Step("replay", desk.number, 0, 0))
                self.happen(Step("look", desk.number, 0, 0))
                self._acknowledged_once(desk)
                self._unaltered(desk)
                kept = desk.bytes()
                shutil.rmtree(desk.store / "cache", ignore_errors=True)
                code = self.verb("replay")
                assert code in (0, EXIT_DAMAGED), f"replay ends with {code}"
                self._same(kept, desk.bytes(), "a replay from nothing makes other bytes")
        for one, other in itertools.pairwise(synced) if len(self.gone) < 2 else ():
            self._same(_travelling(one), _travelling(other), f"{one.number} and {other.number} have other events")

    # -------------------------------------------------------------------------------------------- agents

    def fact(self, step):
        self.say(step, "fact", self._worded(step.a, step.b))

    def keyed(self, step):
        self.say(step, "fact", self._worded(step.a, step.b), "--key", "nest")

    def user_fact(self, step):
        self.say(step, "fact", self._worded(step.a, step.b), "--scope", "user")

    def replace(self, step):
        """Say a fact in the place of another."""
        if facts := [event for event in self.desk.events() if event.type == "fact"]:
            self.say(step, "fact", self._worded(step.b, 0), "--replaces", facts[step.a % len(facts)].id)

    def go(self, _):
        """Go on in the other project."""
        self.project = self.root / ("shop" if self.project.name == "bank" else "bank")
        (self.project / ".git").mkdir(parents=True, exist_ok=True)
        self.patch.chdir(self.project)

    def summary(self, step):
        self.say(
            step,
            "summary",
            "--topic",
            "Birds",
            "--summary",
            f"Looked at box {step.a}",
            "--decision",
            self._worded(step.a, 0),
        )

    def plan(self, step):
        content = "\n".join(f"- {plant}" for plant in PLANTS[: 1 + step.b % 3])
        self.say(
            step,
            "plan",
            "--path",
            ("user", "user", "soul")[step.b // 3 % 3],
            "--heading",
            HEADINGS[step.a % 3],
            "--content",
            content,
        )

    def write_entry(self, step):
        """Append an entry as other programs do, with a time of its own."""
        said = {"ts": f"2026-01-{1 + step.b % 28:02}T00:00:00Z", "type": "plan_entry", "conversation_id": "abc"[step.b % 3],
                "key": {"path": "user", "heading": HEADINGS[step.a % 3]}, "content": f"- {PLANTS[step.b % 3]}"}  # fmt: skip
        self.verb("append", "--stdin", stdin=json.dumps(said).encode() + b"\n")

    def append(self, step):
        marks = [f"mark{next(self.numbers)}." for _ in range(2)]
        travels = step.b % 3 == 0
        what = [
            {"type": "fact", "content": mark} if travels else {"type": "host_event", "name": mark, "host": "x"}
            for mark in marks
        ]
        said = [{"conversation_id": "abc"[step.a % 3]} | fields for fields in what]
        code = self.verb("append", "--stdin", stdin=b"".join(json.dumps(one).encode() + b"\n" for one in said))
        if code == 0:
            self.desk.acknowledged |= set(marks)

    def start(self, step):
        self._no_bird_of(self.hook("SessionStart", step, source="startup"))

    def prompt(self, step):
        self._no_bird_of(
            self.hook(
                "UserPromptSubmit", step, prompt=f"Where does the {BIRDS[step.a % 6]} nest?", prompt_id=f"p{step.b}"
            )
        )

    def turn_end(self, step):
        self.hook("Stop", step, prompt_id=f"p{step.b}")

    def session_end(self, step):
        self.hook("SessionEnd", step, reason="logout")

    # -------------------------------------------------------------------------------------------- the program

    def replay(self, step):
        code = self.verb("replay", *(["--full"] if step.a % 7 == 0 else []))
        assert step.fault or code in (0, EXIT_DAMAGED), f"replay ends with {code}"
        if code == 0:
            self._settled(self.desk)

    def settle(self, _):
        self.verb("settle")

    def look(self, step):
        """Ask every way of asking: none tells what is forgotten, none changes anything."""
        every = " ".join(BIRDS)
        for asked in (
            ["search", every, "--all-projects"],
            ["recall", every, "--all-projects"],
            ["context"],
            ["memory"],
        ):
            said = self._called(*asked)
            self._no_bird_of(said.out.replace(every, ""))
        self._called(*_QUESTIONS[step.a % len(_QUESTIONS)])

    def seal(self, _):
        self.verb("seal")

    def verify(self, _):
        self._unaltered(self.desk)

    def repair(self, _):
        """Damage of other machines' files that is moved here comes back with their next copy."""
        before = self.desk.bytes()
        self.verb("verify", "--repair")
        after = self.desk.bytes()
        self.desk.repaired |= {Path(path).name for path in before if before[path] != after.get(path)} & {
            *self.desk.taken
        }

    # -------------------------------------------------------------------------------------------- a person

    def forget(self, step):
        known = " ".join(map(repr, self.desk.events()))
        bird = min(BIRDS, key=lambda bird: (bird not in known, (BIRDS.index(bird) + step.a) % 6))
        if self.verb("forget", self._worded(BIRDS.index(bird), 0), "--yes", person=True) == 0:
            self.desk.forgotten.add(bird)
            self._settled(self.desk)

    def forget_session(self, step):
        self.verb("forget", "--session", "abc"[step.a % 3], "--yes", person=True)

    def edit_line(self, step):
        """Say a bird's nest in other words: a person says what the line says now, whatever was rejected."""
        bird = step.b % len(BIRDS)
        said = ["edit", self._worded(step.a, 0), "--content", self._worded(bird, 0)]
        if self.verb(*said, person=True) != EXIT_USAGE:  # without room for the files, the log may have had some
            self.desk.forgotten.discard(BIRDS[bird])

    def move_line(self, step):
        self.verb("move", self._worded(step.a, 0), "user" if step.b % 2 else str(self.project), person=True)

    def redact(self, step):
        if marks := sorted(self.desk.acknowledged):
            mark = marks[step.a % len(marks)]
            code = self.verb("redact", mark, "--yes", person=True)
            if code in (0, faults.KILLED, EXIT_NOT_WRITTEN):  # without room, the next run may complete it
                self.desk.acknowledged.discard(mark)
                self.erased.add(mark)
            if code == 0:
                self.desk.redacted.add(mark)
                self._nothing_redacted(self.desk)

    def undo(self, _):
        self._back("undo", "--yes")

    def undo_id(self, step):
        if events := self.desk.events():
            self._back("undo", events[-1 - step.a % len(events)].id, "--yes")

    def restore(self, step):
        if times := sorted({event.ts for event in self.desk.events()}):
            self._back("restore", "user" if step.b % 2 else "MEMORY.md", "--as-of", times[step.a % len(times)], "--yes")

    def resolve(self, step):
        self.verb("resolve", "last", ("--apply", "--discard")[step.a % 2], person=True)
        self._person_changed_lines()
        if step.fault:  # a later replay applies the entry over what a person wrote
            self.desk.mine.clear()

    def edit_memory(self, step):
        if found := self.desk.memories():
            path = found[step.a % len(found)]
            lines = path.read_text().split("\n")
            if bullets := [number for number, text in enumerate(lines) if text.startswith("- ")]:
                at = bullets[step.b % len(bullets)]
                written = [f"- Swans sleep at hut {step.a}"] if step.b % 2 else []
                lines[at : at + (step.a % 2 or not written)] = written
                path.write_text("\n".join(lines))
                self.desk.has_edits = True

    def edit_base(self, step):
        desk, heading, mark = self.desk, HEADINGS[step.a % 3], f"mine{next(self.numbers)}."
        if not desk.base:
            return
        match step.b % 4:
            case 0:
                data = section_edits.update(desk.base, heading, 2, f"- {mark}")
            case 1:
                data = delete(desk.base, heading, 2, subsections=False)
            case _:
                data = desk.base.replace(f"## {heading}\n\n".encode(), f"## {heading}\n\n- {mark}\n".encode(), 1)
        desk.user_md.write_bytes(data)
        self._person_changed_lines({mark})
        desk.has_edits = True

    # -------------------------------------------------------------------------------------------- the world

    def clock(self, step):
        self.desk.offset += _JUMPS[step.a % len(_JUMPS)]

    def take(self, step, whole=1.0):
        """Copy the day files of another machine here, as an exchange by folder does."""
        other = self.desks[(step.at + 1 + step.a % 2) % 3]
        if not (other.store / "log").exists() or not other.name or other.name == self.desk.name:
            return
        (self.desk.store / "log").mkdir(parents=True, exist_ok=True)
        for file in (other.store / "log").glob("????-??-??.jsonl"):
            data = file.read_bytes()
            path = self.desk.store / "log" / f"{file.stem}.{other.name}.jsonl"
            path.write_bytes(data[: round(len(data) * whole)])
            if not self._lost_lines(self.desk, path):
                self.desk.taken[path.name] = _ids(path)
        self.desk.forgotten.clear()  # there may be an undo in it

    def torn_take(self, step):
        self.take(step, (step.b % 100) / 100)

    def copy(self, step):
        """Restore a backup of one machine on another: the log alone, the store, or the home."""
        other = self.desks[(step.at + 1 + step.a % 2) % 3]
        if not other.store.exists():
            return
        desk = self.desk
        self.gone |= {"machine"} if self._is_synced(desk) else set()
        shutil.rmtree(desk.home)
        desk.home.mkdir()
        if step.b % 3 == 0:
            if (other.store / "log").exists():
                shutil.copytree(other.store / "log", desk.store / "log")
        else:
            source, target = (other.store, desk.store) if step.b % 3 == 1 else (other.home, desk.home)
            shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
        desk.acknowledged, desk.redacted = set(other.acknowledged), set(other.redacted) if step.b % 3 else set()
        desk.taken, desk.repaired = dict(other.taken), set(other.repaired)
        desk.forgotten.clear()
        desk.mine = {mark for mark in other.mine if mark.encode() in desk.base}
        desk.has_edits = other.has_edits and step.b % 3 != 0

    def sync(self, step):
        """Exchange through a directory; who does not yet sync joins, the first begins."""
        desk, address = self.desk, f"dir:{self.hub}"
        if not self.code:
            self.step = step._replace(fault="")
            self.code = json.loads(self._called("sync", "start", address, "--json").out.split("}")[0] + "}")["code"]
            code = 0
        elif not self._is_synced(desk):
            code = self.verb("sync", "join", address, self.code)
            if code == EXIT_FOUND:  # emptied: who is a member takes it as it is
                return
        else:
            code = self.verb("sync", *(["--compact"] if step.a % 5 == 0 else []))
            if code == EXIT_FOUND:
                code = self.verb("sync", "start", address)
            if code == EXIT_FOUND:  # there is nothing left by which it can be told from somebody else's
                self._empty_remote()
                code = self.verb("sync", "start", address)
        assert step.fault or code == 0, f"sync ends with {code}"
        desk.acknowledged -= self.erased
        if code == 0:
            self.sent |= desk.redacted
            desk.redacted |= self.sent
            self._nothing_redacted(desk)
        desk.forgotten.clear()  # there may be an undo in it
        for path in (desk.store / "log").glob("????-??-??.*.jsonl"):
            if not self._lost_lines(desk, path):
                desk.taken[path.name] = _ids(path)

    def leave(self, _):
        if self._is_synced(self.desk):
            self.gone.add("machine")
            self.verb("sync", "leave", "--yes")

    def lose_remote(self, step):
        self.gone.add("remote")
        files = sorted(path for path in self.hub.rglob("*") if path.is_file())
        if step.a % 4 == 0:
            self._empty_remote()
        elif files:
            path = files[step.b % len(files)]
            if step.a % 4 == 1:
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[: step.b])

    def _empty_remote(self):
        shutil.rmtree(self.hub, ignore_errors=True)
        self.hub.mkdir()

    def back_up(self, step):
        """Lose the store, and restore it from a backup."""
        if (self.desk.store / "log").exists():
            backup = self.desk.root / f"{next(self.numbers)}.tar"
            assert self.verb("backup", "create", str(backup)) == 0
            self.gone |= {"machine"} if self._is_synced(self.desk) else set()
            shutil.rmtree(self.desk.store)
            code = self.verb("backup", "restore", str(backup))
            assert code in (0, EXIT_DAMAGED), f"backup restore ends with {code}"

    def import_log(self, step):
        """Read what another machine exports, as an exchange by files does."""
        other = self.desks[(step.at + 1 + step.a % 2) % 3]
        if (other.store / "log").exists():
            file = self.desk.root / "exported.jsonl"
            file.write_text(self._called("export", "--store", str(other.store)).out)
            self.verb("import", "eventlog", str(file))
            self.desk.forgotten.clear()  # there may be an undo in it

    def prune(self, _):
        self.verb("prune", "--yes")

    def lose_name(self, _):
        for file in self.desk.store.glob("replica*"):
            file.unlink()

    def lose_cache(self, _):
        shutil.rmtree(self.desk.store / "cache", ignore_errors=True)

    def damage_cache(self, step):
        files = sorted(
            path for path in (self.desk.store / "cache").rglob("*") if path.is_file() and path.stat().st_size
        )
        if files:
            path = files[step.a % len(files)]
            data = bytearray(path.read_bytes())
            at = step.b * len(data) // 1000
            data[at : at + 8] = b"\0garbage"[: len(data) - at]
            path.write_bytes(data)

    def tear(self, step):
        """Another program's crash leaves half a line at the end of the newest day."""
        if files := sorted((self.desk.store / "log").glob("????-??-??.jsonl")):
            with files[-1].open("ab") as file:
                file.write(b'{"id":"0000"'[: 1 + step.a % 12])

    def drop(self, step):
        if files := sorted((self.desk.store / "log").glob("????-??-??.*.jsonl")):
            files[step.a % len(files)].unlink()
            self.desk.forgotten.clear()  # the decision may have been in it

    # -------------------------------------------------------------------------------------------- how a step is taken

    def say(self, step, *args):
        self.verb(*args, "--session", "abc"[step.b % 3], "--agent", "codex")

    def verb(self, *args, stdin=b"", person=False):
        """Call a verb with the fault of this step; the exit code."""
        step = self.step
        self.may_decide |= person
        self.desk.has_edits |= person
        if step.fault == "kill":
            return self._killed(lambda: call(*args, stdin=stdin).code)
        with faults.full_disk(step.where * 60) if step.fault else contextlib.nullcontext():
            return self._called(*args, stdin=stdin).code

    def hook(self, name, step, **fields):
        session = "abc"[step.a % 3]
        sent = claude(name, session_id=session, cwd=str(self.project), transcript_path="/nowhere.jsonl", **fields)
        host_calls.alone(self.desk.store)

        def work():
            host_calls.tell(self.desk.store, sent, "--agent", "claude")
            return 0

        if step.fault == "kill":
            self._killed(work)
            return ""
        with faults.full_disk(step.where * 60) if step.fault else contextlib.nullcontext():
            return json.dumps(host_calls.tell(self.desk.store, sent, "--agent", "claude"), ensure_ascii=False)

    def _killed(self, work):
        code = faults.killed(work, self.step.where)
        for path in self.desk.store.rglob("*.tmp"):  # a replay removes those that are older than itself
            os.utime(path, ns=(self.now, self.now))
        self.chance.seed(self.chance.getrandbits(64))  # a child has drawn what its parent would draw next
        return code

    def _called(self, *args, stdin=b""):
        ran = call(*args, stdin=stdin)
        assert "Traceback" not in ran.err, f"{args}: {ran.err}"
        assert ran.code in (0, 1, 2, 3, 4), f"{args}: exit {ran.code}: {ran.err}"
        return ran

    def _back(self, *args):
        code = self.verb(*args, person=True)
        if code in (0, faults.KILLED):
            self.desk.forgotten.clear()
        self._person_changed_lines()
        if code == faults.KILLED:  # a later replay removes the lines that it takes back
            self.desk.mine.clear()

    def _worded(self, number, wording):
        bird = BIRDS[number % 6]
        return (f"The {bird} nests in box {number % 6}", f"the {bird}  NESTS in box {number % 6}.")[wording % 2]

    # -------------------------------------------------------------------------------------------- what has to hold

    def _person_changed_lines(self, new=frozenset()):
        self.desk.mine = {mark for mark in self.desk.mine | new if mark.encode() in self.desk.base}

    def _people_keep_their_lines(self, desk):
        gone = {mark for mark in desk.mine if mark.encode() not in desk.base}
        assert not gone, f"lines of a person are gone from USER.md: {gone}"

    def _nothing_forged(self, desk, before):
        new = [event for event in desk.events() if event.id not in before]
        known, self.ever = self.ever, self.ever | {event.id for event in new}
        if self.step.what in ("sync", "leave", "import_log"):  # that sends and takes in what is new, too
            new = [event for event in new if event.id not in known]
        decided = [event for event in new if event.agent == HUMAN and event.type != "session_start"]
        if self.step.what == "back_up":  # under a new name, a store tells again what it had applied
            decided = [event for event in decided if not self._tells_again(desk, before, event)]
        if decided and self.step.what not in ("take", "torn_take", "copy"):
            assert self.may_decide, f"nobody did this: {decided}"

    def _tells_again(self, desk, before, event):
        there = (old for old in desk.events() if old.id in before and old.type == event.type == "entry_applied")
        return any((old.target, old.digest) == (event.target, event.digest) for old in there)

    def _acknowledged_once(self, desk):
        names = (getattr(event, "name", None) or getattr(event, "content", None) or "" for event in desk.events())
        there = Counter(name for name in names if name.startswith("mark"))
        wrong = {mark: there[mark] for mark in desk.acknowledged if there[mark] != 1}
        twice = {mark: count for mark, count in there.items() if count > 1}
        assert not (wrong | twice), f"acknowledged, and not there once: {wrong | twice}"

    def _unaltered(self, desk):
        """No line is named that nobody took away."""
        found = json.loads(self._called("verify", "--json").out)["damage"]
        named = [one for one in found if one["kind"] in ("altered", "missing", "inserted", "swapped")]
        wrong = [one for one in named if not self._lost_lines(desk, Path(one["file"]))]
        assert not wrong, f"nobody did this to the log: {wrong}"

    def _is_synced(self, desk):
        return (desk.store / "sync" / "key").exists()

    def _lost_lines(self, desk, path):
        """Whether a file of another machine has fewer lines than it had, or may have other ones."""
        before = desk.taken.get(path.name, [])
        return bool(before) and (path.name in desk.repaired or _ids(path)[: len(before)] != before)

    def _settled(self, desk):
        """After a replay: a second one writes nothing, and what is forgotten is in no file."""
        if self.step.fault:
            return
        before = desk.bytes()
        assert 0 == self._called("replay").code
        self._same(before, desk.bytes(), "a second replay writes")
        desk.has_edits = any(desk.store.rglob("MEMORY.md.edited*"))  # is read when its project is back
        self._nothing_redacted(desk)
        for path in (desk.store / "knowledge").rglob("*.md"):
            if ".edited" not in path.name:
                self._no_bird_of(path.read_text())

    def _nothing_redacted(self, desk):
        marks = [mark.encode() for mark in desk.redacted]
        files = (path for path in desk.store.rglob("*") if path.is_file()) if marks else ()
        left = [(path.name, mark) for path in files for data in [path.read_bytes()] for mark in marks if mark in data]
        assert not left, f"redacted, and there: {left}"

    def _no_bird_of(self, text):
        told = {bird for bird in self.desk.forgotten if bird in text.casefold()}
        assert not told, f"forgotten, and told: {told}"

    def _same(self, one, other, what):
        different = [path for path in one | other if one.get(path) != other.get(path)]
        assert not different, (
            f"{what}: {[(path, _difference(one.get(path), other.get(path))) for path in different[:3]]}"
        )


def _travelling(desk):
    """What every machine of a memory has to have: what agents said of themselves, and what people decided."""
    kinds = ("fact", "stage_summary", "plan_entry", "retraction", "rejected", "restored")
    return {event.id: repr(replace(event, replica=None)).encode() for event in desk.events() if event.type in kinds}


def _ids(path):
    """The ids of the whole lines of a day file, in their order; a line without stands for itself."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [found[1] if (found := _ID.search(line)) else line for line in lines]


def _difference(one, other):
    """The first line in which two files differ."""
    for left, right in itertools.zip_longest((one or b"").splitlines(), (other or b"").splitlines()):
        if left != right:
            return left, right
    return hashlib.sha256(one or b"").hexdigest()[:8], hashlib.sha256(other or b"").hexdigest()[:8]
