"""Play a hostile history of machines that sync: `python -m tests.support.hostile_sync SEED [--git] [--steps N] [--events N]`.

Its steps come from a seed; the moments of signals do not. Lifelike events are appended all the time, machines exchange alone and at once, processes die before any write or by a
signal, files of the remote are torn, altered, swapped, deleted, duplicated, renamed and rolled back, the remote is emptied or another one
for a while, a store is copied, clocks are a day off, a machine is away for a week. After each step no machine lacks an
event it had; at the end all have the same events once, every line as it left, the same bytes, and no seal is broken.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import orjson
from msgspec.structs import replace

from eventlog.app.setup.seal import seal_log, verify_sealed
from eventlog.app.sync.segments import MARKER
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format import codec, timestamps
from eventlog.format.errors import BadRequest, Busy, EventLogError, Offline, UntrustedRemote
from eventlog.format.events import Retraction, SessionStart
from tests.support import faults
from tests.support.builders import DAY_NS
from tests.support.repositories import git
from tests.support.synced import Memory
from tests.support.users import FIRST, events_of

_WEIGHTS = {
    "work": 30, "sync": 20, "compact": 3, "race": 4, "kill": 10, "signal": 6, "race_killed": 2, "seal": 4, "replay": 2,
    "tear": 3, "alter": 3, "swap": 2, "delete": 3, "duplicate": 2, "rename": 2, "roll_back_file": 2, "roll_back": 1, "empty": 1, "foreign": 1,
    "copy": 1, "clock": 2, "week": 1, "redact": 1, "lose_state": 1, "lose_marker": 1,
}  # fmt: skip
_AWAY = 6  # steps for which a remote is another one, or a machine is offline
_BRANCH = "refs/heads/eventlog"
_FAILED = 99


class HostileHistory:
    """Machines below a directory that live through a history; `count` lifelike events happen on each of three."""

    def __init__(self, directory, seed, count, steps, *, by_git):
        self.seed, self.dice, self.steps = seed, random.Random(seed), steps
        days = 2 + steps // 40
        self.memory = Memory(directory, count=3, by_git=by_git, now=int(FIRST.timestamp()) * 10**9)
        self.remote = _GitHub(self.memory.hub) if by_git else _Folder(self.memory.hub)
        self.hidden = None  # what the remote was, while another one is in its place
        self.until = 0
        self.waiting = {
            machine.name: [line for _, line in events_of(f"{seed}-{machine.name}", count, days)]
            for machine in self.memory.machines
        }
        self.batch = max(1, 16 * count // steps)  # a quarter of the steps append
        self.offline = {}  # machine: the step until which it is
        self.said = {}  # id: event
        self.started: set[str] = set()  # conversations
        self.renamed = {}  # ids of events that were generated: their ids in the log
        self._waiting_now = []  # events of a step that are appended together
        self.seen = {}  # machine: files and their ids
        self.stamps = {}  # file: stamp and ids
        self.counts: Counter[str] = Counter()

    def play(self):
        """Take all steps, settle, and look; raises AssertionError."""
        names, weights = zip(*_WEIGHTS.items(), strict=True)
        for number in range(self.steps):
            if self.hidden is not None and number >= self.until:
                self._come_back()
            what, machine = self.dice.choices(names, weights)[0], self.dice.choice(self.memory.machines)
            self.now = number
            try:
                getattr(self, f"_{what}")(machine)
                self._nothing_is_gone()
            except (AssertionError, EventLogError) as error:
                raise AssertionError(f"seed {self.seed}, step {number}, {what} at {machine.name}: {error!r}") from error
            self.counts[what] += 1
        try:
            self._settle()
        except AssertionError as error:
            raise AssertionError(f"seed {self.seed}, settled: {error}") from error

    # ------------------------------------------------------------------------------------------------ steps

    def _work(self, machine):
        waiting = self.waiting.get(machine.name, [])
        number = self.dice.randrange(1, 2 * self.batch)
        lines, waiting[:number] = waiting[:number], []
        for event in map(codec.decode, lines):
            self.memory.now = max(self.memory.now, timestamps.to_ms(event.ts) * 1_000_000)
            if isinstance(event, Retraction):  # of what may be waiting
                self._put(machine)
            self._waiting_now.append(event)
        self._put(machine)
        if not lines:
            event = machine.says(f"fact number {len(self.said)} of green tea")
            self.said[event.id] = event

    def _put(self, machine):
        """Append events as they happen here and now, each conversation with its start."""
        events, self._waiting_now = self._waiting_now, []
        happening = [(event, self._of_now(event)) for event in events]
        new = []
        for event, event_now in happening:
            started = {name: getattr(event_now, name) for name in ("conversation_id", "agent", "project")}
            if event.conversation_id not in self.started:
                new.append((None, SessionStart(source="startup", **started)))
                self.started.add(event.conversation_id)
            new.append((event.id, event_now))
        for (name, _), stored in zip(new, machine.log.put([event for _, event in new]) if new else [], strict=True):
            if name:
                self.renamed[name] = stored.event.id
                self.said[stored.event.id] = stored.event

    def _of_now(self, event):
        """The event as it happens here and now, in a conversation of one agent about one project."""
        number = int(event.conversation_id.rpartition("-")[2])
        event = replace(event, ts="", id="", agent=("codex", "cursor")[number % 2], project=f"/src/{number % 3}")
        if isinstance(event, Retraction) and event.target in self.renamed:
            return replace(event, target=self.renamed[event.target])
        return event

    def _sync(self, machine, **options):
        if self._is_away(machine):
            return
        if self.hidden is not None:
            with suppress(UntrustedRemote, Offline):
                machine.sync(**options)
                raise AssertionError("another remote was not refused")
            return
        machine.sync_or_start()
        if options:
            machine.sync(**options)

    def _compact(self, machine):
        self._sync(machine, compact=True)

    def _race(self, _):
        self._at_once([])

    def _race_killed(self, _):
        self._at_once([self.dice.random() * 0.5])

    def _kill(self, machine):
        """Die before one of its writes."""
        if not self._is_away(machine):
            code = faults.killed(lambda: self._exchanged(machine), self.dice.randrange(self.dice.choice((4, 16, 64))))
            assert code in (0, faults.KILLED), f"ended with {code}"
            self.remote.unlock()

    def _signal(self, machine):
        """Die by a signal, and every git process with it."""
        if not self._is_away(machine):
            _kill_after(self._started(machine), self.dice.random() * self.dice.choice((0.02, 0.1, 0.4)))
            self.remote.unlock()

    def _seal(self, machine):
        result = seal_log(machine.log)
        assert not result.damage, result.damage

    def _replay(self, machine):
        machine.replay()

    def _redact(self, machine):
        facts = sorted(event.content for event in self.said.values() if "green tea" in getattr(event, "content", ""))
        if facts:
            with suppress(BadRequest):
                redact(machine.opened, redactable(machine.opened, self.dice.choice(facts)))

    def _tear(self, _):
        self._to_a_file(lambda name, data: {name: data[: self.dice.randrange(len(data) or 1)]})

    def _alter(self, _):
        self._to_a_file(lambda name, data: {name: self._altered(data)})

    def _altered(self, data):
        at = self.dice.randrange(len(data) or 1)
        return data[:at] + bytes(byte ^ 1 << self.dice.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]

    def _swap(self, _):
        def swapped(name, data):
            files = self.remote.files()
            other = self.dice.choice(sorted(of for of in files if "/" in of))
            return {name: files[other], other: data}

        self._to_a_file(swapped)

    def _delete(self, _):
        self._to_a_file(lambda name, _: {name: None})

    def _duplicate(self, _):
        self._to_a_file(lambda name, data: {f"{name.removesuffix('.age')} (conflicted copy).age": data})

    def _rename(self, _):
        self._to_a_file(lambda name, data: {name: None, f"{name.removesuffix('.age')} 2.age": data})

    def _roll_back_file(self, _):
        older = self.remote.kept() if self.hidden is None else {}
        self._to_a_file(lambda name, data: {name: older.get(name, data)})

    def _roll_back(self, _):
        if self.hidden is None:
            self.remote.roll_back()

    def _lose_marker(self, _):
        if self.hidden is None:
            self.remote.change({MARKER: None})

    def _empty(self, _):
        self._put_another({})

    def _foreign(self, _):
        self._put_another({"thesis.tex": b"\\begin{document}"})

    def _copy(self, machine):
        if len(self.memory.machines) == 3:
            machine.copy_to("copy")

    def _clock(self, machine):
        machine.offset = self.dice.choice((-DAY_NS, 0, 0, DAY_NS))

    def _week(self, machine):
        self.offline[machine.name] = self.now + _AWAY
        self.memory.now += 7 * DAY_NS

    def _lose_state(self, machine):
        Path(machine.store.sync, "state.json").unlink(missing_ok=True)

    # ------------------------------------------------------------------------------------------------ how

    def _at_once(self, delays):
        """Let all exchange at the same moment, each in a process of its own; some die meanwhile."""
        if self.hidden is not None:
            return
        children = [self._started(machine) for machine in self.memory.machines if not self._is_away(machine)]
        for child, delay in zip(children, delays, strict=False):
            _kill_after(child, delay)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children[len(delays) :]]
        self.remote.unlock()
        assert not any(codes), f"ended with {codes}"

    def _exchanged(self, machine):
        """Exchange; a remote that was rolled back is taken as it is, another one is not. The exit code of the process."""
        with suppress(Busy, BadRequest, UntrustedRemote):
            machine.sync_or_start() if self.hidden is None else machine.sync()
        return 0

    def _started(self, machine):
        """Start an exchange in a process that leads a group of its own."""
        child = os.fork()
        if child == 0:
            code = _FAILED
            try:
                os.setpgid(0, 0)
                code = self._exchanged(machine)
            except BaseException as error:  # noqa: BLE001 - the parent is told
                sys.stderr.write(f"{machine.name}: {error!r}\n")
            os._exit(code)
        with suppress(OSError):
            os.setpgid(child, child)
        return child

    def _is_away(self, machine):
        return self.offline.get(machine.name, 0) > self.now

    def _to_a_file(self, change):
        files = self.remote.files() if self.hidden is None else {}
        if names := sorted(name for name in files if "/" in name):
            name = self.dice.choice(names)
            if self.dice.random() < 0.5:
                self.remote.keep()
            self.remote.change(change(name, files[name]))

    def _put_another(self, files):
        if self.hidden is None:
            self.hidden, self.until = self.remote.hide(), self.now + _AWAY
            if files:
                self.remote.change(files)

    def _come_back(self):
        self.remote.bring_back(self.hidden)
        self.hidden = None

    def _ids(self, path):
        """The ids in a file, which is read when it has changed."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return []
        stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if self.stamps.get(path, ((),))[0] != stamp:
            whole = path.read_bytes().split(b"\n")[:-1]  # a kill may have torn the last line
            self.stamps[path] = stamp, [found["id"] for found in map(orjson.loads, whole)]
        return self.stamps[path][1]

    def _ids_of(self, machine):
        return [name for path in Path(machine.store.log).glob("*.jsonl") for name in self._ids(path)]

    def _nothing_is_gone(self):
        for machine in self.memory.machines:
            folder = machine.store.log
            before = self.seen.get(machine.name, {})
            now = {path: self._ids(path) for path in Path(folder).glob("*.jsonl")}
            gone = set()
            for path, ids in before.items():
                if now.get(path) is not ids:
                    gone |= set(ids).difference(now.get(path, ()))
            if gone:
                gone = gone.difference(*now.values())
            assert not gone, f"{machine.name} lacks {len(gone)} events it had"
            self.seen[machine.name] = now

    # ------------------------------------------------------------------------------------------------ the end

    def _settle(self):
        if self.hidden is not None:
            self._come_back()
        for machine in self.memory.machines:
            machine.offset = 0
        for _ in range(3):  # a replay applies plan entries, and joins the places of a copy: both travel, too
            self.memory.settle()
        everywhere = {machine.name: self._ids_of(machine) for machine in self.memory.machines}
        for name, ids in everywhere.items():
            lacking = self.said.keys() - set(ids)
            assert not lacking, f"{name} lacks {len(lacking)} of {len(self.said)}"
        assert 1 == len({frozenset(ids) for ids in everywhere.values()}), "not the same events everywhere"
        for machine in self.memory.machines:
            listed = Counter(event.id for event in machine.log.read())
            assert max(listed.values()) == 1, f"{machine.name} counts an event twice"
            result, seals = verify_sealed(machine.log)
            assert not result.damage, result.damage
            assert not seals.damage, seals.damage
        first, *others = [machine.knowledge() for machine in self.memory.machines]
        for other in others:
            assert first == other, [name for name in first | other if first.get(name) != other.get(name)]
        assert b"green tea" not in self.memory.blobs()


