"""The folded days of a log, up to date, and the conversations that changed on the way.

A day is folded again when its files changed, when a copy of an event came or went on another day, or when something of
it was withdrawn or restored: withdrawn words are not stored. A day that cannot be read any more stays as it was folded.
"""

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache, partial
from typing import cast

import msgspec

from eventlog.format.events import AnyEvent, EntryApplied, EntryResolved, Event, KnowledgeEdited
from eventlog.format.ids import day_in_id
from eventlog.format.marks import marks_of, salts_in
from eventlog.format.retractions import Retractions, statements_of
from eventlog.log.days import Day, DuplicateFilter, ListedDays
from eventlog.log.envelope_scan import DayScan, Envelope, envelope_of, scan_day
from eventlog.log.event_log import EventLog
from eventlog.log.lines import Damage
from eventlog.projections.current.conversations import Conversation, Conversations, Knowledge, Places
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.day_fold import (
    ConversationDays,
    DayFileStamp,
    DayFold,
    DayRow,
    Redaction,
    StoredDays,
    conversation_of,
    fold_tail,
    stamps_of,
    summed,
)
from eventlog.projections.engine.row_store import RowStore, StoredRow
from eventlog.store.index_lookup import line_at

EVERYTHING = "~"  # after every time
Keep = Callable[[Event], bool]
Concerns = Callable[[str], bool]  # a date; all events of other days are kept. `bool`: any day
Progress = Callable[[int, int], None]  # days done, days in all

_FEW = 20  # paths that are looked for one by one
_AT_HAND = 64  # days whose conversations are not read again: those that go on for weeks have all of theirs among them
_encode = msgspec.msgpack.encode


DayLog = EventLog | ListedDays


