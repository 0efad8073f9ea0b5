"""Exchange with the remote: what is new here leaves, what is new there arrives, between two replays.

A state is saved before a head is published, with the token of that head, and after it: a program that was killed in
between finds its own token, and sends again what it does not know it has sent. Every machine takes a line once.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import OpenStore, open_store
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.leaving import LeavingCounts, LeavingRules, cut_days
from eventlog.app.sync.receiving import make_durable, take_in
from eventlog.app.sync.remote import Remote, open_remote
from eventlog.app.sync.segments import (
    MARKER,
    Listing,
    MachineHead,
    day_in,
    digest_of,
    look,
    marker_files,
    number_in,
    open_lines,
    pack_lines,
)
from eventlog.app.sync.sync_state import SeenMachine, SentDay, SyncState
from eventlog.app.write.erasing.foreign_redactions import own_origins, redactions_to_send, take_over
from eventlog.fast import os
from eventlog.format.errors import Busy, EventLogError, Offline
from eventlog.format.timestamps import to_ms
from eventlog.hooks import background, error_log
from eventlog.store.files import names_in
from eventlog.store.locks import lock
from eventlog.store.replica import make_replica, rename

_WHOLE = 10_000  # events: who takes in so many joins, or was away for long
_TRIES = 20  # pushes, while other machines push
_CLOCK_MS = 5 * 60_000  # a clock may be so far ahead


class SyncReport(Struct):
    """The result of an exchange: the lines that left and arrived, and the state of the remote.

    `arrived` counts by machine; `damaged` names files of the remote that are not whole, `ahead` machines whose clock is
    minutes ahead of ours; `offline` says why the remote was not reached, `renamed` how the store was called before;
    `erased` counts redactions of other machines.
    """

    sent: LeavingCounts
    arrived: dict[str, int] = {}
    damaged: list[str] = []
    ahead: list[str] = []
    offline: str = ""
    renamed: str = ""
    blocked: int = 0
    erased: int = 0


class _Parcel(NamedTuple):
    """The files to be published, in order, those to be removed, and the days and segments as they are sent then."""

    files: dict[str, bytes]
    removed: list[str]
    days: dict[str, SentDay]
    segments: dict[str, str]
    last: int


def exchange(
    opened: OpenStore,
    *,
    compact: bool = False,
    leaving: bool = False,
    patience: float | None = None,
    replay: Callable[[SyncReport], object] | None = None,
) -> SyncReport:
    """Exchange with the remote of a store, one at a time; a remote out of reach is part of the report.

    What arrived is there when `replay` is called; what that appends leaves in this exchange. Raises BadRequest for a
    store that does not sync, UntrustedRemote, NotStored, or Busy while another exchange runs.
    """
    Keyring.of(opened.store)  # before the lock, which makes the directory of a store
    with lock(opened.store.lock("sync"), patience):
        exchanging = _Exchange(opened, Keyring.of(opened.store))
        return exchanging.run(replay or (lambda _: None), compact=compact, leaving=leaving)


def sync_store(opened: OpenStore, *, compact: bool = False) -> SyncReport:
    """Take in what is new in the remote, settle and replay, and send what is new here; raises as `exchange` does.

    The indexes of a whole memory are made in the background.
    """

    def replay(report: SyncReport) -> None:
        is_settled = False
        if names_in(opened.store.cached("open")):  # conversations that wait for it, unless another process settles
            from eventlog.app.build.finalize import finalize  # reads transcripts, by patterns slow to compile

            is_settled = bool(list(finalize(opened.store, partial(open_store, opened.store, opened.machine))))
        if not is_settled or report.erased:
            replay_store(opened, anew=bool(report.erased), indexes=not is_whole(report))

    def is_whole(report: SyncReport) -> bool:
        return sum(report.arrived.values()) > _WHOLE

    done = exchange(opened, compact=compact, replay=replay)
    if is_whole(done):
        background.start_finalize(opened.store)
    return done


def sync_in_background(opened: OpenStore) -> SyncReport | None:
    """Exchange after a session, where the settings want that and nothing else does so; failures are noted."""
    if not opened.settings.sync.auto or not os.path.exists(opened.store.sync):
        return None

    def replay(report: SyncReport) -> None:
        if report.arrived or report.erased:
            replay_store(opened, anew=bool(report.erased))

    try:
        return exchange(opened, patience=0, replay=replay)
    except EventLogError as error:
        if not isinstance(error, Busy):
            error_log.note(opened.store, error, b"")
        return None


class _Exchange:
    """An exchange under its lock."""

    def __init__(self, opened: OpenStore, keyring: Keyring) -> None:
        self._opened, self._store, self._keyring = opened, opened.store, keyring
        self._report = SyncReport(LeavingCounts())
        self._remote: Remote = open_remote(keyring.remote, opened.store, opened.machine)
        self._state = SyncState.load(opened.store)
        name = make_replica(opened.store)
        if self._state.namespace != keyring.namespace:
            self._state = SyncState(namespace=keyring.namespace, replica=name)
        elif self._state.replica != name:  # a copy of a store, which has a name of its own by now
            self._begin_again(name)

    def _begin_again(self, name: str) -> None:
        """Continue under another name, and by another key: a copy that is dropped must not read by the former key."""
        self._report.renamed = self._state.replica
        self._state.begin_again(name)
        self._keyring.renew(self._store)

    def run(self, replay: Callable[[SyncReport], object], *, compact: bool, leaving: bool) -> SyncReport:
        """Take in what is there, replay, and publish until no other machine was faster."""
        found = None
        try:
            found = self._look()
            self._pull(found)
        except Offline as error:
            self._report.offline = str(error)
        replay(self._report)
        try:
            if found and not self._report.offline:
                self._push(found, compact=compact, leaving=leaving)
                self._state.exchanged = self._opened.machine.now()
        except Offline as error:
            self._report.offline = str(error)
        self._state.save(self._store)
        return self._report

    def _look(self) -> Listing:
        found = look(self._remote, self._keyring, self._state, self._store)
        own, is_new = found.heads.get(self._state.replica), not (self._state.token or self._state.pending)
        own_recipients = (self._keyring.recipient, self._keyring.copied)
        if own and is_new and own.recipient in own_recipients:  # only the state was lost
            self._state.token, self._state.last = own.token, own.last
        elif own and own.token not in (self._state.token, self._state.pending):  # a copy of this store publishes
            self._begin_again(rename(self._store, self._state.replica))
        elif any(head.copied == self._keyring.recipient for head in found.heads.values()):
            self._keyring.renew(self._store)
        return found

    def _push(self, found: Listing, *, compact: bool, leaving: bool) -> None:
        for _ in range(_TRIES):
            own = found.heads.get(self._state.replica)
            rules = LeavingRules(self._opened, self._state)
            parcel = self._parcel(found, rules, compact=compact)
            head = self._head(parcel, own, leaving=leaving)
            is_same = own and replace(head, sequence=own.sequence, token=own.token, ts=own.ts) == own
            is_needed = parcel.files or parcel.removed or not is_same
            if not is_needed and MARKER in found.names:
                self._remember(parcel, rules)
                return
            self._state.pending = head.token
            self._state.save(self._store)
            lost = {} if MARKER in found.names else marker_files(found, self._keyring, self._state)
            files = {**lost, **parcel.files}
            files[f"{self._state.replica}/head.age"] = head.packed(self._keyring)
            if self._remote.publish(files, parcel.removed):
                self._state.sequence, self._state.token = head.sequence, head.token
                self._remember(parcel, rules)
                self._state.save(self._store)
                return
            found = self._look()
        raise Busy("other machines publish all the time", where=self._keyring.remote, hint="try again")

    def _parcel(self, found: Listing, rules: LeavingRules, *, compact: bool) -> _Parcel:
        """Collect what is new, what was lost or damaged there, and what replaces segments."""
        name = self._state.replica
        complained = {bad for head in found.heads.values() for bad in head.bad}
        lost = {
            day_in(segment)
            for segment in self._state.segments()
            if f"{name}/{segment}" not in found.names or f"{name}/{segment}" in complained
        } | self._state.lost_by_senders(found.heads)
        today = "~" if compact else self._opened.machine.now()[:10]
        files: dict[str, bytes] = {}
        days, last = dict(self._state.days), self._state.last
        for cut in cut_days(self._opened, self._state, rules, lost=lost, today=today):
            packed = pack_lines(self._keyring, name, cut.day, cut.lines, last)
            before = self._state.days.get(cut.day, SentDay()).segments
            digests = {segment: digest_of(data) for segment, data in packed.items()}
            cut.sent.segments = digests if cut.replaces else {**before, **digests}
            files |= {f"{name}/{segment}": data for segment, data in packed.items()}
            days[cut.day] = cut.sent
            last += len(packed)
        segments = {segment: digest for day in days.values() for segment, digest in day.segments.items()}
        own = (file for file in found.names if file.startswith(f"{name}/") and day_in(file.partition("/")[2]))
        removed = sorted(file for file in own if file.partition("/")[2] not in segments)
        return _Parcel(files, removed, days, segments, last)

    def _head(self, parcel: _Parcel, own: MachineHead | None, *, leaving: bool) -> MachineHead:
        state, redactions = self._state, redactions_to_send(self._store)
        return MachineHead(
            namespace=self._keyring.namespace,
            replica=state.replica,
            sequence=max(state.sequence, own.sequence if own else 0) + 1,
            token=os.urandom(8).hex(),
            ts=self._opened.machine.now(),
            recipient=self._keyring.recipient,
            copied=self._keyring.copied,
            last=parcel.last,
            segments=parcel.segments,
            received={name: seen.last for name, seen in state.machines.items()},
            bad=state.bad,
            redactions=redactions,
            confirmed=sorted({redaction.origin for redaction in redactions} - set(own_origins(self._store))),
            left=leaving,
        )

    def _remember(self, parcel: _Parcel, rules: LeavingRules) -> None:
        self._state.days, self._state.last = parcel.days, parcel.last
        rules.remember()
        self._report.sent = rules.counts
        self._report.blocked = self._state.blocked

    # ------------------------------------------------------------------------------------------------ what arrives

    def _pull(self, found: Listing) -> None:
        self._report.damaged = list(found.damaged)
        bad: list[str] = []
        now = to_ms(self._opened.machine.now())
        others = {replica: head for replica, head in found.heads.items() if replica != self._state.replica}
        self._report.erased = len(
            take_over(self._opened, [redaction for head in others.values() for redaction in head.redactions])
        )
        files: dict[str, bool] = {}
        try:
            for replica, head in others.items():
                if to_ms(head.ts) > now + _CLOCK_MS:
                    self._report.ahead.append(replica)
                bad += self._take(replica, head, found, files)
        finally:  # before it is noted that they are taken
            make_durable(self._opened.log, files)
        self._state.bad = sorted(bad)
        self._report.damaged += self._state.bad

    def _take(self, replica: str, head: MachineHead, found: Listing, files: dict[str, bool]) -> list[str]:
        """Take the segments of a machine that were not taken yet; return those that are not whole."""
        seen = self._state.machines.setdefault(replica, SeenMachine())
        taken = {name for name in seen.taken if name in head.segments}
        wanted = sorted((number_in(name), name) for name in head.segments if name not in taken)
        names = [name for _, name in wanted if f"{replica}/{name}" in found.names]
        bad = []
        for file, data in self._remote.read([f"{replica}/{name}" for name in names]):
            name = file.partition("/")[2]
            lines = open_lines(self._keyring, replica, name, data, head.segments[name])
            if lines is None:
                bad.append(file)
                continue
            new = take_in(self._opened.log, replica, day_in(name), lines, files)
            if new:
                self._report.arrived[replica] = self._report.arrived.get(replica, 0) + new
            taken.add(name)
        seen.sequence, seen.ts, seen.left = head.sequence, head.ts, head.left
        seen.recipient, seen.received, seen.confirmed = head.recipient, head.received, head.confirmed
        seen.taken, seen.missing = sorted(taken), sorted(set(head.segments) - taken)
        seen.last = head.last if not seen.missing else seen.last
        return bad
