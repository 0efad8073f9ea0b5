"""Machines that sync, all in this process: each with a home and a store, and a remote between them."""

import contextlib
import itertools
import os
import shutil
import subprocess
import zlib
from pathlib import Path

from eventlog import EventLog
from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.sync.exchange import exchange
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.membership import join_sync, start_sync
from eventlog.app.sync.remote import open_remote
from eventlog.format.errors import UntrustedRemote
from eventlog.settings.schema import Settings, SyncSettings
from eventlog.store import Store
from tests.support.builders import NOON
from tests.support.repositories import git

_streams = itertools.count(1)


def some_code():
    """A code of no memory."""
    return Keyring("", "", 1, {1: os.urandom(16).hex()}, "").code


class Memory:
    """A memory on several machines with one clock; `directory` holds them all, `relay` are servers between them."""

    def __init__(self, directory, count=2, *, by_git=False, relay=None, now=NOON):
        self.directory, self.now, self.relay = Path(directory), now, relay
        self.hub = relay.directory / "n0" if relay else self.directory / ("hub.git" if by_git else "hub")
        self.address = str(self.hub) if by_git else f"dir:{self.hub}"
        if relay:
            self.address = relay.address(f"M{next(_streams)}")
        if by_git:
            git(self.directory, "init", "--bare", "--quiet", str(self.hub))
        self.machines = [Synced(self, f"m{number}") for number in range(count)]
        self.code = start_sync(self.machines[0].opened, self.address).code
        self.machines[0].sync()
        for machine in self.machines[1:]:
            machine.join()

    def tick(self):
        self.now += 10**9
        return self.now

    def another(self, name):
        """A machine that joins later."""
        machine = Synced(self, name)
        self.machines.append(machine)
        machine.join()
        return machine

    def settle(self):
        """Let all exchange until nobody has anything new."""
        for _ in range(6):
            before = self._written()
            for machine in self.machines:
                machine.sync_or_start()
            if before == self._written() and not self.relay:
                break
        for machine in self.machines:
            machine.replay()

    def _written(self):
        """When each file of the hub was written; it may be anything at all by now."""
        return {path: path.lstat().st_mtime_ns for path in self.hub.rglob("*")}

    def files(self):
        """The files of the hub that is a directory."""
        return {str(path.relative_to(self.hub)): path for path in sorted(self.hub.rglob("*")) if path.is_file()}

    @contextlib.contextmanager
    def out_of_reach(self):
        """Take the remote away for a while; what is done to the files of the hub is done with no server at work."""
        if self.relay:
            self.relay.kill(0)
        away = self.hub.rename(self.hub.with_name("away"))
        yield
        if not self.hub.exists():
            away.rename(self.hub)
        if self.relay:
            self.relay.begin(0)

    def save(self):
        """Keep a copy of the remote as it is now."""
        with self.out_of_reach():
            shutil.copytree(self.hub.with_name("away"), self.hub.with_name("older"))

    def move_on(self):
        """Say two things, and keep a copy of the remote that has only the first."""
        self.machines[0].says("The tea is green")
        self.settle()
        self.save()
        self.machines[0].says("The cups are blue")
        self.settle()

    def roll_back(self):
        """Bring the copy back in the place of the remote."""
        with self.out_of_reach():
            self.hub.with_name("older").rename(self.hub)
            shutil.rmtree(self.hub.with_name("away"))

    def blobs(self):
        """All bytes the hub holds, its history included; of servers, those that they hand out."""
        if self.relay:
            remote = open_remote(self.address, self.machines[0].store, self.machines[0].opened.machine)
            return b"".join(name.encode() + data for name, data in remote.read(sorted(remote.names())))
        if not self.address.startswith("dir:"):
            command = ["git", f"--git-dir={self.hub}", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
            return subprocess.run(command, capture_output=True, check=True).stdout
        return b"".join(name.encode() + path.read_bytes() for name, path in self.files().items())

    def opened_blobs(self, machine):
        """What every blob holds that the remote has, or ever had, by the keys of a machine."""
        keyring = Keyring.load(machine.store)
        assert keyring
        for data in self._all_blobs():
            opened = keyring.decrypt(data) if data.startswith(b"age-encryption.org") else None
            yield data if opened is None else zlib.decompress(opened)

    def _all_blobs(self):
        if self.address.startswith("dir:"):
            return [path.read_bytes() for path in self.files().values()]
        data, found, start = self.blobs(), [], 0
        while start < len(data):
            end = data.index(b"\n", start)
            kind, size = data[start:end].split(b" ")[1:]
            if kind == b"blob":
                found.append(data[end + 1 : end + 1 + int(size)])
            start = end + 2 + int(size)
        return found


class Synced:
    """One machine."""

    def __init__(self, memory, name, **chosen):
        self.memory, self.name = memory, name
        self.offset = 0  # of its clock
        self.root = memory.directory / name
        self.home = self.root / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(sync=SyncSettings(**chosen))

    @property
    def opened(self):
        log = EventLog(Store(str(self.root / "store")), fsync=False, clock=self.clock)
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        return OpenStore(log, self.settings, Machine(str(self.home), environ, self.clock, "eventlog"))

    def clock(self):
        return self.memory.tick() + self.offset

    @property
    def store(self):
        return self.opened.store

    @property
    def log(self):
        return self.opened.log

    def says(self, content, **fields):
        fields = {"conversation_id": f"c-{self.name}", "agent": "claude-code", "project": "/src/shop", **fields}
        return self.log.append({"type": "fact", "content": content, **fields})

    def put(self, **fields):
        return self.log.put([{"conversation_id": f"c-{self.name}", "agent": "claude-code", **fields}])[0].event

    def sync(self, **options):
        return exchange(self.opened, **options)

    def join(self):
        join_sync(self.opened, self.memory.address, self.memory.code)
        return self.sync()

    def sync_or_start(self):
        """Exchange; take the remote as it is where it was rolled back."""
        try:
            return self.sync()
        except UntrustedRemote:
            start_sync(self.opened, self.memory.address)
            return self.sync()

    def replay(self):
        return replay_store(self.opened)

    def ids(self):
        return {event.id for event in self.log.read()}

    def facts(self):
        return sorted(event.content for event in self.log.read() if event.type == "fact")

    def knowledge(self):
        """The bytes of every knowledge file."""
        root = Path(self.store.knowledge)
        for left in root.rglob(
            "*.tmp"
        ):  # by a killed replay, with the time of this computer, not of the machine's clock
            os.utime(left, (0, 0))
        self.replay()
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def copy_to(self, name):
        """A whole copy of this store, as of another machine."""
        other = Synced(self.memory, name)
        shutil.copytree(self.root / "store", other.root / "store")
        self.memory.machines.append(other)
        return other