class _Folder:
    """A remote that is a directory, and what somebody does to it."""

    def __init__(self, hub):
        self.hub, self.older = hub, {}

    def files(self):
        found = (path for path in self.hub.rglob("*") if path.is_file())
        return {str(path.relative_to(self.hub)): path.read_bytes() for path in found}

    def change(self, files):
        for name, data in files.items():
            path = self.hub / name
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def keep(self):
        self.older = self.files()

    def kept(self):
        return self.older

    def roll_back(self):
        if self.older:
            self.bring_back(self.older)

    def hide(self):
        before = self.files()
        shutil.rmtree(self.hub)
        self.hub.mkdir()
        return before

    def bring_back(self, files):
        shutil.rmtree(self.hub)
        self.hub.mkdir()
        self.change(files)

    def unlock(self):
        """A directory has no locks."""


class _GitHub:
    """A remote that is a repository, and what somebody does to it: commits of somebody else, another tip of the branch."""

    def __init__(self, hub):
        self.hub, self.older = hub, ""

    def _tip(self):
        with suppress(Exception):
            return git(self.hub, "rev-parse", "--verify", "--quiet", _BRANCH)
        return ""

    def files(self):
        listed = git(self.hub, "ls-tree", "-r", "--name-only", "-z", _BRANCH).split("\0") if self._tip() else []
        return {name: self._blob(_BRANCH, name) for name in filter(None, listed)}

    def _blob(self, tip, name):
        return git_bytes(self.hub, "cat-file", "blob", f"{tip}:{name}")

    def change(self, files):
        tip = self._tip()
        parts = [f"commit {_BRANCH}\ncommitter x <x> now\ndata 1\nx\n".encode()]
        parts += [f"from {tip}\n".encode()] if tip else []
        for name, data in files.items():
            quoted = f'"{name}"'
            parts += (
                [f"D {quoted}\n".encode()]
                if data is None
                else [f"M 100644 inline {quoted}\ndata {len(data)}\n".encode(), data, b"\n"]
            )
        git_bytes(self.hub, "fast-import", "--quiet", "--force", "--date-format=now", sent=b"".join(parts))

    def keep(self):
        self.older = self._tip()
        if self.older:
            git(self.hub, "update-ref", "refs/kept/older", self.older)

    def kept(self):
        listed = git(self.hub, "ls-tree", "-r", "--name-only", self.older).splitlines() if self.older else []
        return {name: self._blob(self.older, name) for name in listed if '"' not in name}

    def roll_back(self):
        if self.older:
            git(self.hub, "update-ref", _BRANCH, self.older)

    def hide(self):
        before = self._tip()
        git(self.hub, "update-ref", "refs/kept/hidden", before)
        git(self.hub, "update-ref", "-d", _BRANCH)
        return before

    def bring_back(self, tip):
        git(self.hub, "update-ref", _BRANCH, tip)

    def unlock(self):
        """Remove locks that killed git processes left in the repository, as whoever hosts it does."""
        for path in self.hub.rglob("*.lock"):
            path.unlink(missing_ok=True)


def git_bytes(hub, *args, sent=b""):
    return subprocess.run(["git", f"--git-dir={hub}", *args], input=sent, capture_output=True, check=True).stdout


def _kill_after(child, seconds):
    time.sleep(seconds)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main():
    """Play the history of a seed, and print what happened."""
    parser = argparse.ArgumentParser(prog="hostile_sync")
    parser.add_argument("seed", type=int)
    parser.add_argument("--git", action="store_true", help="a repository is the remote")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--events", type=int, default=5000, help="of each of three machines")
    options = parser.parse_args()
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as directory, faults.no_syncs():
        history = HostileHistory(directory, options.seed, options.events, options.steps, by_git=options.git)
        history.play()
    steps = ", ".join(f"{what} {count}" for what, count in sorted(history.counts.items()))
    sys.stdout.write(f"seed {options.seed}: {len(history.said):,} events, {options.steps:,} steps, held: {steps}\n")


if __name__ == "__main__":
    main()
