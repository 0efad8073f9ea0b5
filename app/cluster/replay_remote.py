"""A team's files from the segments of its members in a remote: days folded here, or by workers of a Dask cluster.

The keys stay here, and so do the segments: workers are sent the lines of some days. What they fold is rendered here, by
the settings of this store. Nothing is written to the store, and nothing to the remote.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from eventlog.app.cluster.replay_stores import DAYS_AT_ONCE, StoreFiles, fold_days, rendered_of
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress, no_progress
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.receiving import by_id, united
from eventlog.app.sync.remote import full_address, open_remote
from eventlog.app.sync.segments import day_in, look, number_in, open_lines
from eventlog.app.sync.sync_state import SyncState
from eventlog.app.write.erasing.erase_everywhere import without_redacted_in
from eventlog.format.errors import BadRequest, library
from eventlog.log.lines import Damage
from eventlog.projections import fold
from eventlog.projections.catalog import chosen
from eventlog.projections.fold import DayBytes, Part
from eventlog.secrets.redacted import Redactions
from eventlog.store.locks import lock

_AT_WORK = 4  # tasks per thread: the lines of a task wait in memory until a worker takes them


def joined_remote(opened: OpenStore, name: str) -> str:
    """Return the address of the remote this store has joined, where that is meant; "" for anything else.

    Raises BadRequest for another remote.
    """
    address, keyring = full_address(name, opened.machine), Keyring.load(opened.store)
    if keyring and address == keyring.remote:
        return address
    if name.startswith(("dir:", "nats:", "ssh:")) or name.endswith(".git"):
        raise BadRequest("this store has not joined it", where=name, hint=f"eventlog sync join {name} CODE")
    return ""


def replay_remote(
    opened: OpenStore, client: Any = None, projections: Sequence[str] = (), progress: Progress = no_progress
) -> StoreFiles:
    """Replay what all machines have sent to the remote of a store.

    Days are folded by the workers of a `distributed.Client`, if there is one. Raises BadRequest, UntrustedRemote,
    Offline, or NotStored.
    """
    keyring = Keyring.of(opened.store)
    names = [view.name for view in chosen(projections)]
    with lock(opened.store.lock("sync")):
        log = _RemoteLog(opened, keyring)
        starts = range(0, len(log.dates), DAYS_AT_ONCE)
        pieces = [log.days(log.dates[start : start + DAYS_AT_ONCE]) for start in starts]
        folding = _folded_there(client, pieces, names) if client else (fold_days(one, names) for one in pieces)
        parts = [fold.empty(keyring.remote, chosen(projections))]
        for done, folded in enumerate(folding, 1):
            parts += folded
            progress(done, len(pieces))
        found = rendered_of(parts, log.day, opened.settings, names)
        found.damage += log.damage
    return found


def _folded_there(client: Any, pieces: list[Iterator[DayBytes]], names: Sequence[str]) -> Iterator[list[Part]]:
    """Yield what workers fold, some tasks at a time; Dask runs again what was lost with a worker."""
    tasks = library("distributed", "cluster").as_completed(loop=client.loop)
    waiting = iter(pieces)
    room = _AT_WORK * max(1, sum(client.nthreads().values()))

    def begin(count: int) -> None:
        for piece in [piece for _, piece in zip(range(count), waiting, strict=False)]:
            tasks.add(client.submit(fold_days, list(piece), names, pure=False))

    begin(room)
    for future in tasks:
        yield future.result()
        begin(1)


class _RemoteLog:
    """The log that the segments in a remote make: a file for each machine and day, as machines take them in."""

    def __init__(self, opened: OpenStore, keyring: Keyring) -> None:
        self._keyring, self._redactions = keyring, Redactions.of(opened.store)
        self._remote = open_remote(keyring.remote, opened.store, opened.machine)
        self._found = look(self._remote, keyring, SyncState.load(opened.store), opened.store)
        self._segments: dict[str, list[tuple[str, int, str]]] = {}
        for replica, head in self._found.heads.items():
            for name in head.segments:
                self._segments.setdefault(day_in(name), []).append((replica, number_in(name), name))
        self.dates = sorted(self._segments)
        self.damage = [Damage.of_file(name, "is not whole") for name in self._found.damaged]

    def days(self, dates: Collection[str]) -> Iterator[DayBytes]:
        """Read some days, and note which of their segments are missing or not whole."""
        for date in dates:
            day = self.day(date)
            self.damage += day.damage
            yield day._replace(damage=())

    def day(self, date: str) -> DayBytes:
        """Read the lines of a day, all that machines sent of it."""
        files: dict[str, bytes] = {}
        damage = []
        listed = {f"{replica}/{name}": (replica, name) for replica, _, name in sorted(self._segments.get(date, ()))}
        read = dict(self._remote.read(list(listed)))
        for file, (replica, name) in listed.items():
            digest = self._found.heads[replica].segments[name]
            lines = open_lines(self._keyring, replica, name, read.get(file, b""), digest)
            if lines is None:
                damage.append(Damage.of_file(file, "is missing, or not whole: its machine writes it again"))
                continue
            if self._redactions:
                lines = without_redacted_in(self._redactions, is_from_here=False, data=lines) or lines
            before = files.get(replica, b"")
            files[replica] = united(date, before, dict(by_id(date, lines)))[0] if before else lines
        named = tuple((f"{date}.{replica}.jsonl", data) for replica, data in files.items())
        return DayBytes(self._keyring.remote, date, named, tuple(damage))
