"""Apply plan entries to the files of knowledge bases.

Holds the lock of each file and reads the log under it, in rounds, until a round finds nothing to do. Entries that
cannot be applied go to `staging/` with the reason; entries for a busy file stay pending.

Order of writes: texts that a change removes go to the log first, then the intent file, then the file, then the events
that say what has reached it. A crash at any point leaves either a file the next round finds unchanged, or an intent
file that says what the interrupted round still had to append.
"""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import msgspec

from eventlog.app.build.apply_result import ApplyResult, SectionChange
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry, stage
from eventlog.app.build.storage import BaseStorage, Refused, StorageBusy, storage_of
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import track
from eventlog.format import ids
from eventlog.format.codec import json_of
from eventlog.format.errors import BadRequest, Busy, InvalidEvent, NotStored
from eventlog.format.events import AnyEvent, EntryApplied, Event, KnowledgeEdited, PlanEntry
from eventlog.format.retractions import Retractions
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.bases import drift, sections
from eventlog.projections.bases.apply_entries import AppliedSection, WriteResult, apply_entries
from eventlog.projections.bases.base_file import BaseFile, Bases
from eventlog.projections.bases.ledger import Ledger, key_of, ledgers
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.sections import Page, SectionId, Spot, page_of
from eventlog.projections.current.conversations import Knowledge
from eventlog.store import Store
from eventlog.store.files import not_stored, read, replace_file
from eventlog.store.locks import locked, usable
from eventlog.store.replica import make_replica


