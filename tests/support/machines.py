"""Several machines, each with a home, a store and knowledge files of its own, that exchange day files by copying."""

import shutil
from pathlib import Path

from hypothesis import strategies as st

from eventlog import EventLog, Retraction
from eventlog.app.build.rebuild import rebuild
from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.write.plan import plan
from eventlog.app.write.resolve import decide, waiting
from eventlog.projections.bases import section_edits, sections
from eventlog.settings.schema import Settings
from eventlog.store.replica import make_replica, replica_of
from tests.support.builders import NOON, replay
from tests.support.sections import delete

SETTINGS = Settings()
KINDS = ["named", "nameless", "named elsewhere", "copied"]  # a store, as a log may be found in it
STORES = st.sampled_from(KINDS)


def found_as(store, how):
    """Let a store be one of STORES: named here or not yet, or with the name that a whole copy brings along."""
    Path(store.replica).unlink(missing_ok=True)
    if how != "nameless":
        make_replica(store)
    if how in ("named elsewhere", "copied"):
        Path(store.root).mkdir(parents=True, exist_ok=True)
        Path(store.replica).write_text("elsewhere\n")
    if how == "copied":
        copied_whole(store)


def copied_whole(store):
    """Let the file `replica` be a copy of one on another machine."""
    Path(f"{store.replica}.machine").write_text("\n".join([replica_of(store), "another", "0", "0", "", "", ""]))


def of_machine(patch, directory, number):
    """Let this be a machine that can be told from others."""
    Path(directory, "machine-id").write_text(f"{number:032x}\n")
    patch.setattr("eventlog.store.replica._MACHINE_IDS", (f"{directory}/machine-id",))


class Network:
    """Machines with one clock; `directory` holds them all."""

    def __init__(self, directory, count=3):
        self.now = NOON
        self.machines = [Neighbour(self, Path(directory) / f"m{number}") for number in range(count)]

    def tick(self):
        self.now += 10**9
        return self.now

    def exchange(self):
        """Copy everything everywhere and replay, until nobody has anything new to tell."""
        for round_number in range(8):
            for there in self.machines:
                for here in self.machines:
                    here.take(there)
            if not [machine for machine in self.machines if machine.replay()] and round_number:
                return
        raise AssertionError("the machines do not settle")


class Neighbour:
    """One machine."""

    def __init__(self, network, root):
        self.network = network
        self.home = root / "home"
        self.home.mkdir(parents=True)
        self.log = EventLog(root / "store", fsync=False, clock=network.tick)
        self.name = make_replica(self.log.store)
        self.opened = OpenStore(self.log, SETTINGS, Machine(str(self.home), {}, network.tick, "eventlog"))
        self.acts = set()  # (heading, level, text) of every section a person wrote or removed here

    def copied(self, root, *, named, at_home):
        """The log on a new machine, restored or synced, in a store with a name or without; with the home, or in a new one."""
        new = Neighbour(self.network, root)
        if not named:
            for file in Path(new.log.store.root).glob("replica*"):
                file.unlink()
        if Path(self.log.store.log).exists():
            shutil.copytree(self.log.store.log, new.log.store.log)
        if at_home:
            shutil.copytree(self.home, new.home, dirs_exist_ok=True)
        return new

    @property
    def user_md(self):
        return self.home / ".config" / "agents" / "USER.md"

    @property
    def knowledge(self):
        return Path(self.log.store.knowledge)

    @property
    def text(self):
        return self.user_md.read_bytes() if self.user_md.exists() else b""

    def plans(self, heading, level, content, **entry):
        plan(self.log, {"path": "user", "heading": heading, "level": level, "content": content, **entry}, session="s")

    def writes(self, heading, level, text):
        """A person gives a section of USER.md a text, or removes it (None)."""
        if text is None:
            after = delete(self.text, heading, level, subsections=False)
        else:
            after = section_edits.update(self.text, heading, level, text)
        self.user_md.parent.mkdir(parents=True, exist_ok=True)
        self.user_md.write_bytes(after)
        self.acts.add((heading, level, text))

    def loses(self):
        """USER.md is gone; what is not in the next one a person makes, they have removed."""
        self.acts |= {(heading, level, None) for heading, level, _ in sections.Page(self.text).outline()}
        self.user_md.unlink(missing_ok=True)

    def resolves(self, choice):
        """A person decides about the first entry that waits here."""
        for staged in waiting(self.opened)[:1]:
            decide(self.opened, staged, choice)

    def withdraws(self, number):
        """One of the entries known here is withdrawn."""
        if entries := [event.id for event in self.log.read() if event.type == "plan_entry"]:
            self.log.append(Retraction(conversation_id="human", agent="human", target=entries[number % len(entries)]))

    def take(self, other, whole=1.0):
        """Copy the other's own day files here, or as much of them as a torn copy has."""
        for file in Path(other.log.store.log).glob("????-??-??.jsonl") if other is not self else ():
            data = file.read_bytes()
            copy = Path(self.log.store.log) / f"{file.stem}.{other.name}.jsonl"
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(data[: round(len(data) * whole)])

    def replay(self):
        """Replay, and return how many events that added."""
        done = rebuild(self.opened)
        return done.applied.stored + len(done.edits)

    def rendered(self):
        """Everything `replay --out` writes."""
        return {document.path: document.data for document in replay(self.log, SETTINGS).documents}
