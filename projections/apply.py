"""Plan entries reach their files: the shell around `ledger`, `drift` and `sections`.

For each file, under its lock and with the log read under it: people's edits become events first, then the file is
replaced, then the log is told what reached it. Killed in between, the next run finds the text it was about to write,
and only tells the log. What cannot be applied is staged with the reason; what is busy stays pending.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from eventlog import ids, sections, timestamps
from eventlog.bases import Place
from eventlog.errors import BadRequest, InvalidEvent, NotStored
from eventlog.events import EntryApplied, KnowledgeEdited, PlanEntry
from eventlog.files import make_dirs, not_stored
from eventlog.log import EventLog
from eventlog.projections import drift
from eventlog.projections.drift import Carried
from eventlog.projections.knowledge import KNOWLEDGE, Knowledge, ledgers, strangers
from eventlog.projections.ledger import Ledger, Waiting, Write
from eventlog.projections.replay import replay
from eventlog.projections.staging import Staged, stage
from eventlog.projections.targets import Busy, Refused, Target, target_of
from eventlog.settings import Settings
from eventlog.store import Store

STRANGER = "is not a knowledge base: entries write nowhere else"
TRIES = 3
_FIRST_WAIT = 1.0  # seconds a busy file is waited for; doubled with every try, and up to half as much again


class Section(NamedTuple):
    """A section of a file, as reports name it."""

    file: str
    heading: str
    level: int
    event: str  # the entry or edit behind what is told about it


class Applied(Struct):
    """What became of the knowledge bases."""

    applied: list[Section] = []
    edited: list[Section] = []  # by people, and now in the log
    staged: list[Staged] = []  # everything that waits for a person, staged just now or before
    pending: list[tuple[str, str]] = []  # files that could not be written, and why
    files: list[tuple[str, bytes, bytes]] = []  # those that changed: path, before, after
    stored: int = 0  # events this run has added to the log

    def absorb(self, other: "Applied") -> None:
        """Take in what became of another file."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def read_knowledge(log: EventLog, settings: Settings, *, save: bool = True) -> Knowledge:
    """The state of all knowledge bases, as the log has it now."""
    found: Knowledge = replay(log, settings, projections=[KNOWLEDGE], save=save).states[Knowledge]
    return found


def apply(
    log: EventLog,
    settings: Settings,
    *,
    state: Knowledge | None = None,
    only: str | None = None,
    dry_run: bool = False,
) -> Applied:
    """Bring every file to what the log says, and what waits into the staging directory.

    Raises NotStored, and BadRequest where `only` names nothing.

    `only` is the name of a base or of a file. `state` spares reading the log to see whether there is work at all.
    A dry run writes nothing, creates nothing, and tells what would happen.
    """
    state = state or read_knowledge(log, settings, save=not dry_run)
    bases = settings.knowledge_bases
    wanted = [name for name, base in bases.items() if only in (None, name, Path(base.path or base.url or "").name)]
    if only and not wanted:
        raise BadRequest(f"there is no knowledge base {only!r}", hint=f"configured are {', '.join(bases)}")
    done = Applied()
    for place, ledger in ledgers(state, bases).items():
        if place.base in wanted:
            done.absorb(_see_to(place, ledger, log, settings, dry_run=dry_run))
    if only is None:
        lost = strangers(state, bases)
        done.staged += [Staged(one, f"{one.key.path or one.key.url!r} {STRANGER}", "") for one in lost]
    stage(log.store, done.staged, state.entries if only is None else [], dry_run=dry_run)
    return done


def _see_to(place: Place, ledger: Ledger, log: EventLog, settings: Settings, *, dry_run: bool) -> Applied:
    """One file, if there is anything to do; what it refuses is staged."""
    try:
        target = target_of(place, settings.knowledge_bases, str(Path.home()))
        if target is None:
            return Applied()
        if not _has_work(place, ledger, target):
            return Applied(staged=[_staged(one, target.shown) for one in ledger.waiting])
        if dry_run:
            return _File(place, target, log, settings, dry_run=True).bring_up_to_date()
        return _in_turn(place, target, log, settings)
    except Refused as error:
        due = [ledger.entries[one.event] for one in drift.pending(ledger, error.where) if one.event in ledger.entries]
        waiting = [*(one.entry for one in ledger.waiting), *due]
        return Applied(staged=[Staged(one, error.what, error.where) for one in waiting])
    except (NotStored, InvalidEvent) as error:  # the latter: an edit too long for a line of the log
        return Applied(pending=[(error.where, error.what)])


def _has_work(place: Place, ledger: Ledger, target: Target) -> bool:
    if drift.pending(ledger, target.shown):
        return True
    data = target.read()
    if data is None:
        return bool(ledger.sections) and any(one.key in ledger.managed_from for one in ledger.sections)
    return bool(drift.edits(ledger, place, target.shown, data))