class _ManagedFile:
    """A file of a knowledge base and its log; the caller holds the file's lock, unless this is a dry run.

    `result` collects the changes of all rounds.
    """

    def __init__(self, place: BaseFile, target: BaseStorage, opened: OpenStore, *, dry_run: bool = False) -> None:
        self._place = place
        self._target = target
        self._log = opened.log
        self._bases = opened.settings.knowledge_bases
        self._replica = opened.replica
        self._dry_run = dry_run
        self._intent = _intent_of(opened.store, target)
        self._spots_file = Path(usable(opened.store, opened.store.cached("locks", f"{self._intent.stem}.spots")))
        self._is_finished = False
        self._dry_text: bytes | None = None  # the file as a dry run would have written it
        self._newest = ""
        self.result = ApplyResult()

    def ledger_of(self, state: Knowledge) -> Ledger | None:
        """Build the ledger of this file from the events of all; None where none of them is about it."""
        return ledgers(state, self._bases, self._replica).get(self._place)

    def settle(self, ledger: Ledger, state: Knowledge) -> None:
        """Repeat rounds until a round finds nothing; raises NotStored (also where they do not end) or Refused."""
        # Rounds end by themselves: a recorded edit is not found again in the same bytes, and both a withdrawal and an
        # entry change a section at most once. The bound is for a file that another program writes in every round.
        for _ in range(2 * (len(ledger.managed) + len(ledger.pending)) + 5):
            if not self.round(ledger, state):
                self._store_spots()
                return
            ledger = self.ledger_of(state) or ledger
        raise NotStored("is another in every round; what it says is in the log", where=self._target.shown)

    def round(self, ledger: Ledger, state: Knowledge) -> bool:
        """Record user edits, else apply what is due; fold it into the state, and return whether anything changed."""
        self._newest = max(self._newest, ledger.last_observed_at)
        data = self._target.read() if self._dry_text is None else self._dry_text
        if data is not None:
            page = page_of(data)
            if self._finish_interrupted(ledger, state, page) or self._record_edits(ledger, state, page):
                return True
        elif not ledger.pending and not any(ledger.is_present(key) for key in ledger.managed):
            data = b""  # no applied entry has left a section: an absent file is not created for nothing
        return self._apply_due(ledger, state, data)

    def _finish_interrupted(self, ledger: Ledger, state: Knowledge, page: Page) -> bool:
        """Append the events of entries that an interrupted run had applied to the file and not to the log.

        The log may have lost the entries since: the texts are theirs still.
        """
        intended = [] if self._is_finished else json_of(read(str(self._intent)), list[EntryApplied])
        self._is_finished = True
        if not intended:
            return False
        stored = {(event.target, key_of(event)) for event in (*ledger.record.applied, *ledger.record.orphans)}
        applied = [event for event in _on_page(intended, page) if (event.target, key_of(event)) not in stored]
        return bool(self._append(applied, state))

    def _record_edits(self, ledger: Ledger, state: Knowledge, page: Page) -> bool:
        """Append people's edits and copied texts; an absent file is no edit, it is created again."""
        shown = self._target.shown
        known = json_of(read(str(self._spots_file)), list[tuple[SectionId, Spot]])  # from when all was settled
        appended = self._append(drift.find_edits(ledger, self._place, shown, page, dict(known or ())), state)
        for event in appended:
            if isinstance(event, KnowledgeEdited):
                at = event.key
                self.result.edited.append(SectionChange(shown, at.heading, at.level, event.id, at.under or ()))
        return bool(appended)

    def _apply_due(self, ledger: Ledger, state: Knowledge, data: bytes | None) -> bool:
        """Apply what is due; append removed texts before the file changes, the applied entries afterwards."""
        shown, last_word = self._target.shown, self._bases[self._place.base].on_people_text == "replace"
        written = apply_entries(ledger, self._place, shown, data, replace=last_word)
        before, changes = data or b"", written.data != (data or b"")
        self._append(written.texts, state)
        applied = [_event_of(section, ledger.record.by_id[section.event], shown) for section in written.sections]
        if changes:
            self._write(before, written.data, applied)
        self._append(applied, state)
        if not self._dry_run:
            self._intent.unlink(missing_ok=True)
        self._report(written, ledger, Retractions(state.retractions))
        return changes or bool(applied)

    def _write(self, before: bytes, after: bytes, applied: list[EntryApplied]) -> None:
        if self._dry_run:
            self._dry_text = after
        else:
            replace_file(str(self._intent), msgspec.json.encode(applied))
            self._target.write(after)
        first = self.result.files[0][1] if self.result.files else before
        self.result.files = [(self._target.shown, first, after)] if after != first else []

    def _append(self, events: Sequence[Event], state: Knowledge) -> list[Event]:
        """Append events after all that the log has of this file, and fold them as stored; a dry run only dates them."""
        if self._dry_run:
            now = self._log.moment(self._newest)
            stored = [now.stamp(event, position) for position, event in enumerate(events)]
        else:
            # `after`: another machine's clock may run ahead, and an edit must not be dated before what it edits
            put = self._log.put(events, after=self._newest) if events else []
            self.result.stored += sum(appended.new for appended in put)
            stored = [appended.event for appended in put]
        for event in stored:
            state.fold(cast("AnyEvent", event))
            self._newest = max(self._newest, counts_at(event))
        return stored

    def _store_spots(self) -> None:
        """Store the spots of the sections, for the undo of a removal by hand, which also works without them."""
        data = None if self._dry_run else self._target.read()
        if data is not None:
            page = page_of(data)
            with suppress(OSError, NotStored):
                spots = [(section.key, page.spot(section)) for section in page.sections]
                replace_file(str(self._spots_file), msgspec.json.encode(spots))

    def _report(self, written: WriteResult, ledger: Ledger, withdrawn: Retractions) -> None:
        shown = self._target.shown
        for applied in written.sections:
            if not applied.cascaded:
                at = applied.at
                before = ledger.record.by_id.get(applied.withdraws) if applied.withdraws else None
                withdrawal = withdrawn.withdrawal_of(before) if before else None  # to undo that gives the text back
                event = withdrawal.id if withdrawal else applied.event
                change = SectionChange(shown, at.heading, at.level, event, at.under or (), applied.replaced)
                (self.result.nothing if applied.no_op else self.result.applied).append(change)
        self.result.staged = [StagedEntry(held.entry, held.reason, shown) for held in written.waiting]


