"""Plan entries reach their files: the shell around `ledger`, `drift` and `sections`.

For each file, under its lock and with the log read under it: people's edits, and what a change is about to remove,
become events first, then the file is replaced, then the log is told what reached it. What is about to be told is kept
beside the lock: killed in between, the next run tells it. What cannot be applied is staged with the reason; what is
busy stays pending.
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from eventlog import ids, timestamps
from eventlog.app.open_store import OpenStore
from eventlog.app.replay import replay
from eventlog.app.staging import StagedEntry, stage
from eventlog.app.storage import BaseStorage, Refused, StorageBusy, storage_of
from eventlog.errors import BadRequest, InvalidEvent, NotStored
from eventlog.events import AnyEvent, EntryApplied, Event, KnowledgeEdited, PlanEntry
from eventlog.files import make_dirs, not_stored, replace_file
from eventlog.log import EventLog
from eventlog.projections.bases import drift, sections
from eventlog.projections.bases.carry import Arrival, WriteResult, carry
from eventlog.projections.bases.ledger import HeldEntry, Ledger, key_of
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.bases.sections import Page, SectionId
from eventlog.projections.views.knowledge import UNRENDERED, Knowledge, ledgers, unmatched_entries
from eventlog.settings.schema import Settings
from eventlog.store import Store

UNMATCHED = "is not a knowledge base: entries write nowhere else"
TRIES = 3
_FIRST_WAIT = 1.0  # seconds a busy file is waited for; doubled with every try, and up to half as much again


class SectionChange(NamedTuple):
    """A section of a file, as reports name it."""

    file: str
    heading: str
    level: int
    event: str  # the entry or edit behind what is told about it
    under: tuple[str, ...] = ()  # headings above it
    replaced: tuple[str, ...] = ()  # lines it had before and has no more

    @property
    def section(self) -> str:
        """`~/.config/agents/USER.md ## Interests`."""
        return f"{self.file} {'#' * self.level} {self.heading}"


class ApplyResult(Struct):
    """The changes to the knowledge bases, and the entries and files that wait."""

    applied: list[SectionChange] = []
    nothing: list[SectionChange] = []  # deletions of what was not there
    edited: list[SectionChange] = []  # by people, and now in the log
    staged: list[StagedEntry] = []  # everything that waits for a person, staged just now or before
    pending: list[tuple[str, str]] = []  # files that could not be written, and why
    files: list[tuple[str, bytes, bytes]] = []  # those that changed: path, before, after
    stored: int = 0  # events this run has added to the log

    def absorb(self, other: "ApplyResult") -> None:
        """Take in what became of another file."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def read_knowledge(log: EventLog, settings: Settings, *, save: bool = True) -> Knowledge:
    """Read the state of all knowledge bases, as the log has it now."""
    found: Knowledge = replay(log, settings, projections=[UNRENDERED], save=save).states[Knowledge]
    return found


def apply(
    opened: OpenStore,
    *,
    state: Knowledge | None = None,
    only: str | None = None,
    dry_run: bool = False,
) -> ApplyResult:
    """Bring every file to what the log says, and what waits into the staging directory.

    Raises NotStored, and BadRequest where `only` names nothing.

    `only` is the name of a base or of a file. `state` spares reading the log to see whether there is work at all.
    A dry run writes nothing, creates nothing, and tells what would happen.
    """
    state = state or read_knowledge(opened.log, opened.settings, save=not dry_run)
    bases = opened.settings.knowledge_bases
    wanted = [name for name, base in bases.items() if only in (None, name, Path(base.path or base.url or "").name)]
    if only and not wanted:
        raise BadRequest(f"there is no knowledge base {only!r}", hint=f"configured are {', '.join(bases)}")
    done = ApplyResult()
    for place, ledger in ledgers(state, bases, opened.replica).items():
        if place.base in wanted:
            done.absorb(_apply_file(place, ledger, state, opened, dry_run=dry_run))
    if only is None:
        lost = unmatched_entries(state, bases)
        done.staged += [StagedEntry(entry, f"{entry.key.path or entry.key.url!r} {UNMATCHED}", "") for entry in lost]
    stage(opened.store, done.staged, state.entries if only is None else [], dry_run=dry_run)
    return done


