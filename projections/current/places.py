"""The places of projects: the paths each machine worked at, and the addresses and joins on record."""

from msgspec import Struct, field

from eventlog.format.events import Event, ProjectJoined, ProjectSeen
from eventlog.format.timestamps import order
from eventlog.log.envelope_scan import Envelope


class _Stay(Struct, array_like=True):
    """The first event of a machine at a path, and the time of the last."""

    first: tuple[str, str]  # ts and id
    last: str


class Places(Struct):
    """The events about projects, unfolded, and the stays of each machine at each path."""

    seen: list[ProjectSeen] = field(default_factory=list)
    joined: list[ProjectJoined] = field(default_factory=list)
    stays: dict[str, dict[str, _Stay]] = field(default_factory=dict)  # path -> replica -> stay

    def fold(self, event: Event | Envelope) -> None:
        """Take in one event."""
        if isinstance(event, ProjectSeen):
            self.seen.append(event)
            if event.replica:
                self._stay(event.path, event.replica, _Stay(order(event), ""))
        elif isinstance(event, ProjectJoined):
            self.joined.append(event)
        elif event.replica and event.project:
            self._stay(event.project, event.replica, _Stay(order(event), event.ts))

    def merge(self, other: "Places") -> None:
        """Merge the places of other events."""
        self.seen += other.seen
        self.joined += other.joined
        for path, stays in other.stays.items():
            for replica, stay in stays.items():
                self._stay(path, replica, stay)

    def _stay(self, path: str, replica: str, stay: _Stay) -> None:
        at = self.stays.setdefault(path, {})
        old = at.get(replica, stay)
        at[replica] = _Stay(min(old.first, stay.first), max(old.last, stay.last))
