"""A whole replay into the store: people's edits first, then plan entries, then the files."""

import math
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from eventlog.app.build import foreign_logs
from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.codex_export import ExportResult, export
from eventlog.app.build.publish import PublishResult, publish, publish_outdated
from eventlog.app.build.replay import replay
from eventlog.app.build.workers import Workers
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import READING, report
from eventlog.app.search.database import DatabaseError
from eventlog.app.search.dialogues import Dialogues
from eventlog.app.search.gone_files import note_deleted
from eventlog.app.search.open_index import leave_index, open_index
from eventlog.app.write.hand_edits import record_edits
from eventlog.app.write.project_events import append_project_events
from eventlog.app.write.record_once import in_turn
from eventlog.format.errors import BadRequest, NotStored
from eventlog.format.events import Event, Restored, Withdrawal
from eventlog.format.retractions import Retractions
from eventlog.hooks import background
from eventlog.log.event_log import AppendResult, EventLog
from eventlog.projections.base import Projection
from eventlog.projections.catalog import ALL, installed
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.knowledge import KNOWLEDGE
from eventlog.projections.views.memory import MEMORY
from eventlog.projects.root import in_full
from eventlog.store.files import remove
from eventlog.store.index_lookup import look_up
from eventlog.store.locks import locked
from eventlog.store.replica import copied_from, make_replica
from eventlog.store.shared_files import sweep_tree

_PLANNED = b'"plan_entry"'
_NO_COPIES = ExportResult()
_MAX_INDEXED = 64 << 20  # bytes of the log
_LONGEST_WRITE = 3600  # seconds; whoever writes a file for longer was killed


class RebuildResult(NamedTuple):
    """The replay, and the changes to the store's files and to the knowledge bases."""

    replayed: ReplayResult
    published: PublishResult
    applied: ApplyResult
    edits: Sequence[Event] = ()  # what people had done to files of the store
    copies: ExportResult = _NO_COPIES  # for Codex
    copied_from: str = ""  # the name of the store that this store is a copy of, until a person has heard of it


def replay_store(
    opened: OpenStore,
    *,
    projections: Sequence[Projection] | None = None,
    anew: bool = False,
    check: bool = False,
    indexes: bool = True,
    workers: Workers | None = None,
) -> RebuildResult:
    """Rebuild all that is made from the log; replays of a store take turns. Raises NotStored.

    With `check` nothing is written; the result lists what would be. Without `indexes`, the next search or session's end
    makes those. Without `workers`, this starts its own.
    """
    with report(READING):
        with _one_at_a_time(opened, wanted=not check):
            if not check:
                _begin(opened)
            done = rebuild(opened, projections=projections, anew=anew, check=check, workers=workers)
        done = done._replace(copied_from=copied_from(opened.store, untold=True))
        if check:
            return done
        foreign_logs.remember(opened.store)
        if indexes and Path(opened.store.log).is_dir():
            try:
                leave_indexes(opened, _MAX_INDEXED)
            except ValueError:  # to index more takes more memory than a replay may
                background.start_finalize(opened.store)
    withdrawn, set_aside = done.replayed.index.withdrawn, done.published.set_aside
    if withdrawn.touched or set_aside:  # in most logs nobody withdraws anything
        from eventlog.app.write.set_aside import sweep_copies

        sweep_copies(opened.log, withdrawn, set_aside)
    machine = opened.machine
    return done._replace(copies=export(opened.store, opened.settings, machine.home, machine.environ))


def record_changes(opened: OpenStore) -> None:
    """Record people's edits, and apply what waits; without either, nothing is replayed. Raises NotStored."""
    log = opened.log
    with _one_at_a_time(opened, wanted=True):
        _begin(opened)
        _name(opened)
        may_plan = any(_PLANNED in data for day in log.days() for data in day.contents() if data)
        if may_plan or record_edits(log, opened.settings, dry_run=True)[0]:
            rebuild(opened)


def _begin(opened: OpenStore) -> None:
    """Erase what other machines brought back, and forget which entries are noted; raises NotStored."""
    if os.path.exists(opened.store.redactions):  # noqa: PTH110 - Path.exists raises
        from eventlog.app.write.erasing.erase_everywhere import erase_arrived

        erase_arrived(opened.store)
    remove(opened.store.entries_note)