def _in_turn(place: Place, target: Target, log: EventLog, settings: Settings) -> Applied:
    """Several appliers take turns; one whose turn does not come gives up after three tries."""
    for attempt in range(TRIES):
        wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)  # noqa: S311 - jitter, not a secret
        try:
            with _locked(log.store, target, wait):
                return _File(place, target, log, settings).bring_up_to_date()
        except Busy as error:
            busy = error
            time.sleep(0.05 * 2**attempt * random.random())  # noqa: S311
    raise NotStored(f"{busy.what}, {TRIES} times; the entries stay pending", where=target.shown) from busy


@contextmanager
def _locked(store: Store, target: Target, wait: float) -> Iterator[None]:
    """The lock of the file; raises Busy where it cannot be had in `wait` seconds."""
    from filelock import FileLock, Timeout

    path = f"{store.cache}/locks/{ids.digest(target.identity, 12).hex()}.lock"
    try:
        make_dirs(str(Path(path).parent))
        lock = FileLock(path, timeout=wait, mode=0o600)
        with lock:
            yield
    except Timeout as error:
        raise Busy("is being written by another process", where=target.shown) from error
    except OSError as error:
        raise not_stored(error, path) from error


class _File:
    """One file of a knowledge base, its lock held."""

    def __init__(
        self, place: Place, target: Target, log: EventLog, settings: Settings, *, dry_run: bool = False
    ) -> None:
        self._place = place
        self._target = target
        self._log = log
        self._settings = settings
        self._dry_run = dry_run
        self._done = Applied()

    def bring_up_to_date(self) -> Applied:
        """Edits into the log, writes into the file, their arrival into the log."""
        state = read_knowledge(self._log, self._settings, save=not self._dry_run)
        data = self._target.read()
        ledger = self._take_note(state, data)
        due = drift.pending(ledger, self._target.shown)
        carried = drift.carry_out(data, due, ledger)
        if carried.data != (data or b""):
            self._done.files.append((self._target.shown, data or b"", carried.data))
            if not self._dry_run:
                self._target.write(carried.data)
        self._tell(carried, due, ledger, state)
        refused = [
            Waiting(ledger.entries[one.event], one, why) for one, why in carried.refused if one.event in ledger.entries
        ]
        self._done.staged = [_staged(one, self._target.shown) for one in (*ledger.waiting, *refused)]
        return self._done

    def _take_note(self, state: Knowledge, data: bytes | None) -> Ledger:
        """What people did to the file becomes events; a file that is gone is not an edit, it is made anew."""
        ledger = ledgers(state, self._settings.knowledge_bases)[self._place]
        found = drift.edits(ledger, self._place, self._target.shown, data) if data is not None else []
        if not found:
            return ledger
        kept = self._store_edits(found)
        for event in kept:
            state.fold(event)
        self._done.edited += [
            Section(self._target.shown, stored.key.heading, stored.key.level, stored.id)
            for given, stored in zip(found, kept, strict=True)
            if not given.ts  # what was there before the log is kept, but it is no edit
        ]
        return ledgers(state, self._settings.knowledge_bases)[self._place]

    def _store_edits(self, found: list[KnowledgeEdited]) -> list[KnowledgeEdited]:
        if self._dry_run:
            now = time.time_ns()
            return [replace(one, ts=one.ts or timestamps.from_ns(now), id=ids.new(now // 1_000_000)) for one in found]
        self._done.stored += len(found)
        return [one for one in self._log.append_many(found) if isinstance(one, KnowledgeEdited)]

    def _tell(self, carried: Carried, due: list[Write], ledger: Ledger, state: Knowledge) -> None:
        """The log hears of every section that now says what an entry wanted."""
        news = [one for one in carried.done if one in due or one not in ledger.sections]
        events: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
        said = {one.id: one for one in events}
        shown = self._target.shown
        self._done.applied += [Section(shown, one.title, one.level, one.event) for one in news]
        if news and not self._dry_run:
            self._done.stored += len(news)
            self._log.append_many([_arrival(one, said[one.event], shown) for one in news])


def _arrival(write: Write, of: PlanEntry | KnowledgeEdited, shown: str) -> EntryApplied:
    return EntryApplied(
        conversation_id=of.conversation_id,
        project=of.project,
        agent=of.agent,
        target=write.event,
        path=shown,
        heading=write.title,
        level=write.level,
        digest=sections.digest(write.body),
    )


def _staged(waiting: Waiting, shown: str) -> Staged:
    return Staged(waiting.entry, waiting.reason, shown)
