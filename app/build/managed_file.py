"""Bring one file of a knowledge base to rest: rounds of looking and writing, until one finds nothing to do."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec

from eventlog.app.build.apply_result import ApplyResult, SectionChange
from eventlog.app.build.staging import StagedEntry
from eventlog.app.build.storage import BaseStorage
from eventlog.app.locks import usable
from eventlog.app.open_store import OpenStore
from eventlog.format import ids
from eventlog.format.errors import NotStored
from eventlog.format.events import AnyEvent, EntryApplied, Event, KnowledgeEdited, PlanEntry, counts_at
from eventlog.projections.bases import drift, sections
from eventlog.projections.bases.carry import Arrival, WriteResult, carry
from eventlog.projections.bases.ledger import Ledger, key_of
from eventlog.projections.bases.ledgers import ledgers
from eventlog.projections.bases.names import BaseFile
from eventlog.projections.bases.sections import Page, SectionId
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.store import Store
from eventlog.store.files import replace_file


class ManagedFile:
    """A file and the log, its lock held unless this is a dry run; `done` tells what has become of both so far."""

    def __init__(self, place: BaseFile, target: BaseStorage, opened: OpenStore, *, dry_run: bool = False) -> None:
        self._place = place
        self._target = target
        self._log = opened.log
        self._bases = opened.settings.knowledge_bases
        self._replica = opened.replica
        self._dry_run = dry_run
        self._intent = intent_of(opened.store, target)
        self._would_say: bytes | None = None  # the file, where a dry run would have written it
        self._newest = ""
        self.done = ApplyResult()

    def ledger_of(self, state: Knowledge) -> Ledger:
        """Build what the log says of this file."""
        return ledgers(state, self._bases, self._replica)[self._place]

    def settle(self, ledger: Ledger, state: Knowledge) -> None:
        """Repeat rounds until one finds nothing, which is the round another run would begin with.

        They come to an end: edits that were recorded are not found again in the same bytes, what was taken back is
        given back once, and an entry arrives once. Raises NotStored (also where they do not end) or Refused.
        """
        for _ in range(2 * (len(ledger.managed) + len(ledger.pending)) + 5):
            if not self.round(ledger, state):
                return
            ledger = self.ledger_of(state)
        raise NotStored("is another in every round; what it says is in the log", where=self._target.shown)

    def round(self, ledger: Ledger, state: Knowledge) -> bool:
        """Tell the log what the file says, else bring the file to what the log says; tell whether there was anything.

        The events are folded into the state.
        """
        self._newest = max(self._newest, ledger.last_told)
        data = self._target.read() if self._would_say is None else self._would_say
        if data is not None and (self._resume(ledger, state, Page(data)) or self._take_note(ledger, state, Page(data))):
            return True
        if data is None and not ledger.pending and not any(_is_there(ledger, key) for key in ledger.managed):
            data = b""  # nothing of ours was ever in it
        return self._bring(ledger, state, data)

    def _resume(self, ledger: Ledger, state: Knowledge, page: Page) -> bool:
        """Tell what a run was about to tell when it broke off after its write."""
        try:
            meant = msgspec.json.decode(self._intent.read_bytes(), type=list[EntryApplied])
        except (OSError, msgspec.MsgspecError):
            return False
        known = {(applied.target, key_of(applied)) for applied in ledger.record.applied}
        arrived = [one for one in drift.arrived(meant, page) if (one.target, key_of(one)) not in known]
        return bool(self._tell(arrived, state))

    def _take_note(self, ledger: Ledger, state: Knowledge, page: Page) -> bool:
        """Record what people did to the file, or copied; a file that is gone is not an edit, it is made anew."""
        told = self._tell(drift.news(ledger, self._place, self._target.shown, page), state)
        self.done.edited += [_edited(event, self._target.shown) for event in told if isinstance(event, KnowledgeEdited)]
        return bool(told)

    def _bring(self, ledger: Ledger, state: Knowledge, data: bytes | None) -> bool:
        """Carry out what is due; texts that it removes are told before the file changes, arrivals afterwards."""
        last_word = self._bases[self._place.base].on_people_text == "replace"
        carried = carry(ledger, self._place, self._target.shown, data, replace=last_word)
        before, changes = data or b"", carried.data != (data or b"")
        self._tell(carried.texts, state)
        arrivals = [_arrival(one, ledger.record.known[one.event], self._target.shown) for one in carried.arrivals]
        if changes:
            self._write(before, carried.data, arrivals)
        self._tell(arrivals, state)
        if not self._dry_run:
            self._intent.unlink(missing_ok=True)
        self._report(carried)
        return changes or bool(arrivals)

    def _write(self, before: bytes, after: bytes, arrivals: list[EntryApplied]) -> None:
        if self._dry_run:
            self._would_say = after
        else:
            replace_file(str(self._intent), msgspec.json.encode(arrivals))
            self._target.write(after)
        first = self.done.files[0][1] if self.done.files else before
        self.done.files = [(self._target.shown, first, after)] if after != first else []

    def _tell(self, events: Sequence[Event], state: Knowledge) -> list[Event]:
        """Append the events and let the state know them as they stand in the log."""
        told = self._dated(events) if self._dry_run else self._stored(events)
        for event in told:
            state.fold(cast("AnyEvent", event))
            self._newest = max(self._newest, counts_at(event))
        return told

    def _stored(self, events: Sequence[Event]) -> list[Event]:
        """Append them after all the log has of this file, even what a clock ahead of ours has dated."""
        put = self._log.put(events, after=self._newest) if events else []
        self.done.stored += sum(appended.new for appended in put)
        return [appended.event for appended in put]

    def _dated(self, events: Sequence[Event]) -> list[Event]:
        """Make the events as they would stand in the log, in this order, if they were appended now."""
        now = self._log.moment(self._newest)
        return [now.stamp(event, position) for position, event in enumerate(events)]

    def _report(self, carried: WriteResult) -> None:
        shown = self._target.shown
        for arrival in carried.arrivals:
            if not arrival.follows:
                told = SectionChange(
                    shown, arrival.at.heading, arrival.at.level, arrival.event, arrival.at.under or (), arrival.gone
                )
                (self.done.nothing if arrival.idle else self.done.applied).append(told)
        self.done.staged = [StagedEntry(held.entry, held.reason, shown) for held in carried.waiting]


def intent_of(store: Store, target: BaseStorage) -> Path:
    """Name the file in which a run keeps what it is about to tell."""
    return Path(usable(store, store.cached("locks", f"{ids.digest(target.identity, 12).hex()}.arrivals")))


def _is_there(ledger: Ledger, key: SectionId) -> bool:
    now = ledger.histories[key].now if key in ledger.histories else None
    return now is not None and now.body is not None


def _arrival(arrival: Arrival, of: PlanEntry | KnowledgeEdited, shown: str) -> EntryApplied:
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
        previous=arrival.previous,
    )


def _edited(event: KnowledgeEdited, shown: str) -> SectionChange:
    return SectionChange(shown, event.key.heading, event.key.level, event.id, event.key.under or ())
