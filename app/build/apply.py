"""Apply plan entries to the files of knowledge bases.

Holds the lock of each file, reads the log under it, and leaves the rounds to `ManagedFile`. Entries that cannot be
applied go to `staging/` with the reason; entries for a busy file stay pending.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.managed_file import ManagedFile, intent_of
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry, stage
from eventlog.app.build.storage import BaseStorage, Refused, StorageBusy, storage_of
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress, track
from eventlog.format import ids
from eventlog.format.errors import BadRequest, Busy, InvalidEvent, NotStored
from eventlog.log.event_log import EventLog
from eventlog.projections.bases.base_file import BaseFile
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.ledgers import ledgers, unmatched_entries
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import not_stored
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

UNMATCHED = "is not a knowledge base: entries write nowhere else"
TRIES = 3
_FIRST_WAIT = 1.0  # seconds to wait for a busy file; doubled with every try, plus up to half as much of jitter


def read_knowledge(log: EventLog, settings: Settings) -> Knowledge:
    """Fold the events of all knowledge bases, as the log has them now."""
    return replay(log, settings, projections=[], save=False).knowledge


def apply(
    opened: OpenStore,
    *,
    state: Knowledge | None = None,
    only: str | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _done, _all: None,
) -> ApplyResult:
    """Apply pending entries to every base, and stage entries that wait; raises NotStored or BadRequest.

    `only` names a base or a file. `state` spares reading the log to see whether any work is due. A dry run writes and
    creates nothing, and returns what would happen.
    """
    state = state or read_knowledge(opened.log, opened.settings)
    if state.tells_of_files and not dry_run:
        try:
            make_replica(opened.store)  # the ledgers tell this machine's files from those of others by it
        except NotStored as error:
            return ApplyResult(pending=[(error.where, error.what)])
    bases = opened.settings.knowledge_bases
    wanted = [name for name, base in bases.items() if only in (None, name, Path(base.path or base.url or "").name)]
    if only and not wanted:
        raise BadRequest(f"there is no knowledge base {only!r}", hint=f"configured are {', '.join(bases)}")
    result = ApplyResult()
    for place, ledger in track(ledgers(state, bases, opened.replica).items(), progress):
        if place.base in wanted:
            result.absorb(_apply_file(place, ledger, state, opened, dry_run=dry_run))
    if only is None:
        lost = unmatched_entries(state, bases)
        result.staged += [StagedEntry(entry, f"{entry.key.path or entry.key.url!r} {UNMATCHED}", "") for entry in lost]
    stage(opened.store, result.staged, state.entries if only is None else [], dry_run=dry_run)
    return result


def _apply_file(place: BaseFile, ledger: Ledger, state: Knowledge, opened: OpenStore, *, dry_run: bool) -> ApplyResult:
    """Apply what is due to a file, if anything is; stage its entries where it must not be written."""
    result = ApplyResult()
    try:
        target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
        if target is None:
            return result
        # without a pending entry, a dry round without the lock tells whether anything is due: mostly nothing is
        if dry_run or not (ledger.pending or intent_of(opened.store, target).exists()):
            preview = ManagedFile(place, target, opened, dry_run=True)
            if dry_run:
                result = preview.result
                preview.settle(ledger, state)
                return result
            if not preview.round(ledger, state):
                return preview.result
        file = ManagedFile(place, target, opened)
        result = file.result
        _settle_locked(file, target, opened)
    except Refused as error:
        waiting = [*(held.entry for held in ledger.held), *ledger.pending]
        result.staged = [StagedEntry(entry, error.what, error.where) for entry in waiting]
    except (NotStored, InvalidEvent) as error:  # the latter: a text too long for a line of the log
        result.pending.append((error.where, error.what))
    return result


def _settle_locked(file: ManagedFile, target: BaseStorage, opened: OpenStore) -> None:
    """Settle a file under its lock; raises NotStored after three tries."""
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
    """Acquire the lock of a file; raises StorageBusy after `wait` seconds."""
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
