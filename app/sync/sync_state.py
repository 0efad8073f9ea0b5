"""The progress of a sync, `sync/state.json`: the lines that were sent, and what was seen of other machines.

It may be lost: then everything is sent again, and every machine takes each line once.
"""

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct

from eventlog.format.codec import json_of
from eventlog.store import Store
from eventlog.store.files import read, replace_file

_FILE = "state.json"


class SentDay(Struct):
    """The part of a day file that has been sent, as it was read and as it left, and its segments."""

    size: int = 0  # bytes of whole lines
    read: int = 0  # their checksum
    sent: int = 0  # the checksum of what left
    lines: int = 0  # that left
    blocked: int = 0  # lines that hold secrets
    stamp: list[int] = []
    segments: dict[str, str] = {}
    senders: list[str] = []  # the segments it was sent in under former names of this store: `replica/segment`


class SeenMachine(Struct):
    """The last head that was seen of another machine, and the segments that were taken from it."""

    sequence: int = 0
    ts: str = ""
    last: int = 0
    taken: list[str] = []
    missing: list[str] = []  # segments that are not there, or not whole
    received: dict[str, int] = {}
    confirmed: list[str] = []
    recipient: str = ""
    left: bool = False


class SyncState(Struct):
    """The progress of a store; `token` and `pending` mark its own heads, which a copy of the store does not know."""

    namespace: str = ""
    replica: str = ""
    sequence: int = 0
    token: str = ""
    pending: str = ""
    last: int = 0
    days: dict[str, SentDay] = {}
    machines: dict[str, SeenMachine] = {}
    bad: list[str] = []
    projects: list[str] = []  # that own lines name
    shared: list[str] = []  # conversations whose facts about the user stay
    hidden: list[str] = []  # conversations of excluded projects
    rules: str = ""  # a digest of what decided which lines leave
    dropped: dict[str, int] = {}
    heads: dict[str, str] = {}  # of earlier epochs, that count
    exchanged: str = ""  # when it last exchanged
    stream: str | None = None  # when the stream of a relay was created

    @property
    def blocked(self) -> int:
        """The lines that stay because they hold secrets."""
        return sum(day.blocked for day in self.days.values())

    @classmethod
    def load(cls, store: Store) -> "SyncState":
        """Read the progress; a new one where there is none, or it is damaged."""
        return json_of(read(f"{store.sync}/{_FILE}"), cls) or cls()

    def save(self, store: Store) -> None:
        """Save the progress; raises NotStored."""
        replace_file(f"{store.sync}/{_FILE}", msgspec.json.encode(self))

    def segments(self) -> list[str]:
        """List the names of all segments that count."""
        return [segment for day in self.days.values() for segment in day.segments]

    def begin_again(self, replica: str) -> None:
        """Continue under another name: what was sent stays sent, by the former name."""
        former, self.replica = self.replica, replica
        self.sequence, self.token, self.pending = 0, "", ""
        for day in self.days.values():
            if day.segments:
                sent = [f"{former}/{segment}" for segment in day.segments]
                day.segments, day.senders = {}, [*day.senders, *sent]

    def lost_by_senders(self, heads: Collection[str]) -> set[str]:
        """List the days that were sent under a former name, and of which the remote has not all segments any more.

        A copy of this store that publishes at the same moment does not know the last ones.
        """
        taken = {f"{name}/{of}" for name, seen in self.machines.items() if name in heads for of in seen.taken}
        return {date for date, day in self.days.items() if not taken.issuperset(day.senders)}


def names_of(replicas: Iterable[str]) -> dict[str, str]:
    """Map machines to the names people know: without the ending, where those differ."""
    listed = list(dict.fromkeys(replicas))
    short = {name: name.rpartition("-")[0] or name for name in listed}
    return {name: short[name] if [*short.values()].count(short[name]) == 1 else name for name in listed}
