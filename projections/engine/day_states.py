"""The days, folded and up to date; and the conversations that are others than they were.

Of each day its conversations are kept, and whatever else its events lead to; a day is folded anew when its files
differ, when a copy of an event has come or gone on another day, or when something of it was withdrawn or restored:
what is withdrawn stays on the shelf without its words.
"""

import zlib
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache, partial
from typing import NamedTuple, Protocol, cast

import msgspec

from eventlog.format.events import AnyEvent, EntryApplied, EntryResolved, Event, KnowledgeEdited
from eventlog.format.ids import day_in_id
from eventlog.format.marks import marks_of, salts_in
from eventlog.format.retractions import Retractions, judged_statements, statements_of
from eventlog.log import days
from eventlog.log.days import Day, DuplicateFilter
from eventlog.log.envelope_scan import Skimmed, SkimmedEvents, envelope_of, skim
from eventlog.log.lines import Damage
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.projections.current.places import Places
from eventlog.projections.engine.day_fold import (
    DayFileStamp,
    DayFold,
    DayRow,
    Redaction,
    conversations_on,
    day_row,
    merged,
    rejected_statements,
    stamps_of,
    store_decisions,
    strays_of,
)
from eventlog.projections.engine.row_store import RowStore
from eventlog.store.index_lookup import line_at

EVERYTHING = "~"  # after every time
_NOTHING = Redaction()
Keep = Callable[[Event], bool]
Progress = Callable[[int, int], None]  # days done, days in all

_BUCKETS = 256
_DATES = msgspec.msgpack.Decoder(dict[str, list[str]])
_encode = msgspec.msgpack.encode
_knowledge = msgspec.msgpack.Decoder(Knowledge)


class DayLog(Protocol):
    """A log, day by day."""

    def days(self, since: str = "", until: str = EVERYTHING) -> list[Day]:
        """List the days that can hold events with `since <= ts <= until`, oldest first."""
        ...

    def holding(self, date: str, event_ids: Collection[str], until: str = EVERYTHING) -> set[str]:
        """Find those of the ids that an event of that day with `ts <= until` has."""
        ...


class FoldedDay(NamedTuple):
    """The rows of a folded day, as kind, name and data, and its conversations."""

    kept: list[tuple[str, str, bytes]]
    conversations: list[str]


