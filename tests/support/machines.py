"""Several machines, each with a home, a store and knowledge files of its own, that exchange day files by copying."""

from pathlib import Path

from eventlog import EventLog, Retraction
from eventlog.app.machine import Machine
from eventlog.app.open_store import OpenStore
from eventlog.app.plan import plan
from eventlog.app.rebuild import rebuild
from eventlog.app.replay import replay
from eventlog.app.resolve import decide, waiting
from eventlog.projections.bases import section_edits, sections
from eventlog.replica import make_replica
from eventlog.settings.schema import Settings
from tests.support.builders import NOON

SETTINGS = Settings()


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
            after = section_edits.delete(self.text, heading, level, subsections=False)
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