def leave_indexes(opened: OpenStore, limit: int) -> None:
    """Leave an index of conversations, a current index of words, the dialogues, and the deleted files they name.

    A later reader makes up for a failure. Raises ValueError where more than `limit` bytes of the log had to be read.
    """
    log = opened.log
    with suppress(OSError, DatabaseError, NotStored):
        if not look_up(log.store.cached("conversations.index"), "")[0]:  # an update reads it whole
            log.index.catch_up()
        with closing(leave_index(log.store, limit)) as index:
            Dialogues.leave(log, index, limit, wanted=opened.settings.recall.transcripts)
            note_deleted(log.store, index.projects())


class DeedResult(NamedTuple):
    """The events of a person's decision as they stand in the log, and the rebuild that followed."""

    events: list[Event]
    rebuilt: RebuildResult


def carry_out(opened: OpenStore, decisions: Sequence[Event], *, after: str = "") -> DeedResult:
    """Store what a person decided, as a single deed, and rebuild; raises NotStored.

    What waits to be recorded or applied goes first: it is no part of the deed, and stays where that is taken back.
    """
    settled = replay_store(opened, indexes=False)  # those of the replay below are whole
    stored = [appended.event for appended in record_deed(opened.log, decisions, after=after)]
    done = _in_all(settled, replay_store(opened))
    with suppress(OSError, DatabaseError):  # a session that starts now is given what was restored
        open_index(opened.store).close()
    return DeedResult(stored, done)


def record_deed(log: EventLog, decisions: Sequence[Event], *, after: str = "") -> list[AppendResult]:
    """Append what a single deed decided, all or nothing; several events have a `batch` in common.

    Raises NotStored, or BadRequest where another process has decided the same since this was chosen.
    """
    batch = os.urandom(8).hex() if len(decisions) > 1 else None
    with in_turn(log):
        _refuse_decided(log, decisions)
        return log.put([structs.replace(event, batch=batch) for event in decisions], after=after)


def _refuse_decided(log: EventLog, decisions: Sequence[Event]) -> None:
    """Refuse decisions that are in force already; `undo` would have to take back each of them."""
    chosen = [event for event in decisions if isinstance(event, Withdrawal)]
    made = withdrawals_until(log, open_for_reading(log.store)) if chosen else []
    undone = Retractions(made).events
    decided = {(event.type, Retractions.aim_of(event)) for event in made if event.id not in undone}
    for event in chosen:
        if (event.type, Retractions.aim_of(event)) in decided:
            what = "it is taken back already" if isinstance(event, Restored) else "it is withdrawn already"
            raise BadRequest(what, where=event.target or "", hint="nothing was changed")


def _in_all(first: RebuildResult, then: RebuildResult) -> RebuildResult:
    """Combine the results of two rebuilds; what waits or is left does so after the second."""
    settled, applied = first.applied, then.applied
    befores = {path: before for path, before, _ in reversed([*settled.files, *applied.files])}
    afters = {path: after for path, _, after in [*settled.files, *applied.files]}
    changed = [(path, befores[path], after) for path, after in afters.items() if befores[path] != after]
    now = set(then.published.written), set(then.published.removed)
    return then._replace(
        applied=structs.replace(
            applied,
            applied=[*settled.applied, *applied.applied],
            nothing=[*settled.nothing, *applied.nothing],
            edited=[*settled.edited, *applied.edited],
            files=changed,
            stored=settled.stored + applied.stored,
        ),
        published=structs.replace(
            then.published,
            written=sorted({*first.published.written, *now[0]} - now[1]),
            removed=sorted({*first.published.removed, *now[1]} - now[0]),
            set_aside=[*first.published.set_aside, *then.published.set_aside],
        ),
        edits=[*first.edits, *then.edits],
    )


