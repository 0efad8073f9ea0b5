"""Status of a sync: its machines, what waits here and there, its key; the remote is not asked."""

from msgspec import Struct

from eventlog.app.open_store import OpenStore
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.leaving import preview
from eventlog.app.sync.sync_state import SyncState, names_of
from eventlog.app.write.erasing.foreign_redactions import own_origins
from eventlog.store import Store
from eventlog.store.replica import replica_of


class MachineStatus(Struct, frozen=True):
    """The status of another machine: when it last published, the segments it lacks, and those missing here."""

    name: str
    replica: str
    last_seen: str
    lacks: int
    missing: int
    dropped: bool
    left: bool
    unconfirmed: int  # redactions made here


class SyncStatus(Struct, frozen=True):
    """The state of a sync: the remote, the name of its key, this machine, the others, and what waits to leave."""

    remote: str
    key: str
    machine: str
    exchanged: str
    waiting: int
    marks: int
    blocked: int
    machines: list[MachineStatus]
    damaged: list[str] = []
    auto: bool = False
    exclude: list[str] = []


def sync_status(opened: OpenStore) -> SyncStatus | None:
    """Report how the sync stands, by what the last exchange saw; None for a store that does not sync."""
    keyring = Keyring.load(opened.store)
    if keyring is None:
        return None
    state, counts = SyncState.load(opened.store), preview(opened)
    chosen = opened.settings.sync
    return SyncStatus(
        remote=keyring.remote,
        key=keyring.shown,
        machine=replica_of(opened.store),
        exchanged=state.exchanged,
        waiting=counts.total,
        marks=counts.marks,
        blocked=state.blocked + len(counts.blocked),
        machines=_machines(opened.store, state),
        damaged=state.bad,
        auto=chosen.auto,
        exclude=chosen.exclude,
    )


def to_confirm(opened: OpenStore) -> list[str]:
    """Name the machines that have not confirmed every redaction made here; none for a store that does not sync."""
    if Keyring.load(opened.store) is None:
        return []
    machines = _machines(opened.store, SyncState.load(opened.store))
    return [machine.name for machine in machines if machine.unconfirmed and not machine.left]


def _machines(store: Store, state: SyncState) -> list[MachineStatus]:
    shown, own = names_of([*state.machines, state.replica]), set(own_origins(store))
    return [
        MachineStatus(
            name=shown[replica],
            replica=replica,
            last_seen=seen.ts,
            lacks=max(0, state.last - seen.received.get(state.replica, 0)),
            missing=len(seen.missing),
            dropped=replica in state.dropped,
            left=seen.left,
            unconfirmed=len(own - set(seen.confirmed)),
        )
        for replica, seen in sorted(state.machines.items(), key=lambda machine: machine[1].ts, reverse=True)
    ]
