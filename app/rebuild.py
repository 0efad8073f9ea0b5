"""A whole replay into the store: people's edits first, then plan entries, then the files."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from eventlog.app.apply import ApplyResult, apply
from eventlog.app.hand_edits import EditRecord, record_edits
from eventlog.app.publish import PublishResult, publish
from eventlog.app.replay import replay
from eventlog.events import Event
from eventlog.files import sweep_tree
from eventlog.log import EventLog
from eventlog.projections import ALL
from eventlog.projections.base import Projection
from eventlog.projections.engine.replay import Progress, ReplayResult
from eventlog.projections.views.knowledge import KNOWLEDGE, UNRENDERED, Knowledge
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings
from eventlog.store import Store

_LONGEST_WRITE = 3600  # seconds; whoever writes a file for longer was killed


class RebuildResult(NamedTuple):
    """What was replayed, and what became of the store's files and of the knowledge bases."""

    replayed: ReplayResult
    published: PublishResult
    applied: ApplyResult
    edits: Sequence[Event] = ()  # what people had done to files of the store


def rebuild(
    log: EventLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    checkpoints: bool = True,
    check: bool = False,
    progress: Progress = lambda _done, _all: None,
) -> RebuildResult:
    """Bring the knowledge directory and the knowledge bases to what the log says; raises NotStored.

    Whatever that adds to the log (edits, arrivals) is in the files when this returns: a second run writes nothing.
    With `check` nothing is written, and what would be is told. Else the caller holds the store's `replay.lock`: what a
    killed run left unfinished is removed.
    """
    if not check:
        _sweep(log.store)
    rendered = [UNRENDERED if one is KNOWLEDGE else one for one in projections]  # people have those files elsewhere

    def again(progress: Progress = lambda _done, _all: None) -> ReplayResult:
        return replay(log, settings, projections=rendered, checkpoints=checkpoints, save=not check, progress=progress)

    taken = record_edits(log, settings, dry_run=check) if MEMORY in projections else EditRecord([], {})
    replayed = again(progress)
    applied = ApplyResult()
    if KNOWLEDGE in projections:
        applied = apply(log, settings, state=replayed.states[Knowledge], dry_run=check)
        replayed = again() if applied.stored else replayed
    published = publish(replayed.documents, log.store.knowledge, projections, taken_in=taken.files, dry_run=check)
    return RebuildResult(replayed, published, applied, taken.events)


def _sweep(store: Store) -> None:
    """Only replays write knowledge; to the other rooms others write at this moment."""
    now = time.time()
    sweep_tree(store.knowledge, before=now)
    for room in (store.cache, store.staging):
        sweep_tree(room, before=now - _LONGEST_WRITE)