class DayStates:
    """Brings the folded days on a shelf to what the log says, and notes which conversations that changed."""

    def __init__(self, log: DayLog, shelf: RowStore, until: str = EVERYTHING, keep: Keep | None = None) -> None:
        self._log = log
        self._shelf = shelf
        self._until = until
        self._keep = keep
        self.there = log.days(until=until)
        self.rows = {date: day_row.decode(data) for date, data in shelf.rows("day", "")}
        self.changed: dict[str, str] = {}  # conversation -> the day it began on until now, "" for a new one
        self.folded: set[str] = set()
        self._is_changed = False
        self._new: set[str] = set()  # days of which every conversation has changed
        self._dates = _Dates(shelf)
        self._said = lru_cache(maxsize=16)(partial(conversations_on, shelf))
        self.withdrawn = self._withdrawn()
        self.identities = Identities(self.places, self.withdrawn)

    def catch_up(self, progress: Progress, apart: Iterator[FoldedDay] | None = None) -> None:
        """Fold what differs, oldest first; afterwards nothing on the shelf is older than the log.

        `apart` are all days, folded by others, where nothing is on the shelf.
        """
        before, known = self.withdrawn, self.identities
        for date in sorted(self.rows.keys() - {day.date for day in self.there}):
            self._put(date, None, Conversations(), Knowledge())
        elsewhere = DuplicateFilter(partial(self._log.holding, until=self._until))
        for position, day in enumerate(self.there):
            row = self.rows.get(day.date)
            left_out = elsewhere.of(row.misdated) if row and row.stamps == self._stamps_of(day) else None
            is_taken = apart is not None and self._take(day.date, next(apart))
            if not is_taken and (row is None or left_out is None or left_out != frozenset(row.left_out)):
                self._fold(day, elsewhere if left_out is None else left_out)
            progress(position + 1, len(self.there))
        self.withdrawn = self._withdrawn()
        fates = before.differing(self.withdrawn)
        self._touch_all(fates)
        stating = self._touch_stating(judged_statements(fates)) | self.folded
        self.identities = Identities(self.places, self.withdrawn)
        if self.identities.differ(known):
            self.touch_everything()
        self._withhold(self.rows.keys() if fates or self._until != EVERYTHING else self.folded.copy(), stating)

    def touch_everything(self) -> None:
        """Take every conversation for another than it was; where each belongs is looked at anew."""
        for date in self.rows:
            for one in conversations_on(self._shelf, date):
                self._dates.add(one, date)
        for one in self._dates.everyone():
            self.changed.setdefault(one, self._dates.first(one))

    def conversation(self, conversation_id: str, /) -> Conversation | None:
        """Merge what a conversation did on all its days."""
        return merged([self._said(date)[conversation_id] for date in self._dates.of(conversation_id)])

    def dates(self, conversation_id: str) -> list[str]:
        """List the days it was at work on."""
        return self._dates.of(conversation_id)

    def said_bytes(self, date: str) -> bytes:
        """Return what is kept of the conversations of a day."""
        return self._shelf.read("said", "", date) or _encode({})

    def began(self, conversation_id: str) -> str:
        """Return the first of its days; "" where there is no such conversation."""
        return self._dates.first(conversation_id)

    def conversations(self, since: str = "") -> Conversations:
        """Merge the days from one on, and what all say of others; what is withdrawn may lack its words."""
        state = Conversations()
        for date, row in self.rows.items():
            said = conversations_on(self._shelf, date) if date >= since else {}
            state.merge(Conversations(said, row.retractions, row.notes, row.places))
        return state

    def knowledge(self) -> Knowledge:
        """Merge what was planned, applied, decided and edited on all days."""
        state = Knowledge()
        for date, data in self._shelf.rows("state", "knowledge"):
            if date in self.rows:
                state.merge(_knowledge.decode(data))
        return state

    @property
    def places(self) -> Places:
        """Merge where the projects of all days lie."""
        found, nowhere = Places(), Places()
        for row in self.rows.values():
            if row.places != nowhere:
                found.merge(row.places)
        return found

    @property
    def notes(self) -> list[KnowledgeEdited]:
        """List what people wrote into files of the store."""
        return [note for row in self.rows.values() for note in row.notes]

    @property
    def events(self) -> int:
        """Count the events, each once."""
        return sum(row.events for row in self.rows.values())

    @property
    def damage(self) -> list[Damage]:
        """List the damage of all days, but for a write under way."""
        return [damage for row in self.rows.values() for damage in row.damage if damage.kind != "pending"]

    def close(self) -> None:
        """Write what is kept of conversations and decisions."""
        self._dates.flush()
        if self._is_changed:
            store_decisions(self._shelf, dict(sorted(self.rows.items())))

    def events_of(self, day: Day, left_out: Collection[str]) -> list[AnyEvent]:
        """Read the events of a day that count."""
        events = cast("list[AnyEvent]", days.load(day)[0])
        return [event for event in events if event.id not in left_out and self._counts(event)]

    def _withdrawn(self) -> Retractions:
        return Retractions(one for row in self.rows.values() for one in row.retractions)

    def _take(self, date: str, folded: FoldedDay) -> bool:
        """Put a day that was folded by others on the shelf; not one that may have copies of another day's events."""
        row = day_row.decode(next(data for kind, _, data in folded.kept if kind == "day"))
        if row.misdated:
            return False
        self.rows[date] = row
        self._is_changed = True
        self.folded.add(date)
        self._new.add(date)
        for one in folded.conversations:
            self.changed.setdefault(one, self._dates.add(one, date))
        for kind, name, data in folded.kept:
            self._shelf.write(kind, name, date, data)
        return True

    def _stamps_of(self, day: Day) -> list[DayFileStamp]:
        """Return what a row is made of: the files of a day, and until when where it counts in part."""
        is_whole = day.date < self._until[:10]
        return stamps_of(day) + ([] if is_whole else [(self._until, 0, 0, 0, 0)])

    def _fold(self, day: Day, copies: DuplicateFilter | Collection[str], withheld: Redaction = _NOTHING) -> None:
        row = DayRow(self._stamps_of(day))
        fold, row.damage = self._read(day, withheld)
        row.misdated = fold.misdated
        row.left_out = sorted(copies.of(row.misdated) if isinstance(copies, DuplicateFilter) else copies)
        fold.finish(frozenset(row.left_out))
        row.redacted = sorted({*withheld.ids, *fold.rejected})
        row.events = fold.events
        self.folded.add(day.date)
        self._put(day.date, row, fold.conversations, fold.knowledge)

    def _read(self, day: Day, withheld: Redaction) -> tuple[DayFold, list[Damage]]:
        """Skim a day; where anything is odd, look into every line, and count those whose envelope is whole as well."""
        counts = None if self._until == EVERYTHING and self._keep is None else self._counts
        fold = DayFold(day.date, withheld, counts)
        if self._keep is None and skim(day.contents(), day.date, fold.take):
            return fold, []
        events, damage = days.load(day)
        known = {event.id for event in events}
        more: dict[str, Skimmed] = {}
        for bad in damage if self._keep is None else ():
            if bad.kind in ("invalid", "not-json"):
                data = day.content_of(bad.file)
                one = envelope_of(data[slice(*line_at(data, bad.offset))], day.date)
                if one and one.id not in known:
                    more.setdefault(one.id, one)
        fold = DayFold(day.date, withheld, counts)
        fold.take(SkimmedEvents(list(more.values()), cast("list[AnyEvent]", events), [*known, *more]))
        return fold, damage

    def _counts(self, event: Event | Skimmed) -> bool:
        return event.ts <= self._until and (self._keep is None or (isinstance(event, Event) and self._keep(event)))

    def _put(self, date: str, row: DayRow | None, said: Conversations, knowledge: Knowledge) -> None:
        before = conversations_on(self._shelf, date) if date in self.rows else {}
        if date not in self.rows:
            self._new.add(date)
        for one in before.keys() | said.by_id.keys():
            if before.get(one) != said.by_id.get(one):
                self._touch(one)
            if one not in before:
                self._dates.add(one, date)
            elif one not in said.by_id:
                self._dates.drop(one, date)
        if row:
            row.retractions, row.notes, row.places = said.retractions, said.notes, said.places
            row.strays = strays_of(said)
            self.rows[date] = row
        else:
            del self.rows[date]
        self._said.cache_clear()
        self._is_changed = True
        self._shelf.write("day", "", date, _encode(row) if row else None)
        self._shelf.write("said", "", date, _encode(said.by_id) if said.by_id else None)
        self._shelf.write("state", "knowledge", date, _encode(knowledge) if knowledge != Knowledge() else None)

    def _touch(self, conversation_id: str) -> None:
        if conversation_id not in self.changed:
            self.changed[conversation_id] = self._dates.first(conversation_id)

    def _touch_all(self, goals: Collection[str]) -> None:
        """Touch the conversations whose events, or which themselves, are withdrawn or restored."""
        by_day: dict[str, set[str]] = {}
        homes = {event_id: date for date, row in self.rows.items() for event_id in row.misdated}
        for goal in goals:
            conversation = goal.removeprefix("conversation ")
            if conversation != goal and self._dates.of(conversation):
                self._touch(conversation)
            for date in (day_in_id(goal), homes.get(goal, "")) if conversation == goal else ():
                if date in self.rows and date not in self._new:
                    by_day.setdefault(date, set()).add(goal)
        for date, events in by_day.items():
            for conversation, said in self._said(date).items():
                if any(event.id in events for event in (*said.facts, *said.summaries, *said.recalled)):
                    self._touch(conversation)

    def _touch_stating(self, marks: Collection[str]) -> set[str]:
        """Touch the conversations that make any of these statements; return on which days they do."""
        salts = salts_in(marks)
        stating: set[str] = set()
        for date in self.rows.keys() - self._new if marks else ():
            for conversation, said in conversations_on(self._shelf, date).items():
                texts = (text for event in (*said.facts, *said.summaries) for text in statements_of(event))
                if any(mark in marks for text in texts for mark in marks_of(text, salts)):
                    self._touch(conversation)
                    stating.add(date)
        return stating

    def _withhold(self, dates: Collection[str], stating: Collection[str]) -> None:
        """Fold those days anew that lack words of what counts, or have words of what is withdrawn.

        For statements that are rejected days are looked at that may be `stating` any, and those that lack some.
        """
        wanted = self._withheld(dates)
        for day in self.there:
            if day.date not in dates:
                continue
            row = self.rows[day.date]
            ids, there = wanted.get(day.date, set()), set(row.redacted)
            is_looked_at = day.date in stating or any(map(_is_stated, there))
            now = ids | (self._stated(day.date) if is_looked_at else set())
            if there - now or (self._shelf.keeps and now - there):
                self._fold(day, row.left_out, Redaction(ids, self.withdrawn) if self._shelf.keeps else _NOTHING)

    def _stated(self, date: str) -> set[str]:
        """Find which rejected statements the events of a day make."""
        if not self.withdrawn.statements:
            return set()
        said = self._said(date).values()
        events = [event for one in said for event in (*one.facts, *one.summaries)]
        data = self._shelf.read("state", "knowledge", date)
        entries = _knowledge.decode(data).entries if data else []
        return {stated for event in (*events, *entries) for stated in rejected_statements(event, self.withdrawn)}

    def _withheld(self, dates: Collection[str]) -> dict[str, set[str]]:
        """Find the events withdrawn on those days, and what tells of entries that are."""
        found: dict[str, set[str]] = {}
        homes = {event_id: date for date, row in self.rows.items() for event_id in row.misdated}
        for event_id in self.withdrawn.events:
            found.setdefault(homes.get(event_id) or day_in_id(event_id), set()).add(event_id)
        for conversation in self.withdrawn.conversations:
            for date in self._dates.of(conversation):
                if date in dates:
                    said = self._said(date)[conversation]
                    found.setdefault(date, set()).update(event.id for event in (*said.facts, *said.summaries))
        for date, ids in self._withheld_entries(dates).items():
            found.setdefault(date, set()).update(ids)
        return found

    def _withheld_entries(self, dates: Collection[str]) -> dict[str, set[str]]:
        """Find the plan entries that are withdrawn, and what was written, or decided, in their place."""
        if not (self.withdrawn.events or self.withdrawn.conversations or self.withdrawn.statements):
            return {}
        known = {date: _knowledge.decode(data) for date, data in self._shelf.rows("state", "knowledge")}
        hidden = {date: {one.id for one in state.entries if self.withdrawn.hides(one)} for date, state in known.items()}
        all_hidden = set().union(*hidden.values())
        if not all_hidden:
            return {}
        came: dict[str, list[EntryApplied | EntryResolved]]
        came = {date: [*state.applied, *state.resolved] for date, state in known.items() if date in dates}
        about = {date: {one.id for one in told if one.target in all_hidden} for date, told in came.items()}
        return {date: hidden[date] | ids for date, ids in about.items()}