def _apply_file(place: BaseFile, ledger: Ledger, state: Knowledge, opened: OpenStore, *, dry_run: bool) -> ApplyResult:
    """Bring one file to what the log says, if there is anything to do; stage what it refuses."""
    try:
        target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
        if target is None:
            return ApplyResult()
        if dry_run or not (ledger.pending or _intent(opened.store, target).exists()):
            file = _ManagedFile(place, target, opened, dry_run=True)
            seen = file.bring_up_to_date(ledger, state)
            if dry_run or not file.has_work:
                return seen
        return _in_turn(place, target, opened)
    except Refused as error:
        waiting = [*(held.entry for held in ledger.held), *ledger.pending]
        return ApplyResult(staged=[StagedEntry(entry, error.what, error.where) for entry in waiting])
    except (NotStored, InvalidEvent) as error:  # the latter: a text too long for a line of the log
        return ApplyResult(pending=[(error.where, error.what)])


def _in_turn(place: BaseFile, target: BaseStorage, opened: OpenStore) -> ApplyResult:
    """Wait for the turn of this applier, and give up after three tries; raises NotStored."""
    for attempt in range(TRIES):
        wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)  # noqa: S311 - jitter, not a secret
        try:
            with _locked(opened.store, target, wait):
                file = _ManagedFile(place, target, opened)
                state = file.read_log()
                return file.bring_up_to_date(file.ledger_of(state), state)
        except StorageBusy as error:
            busy = error
            time.sleep(0.05 * 2**attempt * random.random())  # noqa: S311
    raise NotStored(f"{busy.what}, {TRIES} times; the entries stay pending", where=target.shown) from busy


@contextmanager
def _locked(store: Store, target: BaseStorage, wait: float) -> Iterator[None]:
    """Hold the lock of the file; raises StorageBusy where it cannot be had in `wait` seconds."""
    from filelock import FileLock, Timeout

    path = store.cached("locks", f"{ids.digest(target.identity, 12).hex()}.lock")
    try:
        make_dirs(str(Path(path).parent))
        lock = FileLock(path, timeout=wait, mode=0o600)
        with lock:
            yield
    except Timeout as error:
        raise StorageBusy("is being written by another process", where=target.shown) from error
    except OSError as error:
        raise not_stored(error, path) from error


def _intent(store: Store, target: BaseStorage) -> Path:
    """Name the file in which a run keeps what it is about to tell."""
    return Path(store.cached("locks", f"{ids.digest(target.identity, 12).hex()}.arrivals"))