class DayStates:
    """Updates the stored days after the log changed.

    `changed` maps each changed conversation to the day it began on before; "" for a new conversation. Once all is done,
    `dates` have to be flushed.
    """

    def __init__(
        self, log: DayLog, cache: RowStore, until: str = EVERYTHING, keep: Keep | None = None, concerns: Concerns = bool
    ) -> None:
        self._log = log
        self._cache = cache
        self._until = ""
        self._keep = keep
        self._concerns = concerns
        self._stored = StoredDays(cache)
        self.rows = self._stored.rows()
        self._knowledge: Knowledge | None = None  # of all days
        self._stated: dict[str, tuple[set[str], dict[str, set[str]]]] = {}  # salts, and who states what, by day
        self.dates = ConversationDays(cache)
        self._conversations_on = lru_cache(maxsize=16)(self._stored.conversations)
        self._encoded_on = lru_cache(maxsize=_AT_HAND)(self._stored.encoded)
        self.withdrawn = Retractions(())
        self.withdrawn = self._withdrawn()
        self.identities = Identities(self.places, self.withdrawn)
        self.go_on(until)

    def go_on(self, until: str) -> None:
        """Turn to a later time; days that were over and caught up with stay as they are."""
        self._over, self._until = self._until, until
        self.days = self._log.days(until=until)
        self.changed: dict[str, str] = {}
        self.folded: set[str] = set()
        self._unread: list[Damage] = []  # files of days that stay as they were
        self._new: set[str] = set()  # days of which every conversation has changed
        self._is_decided_otherwise = False  # withdrawals or places of projects of a day are others

    def catch_up(self, progress: Progress, folded_days: Iterator[list[StoredRow]] | None = None) -> None:
        """Fold the days that differ, oldest first.

        Where none is stored, other processes may have `folded_days`: the rows of all, in order.
        """
        before, identities = self.withdrawn, self.identities
        for date in sorted(self.rows.keys() - {day.date for day in self.days}):
            self._replace_day(date, None, Conversations(), Knowledge())
        elsewhere = DuplicateFilter(partial(self._log.holding, until=self._until))
        for position, day in enumerate(self.days):
            row = self.rows.get(day.date)
            if row and row.stamps and not row.misdated and _ends(day) <= self._over:
                continue
            left_out = elsewhere.of(row.misdated) if row and row.stamps == self._stamps_of(day) else None
            is_done = folded_days is not None and self._adopt(day.date, next(folded_days))
            if row and not is_done:
                is_done = self._fold_tail(day, row) if left_out is None else left_out == frozenset(row.left_out)
            if not is_done:
                self._fold(day, elsewhere if left_out is None else left_out)
            progress(position + 1, len(self.days))
        fates: set[str] = set()
        if self._is_decided_otherwise:
            self.withdrawn = self._withdrawn()
            fates = before.differing(self.withdrawn)
            if self.withdrawn.salts_ever - before.salts_ever:
                self._fold_with_words()
            self._mark_touched(fates)
            self.identities = Identities(self.places, self.withdrawn)
            self._mark_at(self.identities.renamed(identities))
        stating = self._mark_stating(Retractions.judged_statements(fates)) | self.folded
        self._redact(self.rows.keys() if fates or self._until != EVERYTHING else self.folded.copy(), stating)

    def mark_all_changed(self) -> None:
        """Mark every conversation changed; those of parts that came without their days have these from now on."""
        for date in self.rows:
            for conversation in self._stored.encoded(date):
                self.dates.add(conversation, date)
        for conversation in self.dates.everyone():
            self._mark_changed(conversation)

    def _mark_at(self, paths: Collection[str]) -> None:
        """Mark the conversations that name any of these paths; of many paths, all conversations."""
        names = [_encode(path) for path in paths]  # as they are stored: no other path begins with one
        for date in self.rows.keys() - self._new if paths else ():
            for conversation, stored in self._stored.encoded(date).items():
                if len(names) > _FEW or any(name in bytes(stored) for name in names):
                    self._mark_changed(conversation)

    def conversation(self, conversation_id: str, /) -> Conversation | None:
        """Return a conversation, merged from all its days, or None."""
        return conversation_of(self._encoded_on(date)[conversation_id] for date in self.dates.of(conversation_id))

    def stored_conversations(self, date: str) -> StoredRow:
        """Return the stored row of a day's conversations."""
        return "said", "", date, self._cache.read("said", "", date) or _encode({})

    def conversations(self, since: str = "") -> Conversations:
        """Merge the days from `since` on, and what all days hold of withdrawals, notes and places."""
        state = Conversations()
        for date, row in self.rows.items():
            found = self._stored.conversations(date) if date >= since else {}
            state.merge(Conversations(found, row.retractions, row.notes, row.places))
        return state

    def knowledge(self) -> Knowledge:
        """Merge the plan entries, arrivals, decisions and edits of all days."""
        if self._knowledge is None:
            self._knowledge = Knowledge()
            for date, found in self._stored.all_knowledge().items():
                if date in self.rows:
                    self._knowledge.merge(found)
        return self._knowledge

    @property
    def places(self) -> Places:
        """Merge the places of projects on all days."""
        found, nowhere = Places(), Places()
        for row in self.rows.values():
            if row.places != nowhere:
                found.merge(row.places)
        return found

    @property
    def notes(self) -> list[KnowledgeEdited]:
        """List the notes of people in files of the store."""
        return [note for row in self.rows.values() for note in row.notes]

    @property
    def events(self) -> int:
        """Count the events, each once."""
        return sum(row.events for row in self.rows.values())

    @property
    def damage(self) -> list[Damage]:
        """List the damage of all days; a write under way is none."""
        found = [damage for row in self.rows.values() for damage in row.damage if damage.kind != "pending"]
        return list(dict.fromkeys([*found, *self._unread]))

    def events_of(self, day: Day, left_out: Collection[str]) -> list[AnyEvent]:
        """Read the events of a day that count."""
        events = cast("list[AnyEvent]", day.load()[0])
        return [event for event in events if event.id not in left_out and self._counts(event)]

    def _withdrawn(self) -> Retractions:
        return self.withdrawn.grown(event for row in self.rows.values() for event in row.retractions)

    def _adopt(self, date: str, folded: list[StoredRow]) -> bool:
        """Store a day that another process has folded; refuse it where events may be copies of another day's."""
        row = self._stored.adopt(folded)
        if row is None:
            return False
        self._note_decisions(None, row)
        self.rows[date] = row
        self.folded.add(date)
        self._new.add(date)
        for conversation in self._stored.encoded(date):
            self.changed.setdefault(conversation, self.dates.add(conversation, date))
        return True

    def _stamps_of(self, day: Day) -> list[DayFileStamp]:
        """Return the stamps of the files of a day, and one more where only a part of it counts."""
        is_whole = _ends(day) <= self._until and not (self._keep and self._concerns(day.date))
        return stamps_of(day) + ([] if is_whole else [(self._until, 0, 0, 0, 0)])

    def _fold(self, day: Day, copies: DuplicateFilter | Collection[str]) -> bool:
        """Fold a day; return False where it stays as it was, because it cannot be read."""
        row = DayRow(self._stamps_of(day))
        fold, row.damage = self._read(day, row)
        if unread := [damage for damage in row.damage if damage.kind == "unreadable"]:
            before = self.rows.get(day.date)
            if before and before.stamps and row.stamps == stamps_of(day):
                self._unread += unread
                return False
            row.stamps = []  # it is folded again until all of it can be read
        row.misdated = fold.misdated
        row.left_out = sorted(copies.of(row.misdated) if isinstance(copies, DuplicateFilter) else copies)
        fold.finish(frozenset(row.left_out))
        if unread and before:  # what it withdraws is known
            withdrawn = [*fold.conversations.retractions, *before.retractions]
            fold.conversations.retractions = list({withdrawal.id: withdrawal for withdrawal in withdrawn}.values())
        row.events = fold.events
        self.folded.add(day.date)
        self._replace_day(day.date, row, fold.conversations, fold.knowledge)
        return True

    def _fold_tail(self, day: Day, row: DayRow) -> bool:
        """Fold what was appended to a day; return False where anything else happened to it."""
        now = DayRow(self._stamps_of(day), redacted=row.redacted)
        fold = None if self._keep or self._until != EVERYTHING else fold_tail(day, row, now)
        if fold is None:
            return False
        found = Conversations(self._stored.conversations(day.date), row.retractions, row.notes, row.places)
        found.merge(fold.conversations)
        knowledge = self._stored.knowledge(day.date)
        knowledge.merge(fold.knowledge)
        self.folded.add(day.date)
        self._is_decided_otherwise |= bool(fold.conversations.retractions) or fold.conversations.places != Places()
        self._replace_day(day.date, now, found, knowledge)
        return True

    def _read(self, day: Day, row: DayRow) -> tuple[DayFold, list[Damage]]:
        """Scan a day; where a line is odd, decode each, and count those with a whole envelope as well."""
        counts = None if self._until == EVERYTHING and self._keep is None else self._counts
        fold = DayFold(day.date, counts)
        grows = self._cache.is_persistent and day.date in self.rows  # it will do so again
        contents = summed(day.contents(), row.read) if grows else day.contents()
        if self._keep is None and scan_day(contents, day.date, fold.take):
            row.last_id = fold.last_id if grows else ""
            return fold, []
        row.read = []
        events, damage = day.load()
        ids = {event.id for event in events}
        more: dict[str, Envelope] = {}
        for bad in damage if self._keep is None else ():
            if bad.kind in ("invalid", "not-json"):
                data = day.content_of(bad.file)
                envelope = envelope_of(data[slice(*line_at(data, bad.offset))], day.date)
                if envelope and envelope.id not in ids:
                    more.setdefault(envelope.id, envelope)
        fold = DayFold(day.date, counts)
        fold.take(DayScan(list(more.values()), cast("list[AnyEvent]", events), [*ids, *more]))
        return fold, damage

    def _counts(self, event: Event | Envelope) -> bool:
        return event.ts <= self._until and (self._keep is None or (isinstance(event, Event) and self._keep(event)))

    def _replace_day(self, date: str, row: DayRow | None, found: Conversations, knowledge: Knowledge) -> None:
        before = self._stored.conversations(date) if date in self.rows else {}
        if date not in self.rows:
            self._new.add(date)
        for conversation in {**before, **found.by_id}:
            if before.get(conversation) != found.by_id.get(conversation):
                self._mark_changed(conversation)
            if conversation not in before:
                self.dates.add(conversation, date)
            elif conversation not in found.by_id:
                self.dates.drop(conversation, date)
        if row:
            row.retractions, row.notes, row.places = found.retractions, found.notes, found.places
        self._note_decisions(self.rows.get(date), row)
        if row:
            self.rows[date] = row
        else:
            del self.rows[date]
        self._stored.write_conversations(date, found.by_id)
        self._stored.write_knowledge(date, knowledge)
        if self._knowledge and date in self._new:
            self._knowledge.merge(knowledge)
        else:
            self._knowledge = None
        self._write_row(date)

    def _note_decisions(self, before: DayRow | None, now: DayRow | None) -> None:
        """Note whether a day has other withdrawals or places of projects than it had."""
        (withdrawn, places), other = ((row.retractions, row.places) if row else ([], Places()) for row in (before, now))
        self._is_decided_otherwise |= (withdrawn, places) != other

    def _mark_changed(self, conversation_id: str) -> None:
        if conversation_id not in self.changed:
            self.changed[conversation_id] = self.dates.first(conversation_id)

    def _mark_touched(self, subjects: Collection[str]) -> None:
        """Mark the conversations that were decided about, as a whole or by any of their events."""
        by_day: dict[str, set[str]] = {}
        homes = {event_id: date for date, row in self.rows.items() for event_id in row.misdated}
        for subject in subjects:
            conversation = subject.removeprefix("conversation ")
            if conversation != subject and self.dates.of(conversation):
                self._mark_changed(conversation)
            for date in (day_in_id(subject), homes.get(subject, "")) if conversation == subject else ():
                if date in self.rows and date not in self._new:
                    by_day.setdefault(date, set()).add(subject)
        for date, events in by_day.items():
            for found in self._conversations_on(date).values():
                if any(event.id in events for event in (*found.facts, *found.summaries, *found.recalled)):
                    self._mark_changed(found.id)

    def _mark_stating(self, marks: Collection[str]) -> set[str]:
        """Mark the conversations with any of these statements; return their days."""
        salts = salts_in(marks)
        stating: set[str] = set()
        for date in self._may_state(marks) - self._new if marks else ():
            stated = self._stated_on(date, salts)
            for mark in stated.keys() & marks:
                for conversation in stated[mark]:
                    self._mark_changed(conversation)
                stating.add(date)
        return stating

    def _stated_on(self, date: str, salts: set[str]) -> dict[str, set[str]]:
        """Map the marks of what is stated on a day, by these salts at least, to the conversations that state it."""
        known, stated = self._stated.get(date, (set[str](), dict[str, set[str]]()))
        if not salts <= known:
            self._stated[date] = known | salts, stated
            for conversation in self._stored.conversations(date).values():
                events = (*conversation.facts, *conversation.summaries)
                for text in (text for event in events for text in statements_of(event)):
                    for mark in marks_of(text, salts - known):
                        stated.setdefault(mark, set()).add(conversation.id)
        return stated

    def _may_state(self, marks: Collection[str]) -> set[str]:
        """List the days to look for these statements: those that list what was redacted, where they list each of these.

        To digest all that was ever stated takes longer than all else that a question about the past needs.
        """
        listed = {text.partition(" ")[2] for row in self.rows.values() for text in row.redacted}
        if not listed.issuperset(marks):
            return set(self.rows)
        return self.folded | {date for date, row in self.rows.items() if row.redacted}

    def _fold_with_words(self) -> None:
        """Fold the days again whose texts have marks in their place: none of them is by a salt that is new."""
        for day in self.days:
            row = self.rows[day.date]
            if any(" " in text for text in row.redacted):
                self._fold(day, row.left_out)

    def _redact(self, dates: Collection[str], stating: Collection[str]) -> None:
        """Fold days again whose stored text is missing, and remove what is withdrawn.

        Rejected statements are looked for on the days `stating` them, and where some are redacted already.
        """
        persists = self._cache.is_persistent
        dates = {date for date in dates if persists or self.rows[date].redacted}
        wanted = self._to_redact(dates) if dates else {}
        for day in self.days if dates else ():
            if day.date not in dates:
                continue
            row = self.rows[day.date]
            ids, redacted = wanted.get(day.date, set()), set(row.redacted)
            may_state = day.date in stating or any(" " in text for text in redacted)
            wanted_now = ids | (self._rejected_on(day.date) if may_state else set())
            has_changed = redacted - wanted_now or (redacted and persists and wanted_now - redacted)
            if has_changed and self._fold(day, row.left_out):
                redacted, wanted_now = set(), ids | self._rejected_on(day.date)
            if persists and wanted_now - redacted:
                for conversation in self._stored.redact(day.date, Redaction(ids, self.withdrawn), wanted_now):
                    self._mark_changed(conversation)
                self._knowledge = None
                self.rows[day.date].redacted = sorted(wanted_now)
                self.folded.add(day.date)
                self._write_row(day.date)

    def _write_row(self, date: str) -> None:
        """Write the row of a day whose conversations were written."""
        self._conversations_on.cache_clear()
        self._encoded_on.cache_clear()
        self._stated.pop(date, None)
        self._stored.write(date, self.rows.get(date))

    def _rejected_on(self, date: str) -> set[str]:
        """Return the rejected statements in the events of a day, as its row spells them."""
        if not self.withdrawn.statements:
            return set()
        marks_in = Redaction((), self.withdrawn).rejected_marks
        found = self._conversations_on(date).values()
        events = [event for conversation in found for event in (*conversation.facts, *conversation.summaries)]
        entries = self._stored.knowledge(date).entries
        return {f"{event.id} {mark}" for event in (*events, *entries) for mark in marks_in(event)}

    def _to_redact(self, dates: Collection[str]) -> dict[str, set[str]]:
        """Find the withdrawn events of those days, and what was written in the place of withdrawn plan entries."""
        found: dict[str, set[str]] = {}
        homes = {event_id: date for date, row in self.rows.items() for event_id in row.misdated}
        for event_id in self.withdrawn.events:
            found.setdefault(homes.get(event_id) or day_in_id(event_id), set()).add(event_id)
        for conversation in self.withdrawn.conversations:
            for date in self.dates.of(conversation):
                if date in dates:
                    of_day = self._conversations_on(date)[conversation]
                    found.setdefault(date, set()).update(event.id for event in (*of_day.facts, *of_day.summaries))
        for date, ids in self._entries_to_redact(dates).items():
            found.setdefault(date, set()).update(ids)
        return found

    def _entries_to_redact(self, dates: Collection[str]) -> dict[str, set[str]]:
        """Find the withdrawn plan entries, and the events that applied or resolved them."""
        is_any = self.withdrawn.events or self.withdrawn.conversations or self.withdrawn.statements
        if not is_any or all(self._stored.knowledge(date) == Knowledge() for date in dates):
            return {}
        states = self._stored.all_knowledge()
        hidden = {
            date: {entry.id for entry in state.entries if self.withdrawn.hides(entry)} for date, state in states.items()
        }
        all_hidden = set().union(*hidden.values())
        if not all_hidden:
            return {}
        found = {}
        for date in states.keys() & set(dates):
            outcomes: list[EntryApplied | EntryResolved] = [*states[date].applied, *states[date].resolved]
            found[date] = hidden[date] | {event.id for event in outcomes if event.target in all_hidden}
        return found


def _ends(day: Day) -> str:
    return f"{day.date}T23:59:59.999999Z"