class _Dates:
    """The days on which each conversation was at work, oldest first; written when it is flushed."""

    def __init__(self, shelf: RowStore) -> None:
        self._shelf = shelf
        self._buckets: dict[int, dict[str, list[str]]] = {}
        self._added: dict[str, list[str]] = {}  # those lists of the buckets that days were added to: they are asked for
        self._changed: set[int] = set()

    def of(self, conversation_id: str) -> list[str]:
        """List its days."""
        return self._added.get(conversation_id) or self._bucket(_bucket_of(conversation_id)).get(conversation_id, [])

    def first(self, conversation_id: str) -> str:
        """Return the day it began on; "" where it never did."""
        days = self.of(conversation_id)
        return days[0] if days else ""

    def add(self, conversation_id: str, date: str) -> str:
        """Note that it was at work on that day; return the day it began on until now, "" for a new one."""
        number = _bucket_of(conversation_id)
        there = self._added[conversation_id] = self._bucket(number).setdefault(conversation_id, [])
        began = there[0] if there else ""
        if date not in there:
            there.append(date)
            there.sort()
            self._changed.add(number)
        return began

    def drop(self, conversation_id: str, date: str) -> None:
        """Note that it was not."""
        number = _bucket_of(conversation_id)
        there = self._bucket(number)[conversation_id]
        there.remove(date)
        if not there:
            del self._bucket(number)[conversation_id]
            self._added.pop(conversation_id, None)
        self._changed.add(number)

    def everyone(self) -> Iterator[str]:
        """Yield all conversations."""
        for number in range(_BUCKETS):
            yield from self._bucket(number)

    def flush(self) -> None:
        """Write what has changed."""
        for number in sorted(self._changed):
            bucket = self._buckets[number]
            self._shelf.write("dates", "", f"{number:02x}", _encode(bucket) if bucket else None)
        self._changed.clear()

    def _bucket(self, number: int) -> dict[str, list[str]]:
        if number not in self._buckets:
            data = self._shelf.read("dates", "", f"{number:02x}")
            self._buckets[number] = _DATES.decode(data) if data else {}
        return self._buckets[number]


def _is_stated(withheld: str) -> bool:
    return " " in withheld


def _bucket_of(conversation_id: str) -> int:
    return zlib.crc32(conversation_id.encode()) % _BUCKETS