class _ManagedFile:
    """One file of a knowledge base, its lock held unless this is a dry run."""

    def __init__(self, place: BaseFile, target: BaseStorage, opened: OpenStore, *, dry_run: bool = False) -> None:
        self._place = place
        self._target = target
        self._opened = opened
        self._log = opened.log
        self._clock = opened.machine.clock
        self._settings = opened.settings
        self._dry_run = dry_run
        self._intent = _intent(opened.store, target)
        self._done = ApplyResult()
        self.has_work = False

    def read_log(self) -> Knowledge:
        """Read the state of all knowledge bases, under the lock."""
        return read_knowledge(self._log, self._settings)

    def ledger_of(self, state: Knowledge) -> Ledger:
        """Build what the log says of this file."""
        return ledgers(state, self._settings.knowledge_bases, self._opened.replica)[self._place]

    def bring_up_to_date(self, ledger: Ledger, state: Knowledge) -> ApplyResult:
        """Record edits, write entries into the file, and record their arrival."""
        data = self._target.read()
        if data is not None:
            ledger = self._take_note(self._resumed(ledger, state, Page(data)), state, Page(data))
        elif not any(_is_there(ledger, key) for key in ledger.managed) and not ledger.pending:
            data = b""  # nothing of ours was ever in it
        base = self._settings.knowledge_bases[self._place.base]
        carried = carry(ledger, self._place, self._target.shown, data, replace=base.on_people_text == "replace")
        told = self._record(carried.texts, state)
        arrivals = [_arrival(arrival, state, self._target.shown) for arrival in carried.arrivals]
        if carried.data != (data or b""):
            self._done.files.append((self._target.shown, data or b"", carried.data))
            self._write(carried, arrivals)
        told += self._record(arrivals, state)
        if not self._dry_run:
            if told:  # a person's section may stand now where a lost one stood: an edit that only the new file shows
                self._take_note(self.ledger_of(state), state, Page(carried.data))
            self._intent.unlink(missing_ok=True)
        self.has_work = bool(self._done.edited or arrivals or self._done.files)
        self._report(carried)
        return self._done

    def _resumed(self, ledger: Ledger, state: Knowledge, page: Page) -> Ledger:
        """Tell what a run was about to tell when it broke off after its write."""
        try:
            meant = msgspec.json.decode(self._intent.read_bytes(), type=list[EntryApplied])
        except (OSError, msgspec.MsgspecError):
            return ledger
        known = {(applied.target, key_of(applied)) for applied in ledger.record.applied}
        events = [event for event in drift.arrived(meant, page) if (event.target, key_of(event)) not in known]
        self._record(events, state)
        return self.ledger_of(state)

    def _take_note(self, ledger: Ledger, state: Knowledge, page: Page) -> Ledger:
        """Record what people did to the file; a file that is gone is not an edit, it is made anew."""
        found = drift.edits(ledger, self._place, self._target.shown, page)
        for event in self._record(found, state):
            assert isinstance(event, KnowledgeEdited)
            key = event.key
            self._done.edited.append(
                SectionChange(self._target.shown, key.heading, key.level, event.id, key.under or ())
            )
        return self.ledger_of(state) if found else ledger

    def _write(self, carried: WriteResult, arrivals: list[EntryApplied]) -> None:
        if not self._dry_run:
            replace_file(str(self._intent), msgspec.json.encode(arrivals))
            self._target.write(carried.data)

    def _record(self, events: Sequence[Event], state: Knowledge) -> list[Event]:
        """Append the events, let the state know them, and return them as they stand in the log."""
        recorded = self._dated(events) if self._dry_run else self._stored(events)
        for event in recorded:
            state.fold(cast("AnyEvent", event))
        return recorded

    def _stored(self, events: Sequence[Event]) -> list[Event]:
        put = self._log.put(events) if events else []
        self._done.stored += sum(appended.new for appended in put)
        return [appended.event for appended in put]

    def _dated(self, events: Sequence[Event]) -> list[Event]:
        """Make the events as they would stand in the log if this were no dry run."""
        now = self._clock()
        return [replace(event, ts=timestamps.from_ns(now), id=ids.new(now // 1_000_000)) for event in events]

    def _report(self, carried: WriteResult) -> None:
        shown = self._target.shown
        for arrival in carried.arrivals:
            if not arrival.follows:
                told = SectionChange(
                    shown, arrival.at.heading, arrival.at.level, arrival.event, arrival.at.under or (), arrival.gone
                )
                (self._done.nothing if arrival.idle else self._done.applied).append(told)
        self._done.staged = [_staged(held, shown) for held in carried.waiting]


def _is_there(ledger: Ledger, key: SectionId) -> bool:
    now = ledger.histories[key].now if key in ledger.histories else None
    return now is not None and now.body is not None


def _arrival(arrival: Arrival, state: Knowledge, shown: str) -> EntryApplied:
    events: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
    of = next(event for event in events if event.id == arrival.event)
    return EntryApplied(
        conversation_id=of.conversation_id,
        project=of.project,
        agent=of.agent,
        target=arrival.event,
        path=shown,
        heading=arrival.at.heading,
        level=arrival.at.level,
        digest=sections.digest(arrival.body),
        under=arrival.at.under,
        content=None if arrival.body == arrival.meant else arrival.body,
    )


def _staged(waiting: HeldEntry, shown: str) -> StagedEntry:
    return StagedEntry(waiting.entry, waiting.reason, shown)