def replay_elsewhere(
    opened: OpenStore,
    directory: str,
    until: str = "~",
    *,
    projections: Sequence[Projection] = ALL,
    anew: bool = False,
    check: bool = False,
) -> RebuildResult:
    """Write the files as of a time under a directory, knowledge bases too: a pure function of the log.

    Raises BadRequest for a directory of the store: its files are not those of another time, and its log is no place.
    """
    if Path(directory).resolve().is_relative_to(Path(opened.store.root).resolve()):
        raise BadRequest("is in the store", where=directory, hint="name a directory outside of it")
    replayed = replay(opened.log, opened.settings, projections=projections, until=until, anew=anew, writes=not check)
    whole = [view for view in projections if view.name not in replayed.broken]  # the files of one that failed stay
    published = publish(replayed.documents, directory, whole, dry_run=check)
    replayed.save()
    return RebuildResult(replayed, published, ApplyResult())


def _one_at_a_time(opened: OpenStore, *, wanted: bool) -> AbstractContextManager[object]:
    """Lock the store for a replay, so that two do not do the same work; a store without a log has no lock."""
    has_log = Path(opened.store.log).is_dir()
    return locked(opened.store, opened.store.lock("replay")) if wanted and has_log else nullcontext()


def rebuild(
    opened: OpenStore,
    *,
    projections: Sequence[Projection] | None = None,
    anew: bool = False,
    check: bool = False,
    workers: Workers | None = None,
) -> RebuildResult:
    """Update the knowledge directory and the knowledge bases from the log; raises NotStored.

    Whatever that adds to the log (edits, arrivals) is in the files when this returns: a second run writes nothing.
    With `check` nothing is written; the result lists what would be. Else the caller holds the store's `replay.lock`:
    what a killed run left unfinished is removed. Without `projections`, all of them, those of other packages too.
    """
    projections = installed().projections if projections is None else projections
    if not check:
        _sweep(opened)
        _name(opened)
    with nullcontext(workers) if workers else Workers() as helping:
        log, settings = opened.log, opened.settings
        rendered = [view for view in projections if view is not KNOWLEDGE]  # people have those files elsewhere

        def again() -> ReplayResult:
            return replay(log, settings, projections=rendered, anew=anew, writes=not check, workers=helping)

        edits, taken_in = record_edits(log, settings, dry_run=check) if MEMORY in projections else ([], {})
        replayed = again()
        if not check and append_project_events(log, replayed):
            replayed.save()
            replayed = again()
        applied = ApplyResult()
        if KNOWLEDGE in projections and replayed.knowledge.tells_of_files:
            from eventlog.app.build.apply import apply  # most stores plan nothing
            from eventlog.app.serve.context_loader import Loader

            replayed.save()  # applying replays, too
            applied = apply(opened, state=replayed.knowledge, dry_run=check)
            replayed = again() if applied.stored else replayed
            for path, _, _ in () if check else applied.files:
                Loader.drop_copy(opened.store.cached("context"), in_full(path, opened.machine.home))
        published = publish_outdated(
            replayed,
            log.store.knowledge,
            projections,
            taken_in=taken_in,
            dry_run=check,
            before_copy=partial(remove, log.store.cached("swept")),  # the next sweep sees it, should this run be killed
            executor=helping.executor,
        )
        return RebuildResult(replayed, published, applied, edits)


def _name(opened: OpenStore) -> None:
    """Give the store a name of its own, before anything is judged by it; a store without a log stays as it is."""
    if Path(opened.store.log).is_dir():
        with suppress(NotStored):  # whatever needs the name says so; most files do not
            make_replica(opened.store)


def _sweep(opened: OpenStore) -> None:
    """Remove what killed writers left; to rooms other than knowledge others write at this moment."""
    now, store = opened.machine.clock() / 1e9, opened.store
    sweep_tree(store.knowledge, before=math.inf)  # whatever its time: the clock may have been ahead
    for old in (store.cached("checkpoints"), store.cached("ready")):
        if os.path.isdir(old):  # noqa: PTH112 - Path.is_dir raises where one may not look
            from shutil import rmtree

            rmtree(old, ignore_errors=True)
    for room in (store.cache, store.staging, store.log):
        sweep_tree(room, before=now - _LONGEST_WRITE)
