"""Seal the log, and compare it with its seals, while no other program rewrites it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from eventlog.app.progress import READING, report
from eventlog.app.write.erasing.erase_everywhere import day_files, erase_arrived, finish
from eventlog.fast import os
from eventlog.format import timestamps
from eventlog.format.errors import Busy, NotStored
from eventlog.log.event_log import EventLog
from eventlog.log.seals import SealResult, check_seals, last_seal, seal
from eventlog.log.verify import VerifyResult, verify
from eventlog.store import Store
from eventlog.store.files import read
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

_PAUSE_MS = 60_000  # between two seals that nobody asked for
_PATIENCE = 5.0  # seconds for a replay to end


@contextmanager
def settled(store: Store, patience: float | None = None) -> Iterator[None]:
    """Lock the log against all that rewrites it, and erase what came back; raises NotStored, or Busy after a time.

    A redaction that was killed is finished; where it waits for a day that nobody can read, that is left out here, too.
    """
    with locked(store, store.lock("replay"), patience):
        try:
            finish(store)
        except NotStored as error:
            if error.where not in day_files(store) or read(error.where) is not None:
                raise
        erase_arrived(store)
        yield


def seal_log(log: EventLog, *, thorough: bool = False, anew: bool = False) -> SealResult:
    """Seal what the log has grown by, or with `anew` all of it as it is; raises NotStored or Busy."""
    store = log.store
    if not os.path.isdir(store.log):
        return SealResult(None, "")
    with settled(store):
        return seal(store, timestamps.from_ns(log.now()), make_replica(store), thorough=thorough, anew=anew)


def seal_at_end(log: EventLog) -> None:
    """Seal the log at the end of a session, at most once a minute; the next end makes up for a failure."""
    with suppress(NotStored, Busy, OSError):
        newest = last_seal(log.store)[0]
        if not newest or abs(log.now() // 1_000_000 - timestamps.to_ms(newest.ts)) >= _PAUSE_MS:
            seal_log(log)


def verify_sealed(log: EventLog, head: str = "") -> tuple[VerifyResult, SealResult]:
    """Read the whole log, and compare it with its seals and with the one whose head was noted; raises Busy.

    Where it differs, a second look counts: an older copy of a file may have brought back what was erased, or a program
    that rewrites the log is at work.
    """
    with report(READING) as progress:
        found, seals = verify(log, progress), check_seals(log.store, head)
    if seals.damage:
        with suppress(Busy, NotStored), settled(log.store, _PATIENCE):
            seals = check_seals(log.store, head)
    found.damage += seals.damage
    return found, seals