def _intent_of(store: Store, target: BaseStorage) -> Path:
    """Name the file that holds the events of a run between its write and its append.

    It is not in the cache, which may be deleted at any time: without it the text would be taken for a person's. A copy
    of the home finds it as well, for `shown` does not name that.
    """
    return Path(store.root, "applying", f"{ids.digest(target.shown, 12).hex()}.json")


def _event_of(applied: AppliedSection, of: PlanEntry | KnowledgeEdited, shown: str) -> EntryApplied:
    return EntryApplied(
        conversation_id=of.conversation_id,
        project=of.project,
        agent=of.agent,
        target=applied.event,
        path=shown,
        heading=applied.at.heading,
        level=applied.at.level,
        digest=sections.digest(applied.body),
        under=applied.at.under,
        content=None if applied.body == applied.meant else applied.body,
        previous=applied.spot.previous if applied.spot else None,
        blank=applied.spot.blank if applied.spot else 0,
    )


UNMATCHED = "is not a knowledge base: entries write nowhere else"
TRIES = 3
_FIRST_WAIT = 1.0  # seconds to wait for a busy file; doubled with every try, plus up to half as much of jitter


def apply(
    opened: OpenStore,
    *,
    state: Knowledge | None = None,
    only: str | None = None,
    dry_run: bool = False,
) -> ApplyResult:
    """Apply pending entries to every base, and stage entries that wait; raises NotStored or BadRequest.

    `only` names a base or a file. `state` spares reading the log to see whether any work is due. A dry run writes and
    creates nothing, and returns what would happen.
    """
    state = state or replay(opened.log, opened.settings, projections=[]).knowledge
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
    for place, ledger in track(ledgers(state, bases, opened.replica).items(), "applying to files"):
        if place.base in wanted:
            result.absorb(_apply_file(place, ledger, state, opened, dry_run=dry_run))
    if only is None:
        lost = _unmatched_entries(state, bases)
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
        if dry_run or not (ledger.pending or _intent_of(opened.store, target).exists()):
            preview = _ManagedFile(place, target, opened, dry_run=True)
            if dry_run:
                result = preview.result
                preview.settle(ledger, state)
                return result
            if not preview.round(ledger, state):
                return preview.result
        file = _ManagedFile(place, target, opened)
        result = file.result
        _settle_locked(file, target, opened)
    except Refused as error:
        waiting = [*(held.entry for held in ledger.held), *ledger.pending]
        result.staged = [StagedEntry(entry, error.what, error.where) for entry in waiting]
    except (NotStored, InvalidEvent) as error:  # the latter: a text too long for a line of the log
        result.pending.append((error.where, error.what))
    return result


def _settle_locked(file: _ManagedFile, target: BaseStorage, opened: OpenStore) -> None:
    """Settle a file under its lock; raises NotStored after three tries."""
    for attempt in range(TRIES):
        wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)  # noqa: S311 - jitter, not a secret
        try:
            with _locked(opened.store, target, wait):
                state = replay(opened.log, opened.settings, projections=[]).knowledge
                if ledger := file.ledger_of(state):  # its entries may be erased by now, or their day out of reach
                    file.settle(ledger, state)
                return
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


def _on_page(intended: Iterable[EntryApplied], page: Page) -> Iterator[EntryApplied]:
    """Choose the events whose texts are on the page: the file was written before the run broke off."""
    for event in intended:
        bodies = [sections.digest(page.text(section)) for section in page.sections if section.key == key_of(event)]
        if event.digest in bodies or not (event.digest or bodies):
            yield event


def _unmatched_entries(state: Knowledge, bases: Bases) -> list[PlanEntry]:
    """List the entries of no knowledge base that are neither applied nor discarded nor withdrawn."""
    hides = Retractions(state.retractions).hides
    done = {event.target for event in state.applied}
    done |= {event.target for event in state.resolved if event.choice == "discard" and not hides(event)}
    planned = (entry for entry in state.entries if entry.id not in done and change_of(entry)[0] != "no-op")
    return sorted((it for it in planned if not hides(it) and BaseFile.of(it.key, it.project, bases) is None), key=order)
