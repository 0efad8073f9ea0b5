"""Plan entries reach their files: the shell around `ledger`, `drift` and `sections`.

For each file, under its lock and with the log read under it: people's edits, and what a change is about to remove,
become events first, then the file is replaced, then the log is told what reached it. What is about to be told is kept
beside the lock: killed in between, the next run tells it. What cannot be applied is staged with the reason; what is
busy stays pending.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventlog.app.build.managed_file import ApplyResult, ManagedFile, intent_of
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry, stage
from eventlog.app.build.storage import BaseStorage, Refused, StorageBusy, storage_of
from eventlog.app.locks import locked
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress, told
from eventlog.format import ids
from eventlog.format.errors import BadRequest, Busy, InvalidEvent, NotStored
from eventlog.log.event_log import EventLog
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.ledgers import ledgers, unmatched_entries
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import not_stored
from eventlog.store.replica import make_replica

UNMATCHED = "is not a knowledge base: entries write nowhere else"
TRIES = 3
_FIRST_WAIT = 1.0  # seconds a busy file is waited for; doubled with every try, and up to half as much again


def read_knowledge(log: EventLog, settings: Settings) -> Knowledge:
    """Read the state of all knowledge bases, as the log has it now."""
    return replay(log, settings, projections=[], save=False).knowledge


def apply(
    opened: OpenStore,
    *,
    state: Knowledge | None = None,
    only: str | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _done, _all: None,
) -> ApplyResult:
    """Bring every file to what the log says, and what waits into the staging directory.

    Raises NotStored, and BadRequest where `only` names nothing.

    `only` is the name of a base or of a file. `state` spares reading the log to see whether there is work at all.
    A dry run writes nothing, creates nothing, and tells what would happen.
    """
    state = state or read_knowledge(opened.log, opened.settings)
    if state.tells_of_files and not dry_run:
        try:
            make_replica(opened.store)  # by it, all below tells this machine's files from those of others
        except NotStored as error:
            return ApplyResult(pending=[(error.where, error.what)])
    bases = opened.settings.knowledge_bases
    wanted = [name for name, base in bases.items() if only in (None, name, Path(base.path or base.url or "").name)]
    if only and not wanted:
        raise BadRequest(f"there is no knowledge base {only!r}", hint=f"configured are {', '.join(bases)}")
    done = ApplyResult()
    for place, ledger in told(ledgers(state, bases, opened.replica).items(), progress):
        if place.base in wanted:
            done.absorb(_apply_file(place, ledger, state, opened, dry_run=dry_run))
    if only is None:
        lost = unmatched_entries(state, bases)
        done.staged += [StagedEntry(entry, f"{entry.key.path or entry.key.url!r} {UNMATCHED}", "") for entry in lost]
    stage(opened.store, done.staged, state.entries if only is None else [], dry_run=dry_run)
    return done


def _apply_file(place: BaseFile, ledger: Ledger, state: Knowledge, opened: OpenStore, *, dry_run: bool) -> ApplyResult:
    """Bring one file to what the log says, if there is anything to do; stage what it refuses."""
    done = ApplyResult()
    try:
        target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
        if target is None:
            return done
        if dry_run or not (ledger.pending or intent_of(opened.store, target).exists()):
            looked = ManagedFile(place, target, opened, dry_run=True)
            if dry_run:
                done = looked.result
                looked.settle(ledger, state)
                return done
            if not looked.round(ledger, state):
                return looked.result
        file = ManagedFile(place, target, opened)
        done = file.result
        _settle_in_turn(file, target, opened)
    except Refused as error:
        waiting = [*(held.entry for held in ledger.held), *ledger.pending]
        done.staged = [StagedEntry(entry, error.what, error.where) for entry in waiting]
    except (NotStored, InvalidEvent) as error:  # the latter: a text too long for a line of the log
        done.pending.append((error.where, error.what))
    return done


def _settle_in_turn(file: ManagedFile, target: BaseStorage, opened: OpenStore) -> None:
    """Wait for the turn of this applier, and give up after three tries; raises NotStored."""
    for attempt in range(TRIES):
        wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)  # noqa: S311 - jitter, not a secret
        try:
            with _locked(opened.store, target, wait):
                state = read_knowledge(opened.log, opened.settings)
                return file.settle(file.ledger_of(state), state)
        except StorageBusy as error:
            busy = error
            time.sleep(0.05 * 2**attempt * random.random())  # noqa: S311
    raise NotStored(f"{busy.what}, {TRIES} times; the entries stay pending", where=target.shown) from busy


@contextmanager
def _locked(store: Store, target: BaseStorage, wait: float) -> Iterator[None]:
    """Hold the lock of the file; raises StorageBusy where it cannot be had in `wait` seconds."""
    path = store.cached("locks", f"{ids.digest(target.identity, 12).hex()}.lock")
    try:
        held = locked(store, path, wait)
    except Busy as error:
        raise StorageBusy("is being written by another process", where=target.shown) from error
    with held:
        try:
            yield
        except OSError as error:
            raise not_stored(error, path) from error
