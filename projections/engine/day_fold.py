"""The fold of a day of the log, and the rows that the cache stores of it.

Withdrawn words are redacted in the rows before these are saved. Nothing renders them, so the rows lose nothing; when a
withdrawal is undone, the day is folded again. Marks stand in for the words, so that a repetition is still recognised.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from eventlog.format.events import (
    AnyEvent,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    KnowledgeEdited,
    PlanEntry,
    Rejected,
    StageSummary,
    Withdrawal,
)
from eventlog.format.marks import stand_in
from eventlog.format.retractions import Retractions, statements_of, wordless
from eventlog.log import days
from eventlog.log.days import Day, misdated
from eventlog.log.envelope_scan import DayScan, Envelope, scan_day
from eventlog.log.lines import Damage
from eventlog.projections.current.conversations import Conversation, Conversations, Knowledge, Places
from eventlog.projections.engine.row_store import RowStore, StoredRow
from eventlog.store.files import HEX, file_stamp

DayFileStamp = tuple[str, int, int, int, int]

_conversations = msgspec.msgpack.Decoder(dict[str, Conversation])
_encoded_conversations = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_conversation = msgspec.msgpack.Decoder(Conversation)
_knowledge = msgspec.msgpack.Decoder(Knowledge)
_dates = msgspec.msgpack.Decoder(dict[str, list[str]])
_encode = msgspec.msgpack.encode
_WORDLESS = "…"
_BUCKETS = 256  # of ids
_FEW = 16  # late events: of more, a day is folded anew
_OF_IDS = HEX | {"-"}
_ESCAPED = (b"\\u002", b"\\u003", b"\\u006")  # how JSON may spell these characters


class DayRow(msgspec.Struct, array_like=True):
    """The result of a day's fold beside its conversations; `stamps` are those of its files before they were read.

    `misdated` events name another day in their id, `left_out` are those of them that count there. `redacted` lists
    withdrawn events by id, and rejected statements by event id and mark. Of a day that grows, `read` has the size and
    the checksum of each file, and `last_id` the greatest id: what is appended next is folded alone.
    """

    stamps: list[DayFileStamp]
    events: int = 0
    damage: list[Damage] = []
    misdated: list[str] = []
    left_out: list[str] = []
    redacted: list[str] = []
    retractions: list[Withdrawal] = []
    notes: list[KnowledgeEdited] = []
    places: Places = msgspec.field(default_factory=Places)
    read: list[tuple[int, int]] = []
    last_id: str = ""


_day_row = msgspec.msgpack.Decoder(DayRow)


class Redaction(NamedTuple):
    """Removes the words of withdrawn events, by id, and of rejected statements."""

    ids: Collection[str] = ()
    withdrawn: Retractions = Retractions(())

    def redact(self, event: AnyEvent) -> AnyEvent:
        """Redact the words of an event; author, time, filing and whether it has decisions stay."""
        if isinstance(event, Rejected):
            return wordless(event)
        if event.id in self.ids:
            return self._blank(event)
        return self._without_statements(event) if self.rejected_marks(event) else event

    def rejected_marks(self, event: Event) -> list[str]:
        """List the marks of the rejected statements in an event; none of an event that is withdrawn as a whole."""
        if not self.withdrawn.statements or event.subagent or self.withdrawn.hides_whole(event):
            return []
        return [mark for text in statements_of(event) for mark in self.withdrawn.rejected_marks(text)]

    def _blank(self, event: AnyEvent) -> AnyEvent:
        match event:
            case Fact():
                return _with_content(event, _WORDLESS)
            case StageSummary():
                decisions = [_WORDLESS] * bool(event.decisions)
                return replace(event, topic="", summary=_WORDLESS, decisions=decisions, todos=[], done=[], extra={})
            case PlanEntry(content=str(content)) if content.strip():
                marked = stand_in(content, [event.id, *self.withdrawn.salts_ever])
                return replace(event, content=marked, meta=replace(event.meta, reason=None), extra={})
            case EntryApplied(content=str()) | EntryResolved(content=str()):
                return replace(event, content=_WORDLESS)
            case _:
                return event

    def _without_statements(self, event: AnyEvent) -> AnyEvent:
        """Replace the rejected statements of an event by marks."""
        match event:
            case Fact():
                return _with_content(event, self._marked(event.content))
            case StageSummary():
                texts = {name: self._marked(getattr(event, name)) for name in ("topic", "summary")}
                lists = {name: [*map(self._marked, getattr(event, name))] for name in ("decisions", "todos", "done")}
                return replace(event, **texts, **lists)
            case _:
                return self._blank(event)

    def _marked(self, text: str) -> str:
        return stand_in(text, self.withdrawn.salts_ever) if self.withdrawn.rejects(text) else text


def _with_content(fact: Fact, content: str) -> Fact:
    return replace(fact, content=content, category=None, key=None, entities=[], reason=None, extra={})


class DayFold:
    """Folds the events of a day piece by piece; pieces with misdated events wait for `finish`.

    With `counts`, only events it accepts are folded.
    """

    def __init__(self, date: str, counts: Callable[[Event | Envelope], bool] | None) -> None:
        self.conversations = Conversations()
        self.knowledge = Knowledge()
        self.events = 0
        self.misdated: list[str] = []
        self.last_id = ""
        self._date = date
        self._counts = counts
        self._waiting: list[DayScan] = []

    def take(self, events: DayScan) -> None:
        """Fold a piece, or let it wait where its events may be copies."""
        self.last_id = max([self.last_id, *events.ids])
        if found := misdated(self._date, events.ids):
            self.misdated += found
            self._waiting.append(events)
        else:
            self._fold(events.envelopes, events.whole)

    def finish(self, left_out: Collection[str]) -> None:
        """Fold the pieces that waited, without the events that count on other days."""
        for envelopes, events, _ in self._waiting:
            counting = [envelope for envelope in envelopes if envelope.id not in left_out]
            self._fold(counting, [event for event in events if event.id not in left_out])

    def _fold(self, envelopes: list[Envelope], events: list[AnyEvent]) -> None:
        if self._counts:
            envelopes, events = list(filter(self._counts, envelopes)), list(filter(self._counts, events))
        self.events += len(envelopes) + len(events)
        for event in events:
            self.knowledge.fold(event)
        self.conversations.fold_all(events, envelopes)


def fold_tail(day: Day, row: DayRow, now: DayRow) -> DayFold | None:
    """Fold what was appended to a day since `row`, and complete its row of `now`; None where it changed otherwise.

    New lines may be copies of old ones where their ids are not greater than all before, and the old bytes have them:
    None for such, and for odd lines.
    """
    if not row.read or row.misdated or [stamp[0] for stamp in row.stamps] != [stamp[0] for stamp in now.stamps]:
        return None
    unread = {bad.file for bad in day.unreadable()}  # stays as it was
    stamps = zip(day.files, row.stamps, now.stamps, strict=True)
    now.stamps = [old if file in unread else new for file, old, new in stamps]
    lines = zip(day.files, row.read, strict=True)
    tails = [b"" if file in unread else days.read_after(file, *read) for file, read in lines]
    fold, late = DayFold(day.date, None), list[str]()

    def take(scanned: DayScan) -> None:
        late.extend(event_id for event_id in scanned.ids if event_id <= row.last_id)
        fold.take(scanned)

    if not scan_day(tails, day.date, take) or fold.misdated or (late and _are_there(late, day, row)):
        return None
    now.events, now.last_id = row.events + fold.events, max(row.last_id, fold.last_id)
    appended = ((tail or b"", *read) for tail, read in zip(tails, row.read, strict=True))
    now.read = [(size + len(tail), zlib.crc32(tail, checksum)) for tail, size, checksum in appended]
    return fold


def _are_there(event_ids: list[str], day: Day, row: DayRow) -> bool:
    """Return whether the lines that were folded may have any of these ids, however they are spelled."""
    if len(event_ids) > _FEW or not _OF_IDS.issuperset("".join(event_ids)):
        return True
    marks = [event_id.encode() for event_id in event_ids]
    folded = (data[:size] for data, (size, _) in zip(day.contents(), row.read, strict=True) if data)
    return any(mark in data for data in folded for mark in (*marks, *_ESCAPED))


def summed(contents: Iterable[bytes | None], sums: list[tuple[int, int]]) -> Iterator[bytes | None]:
    """Yield the bytes of files, and add the size and the checksum of each."""
    for data in contents:
        sums.append((len(data or b""), zlib.crc32(data or b"")))
        yield data


class StoredDays:
    """The days of a row store: what each came to, its conversations, and what it has for knowledge bases."""

    def __init__(self, cache: RowStore) -> None:
        self._cache = cache

    def rows(self) -> dict[str, DayRow]:
        """Read the rows of all days."""
        return {date: _day_row.decode(data) for date, data in self._cache.rows("day", "")}

    def write(self, date: str, row: DayRow | None) -> None:
        """Write the row of a day; None removes it."""
        self._cache.write("day", "", date, _encode(row) if row else None)

    def adopt(self, rows: Iterable[StoredRow]) -> DayRow | None:
        """Write the rows of a day as another process made them; None where they have misdated events."""
        row = _day_row.decode(next(data for kind, _, _, data in rows if kind == "day"))
        if row.misdated:
            return None
        for stored in rows:
            self._cache.write(*stored)
        return row

    def conversations(self, date: str) -> dict[str, Conversation]:
        """Read the conversations of a day, by id."""
        data = self._cache.read("said", "", date)
        return _conversations.decode(data) if data else {}

    def encoded(self, date: str) -> dict[str, msgspec.Raw]:
        """Read the conversations of a day, by id, each to be decoded by `conversation_of`."""
        data = self._cache.read("said", "", date)
        return _encoded_conversations.decode(data) if data else {}

    def knowledge(self, date: str) -> Knowledge:
        """Read the plan entries of a day and their outcomes."""
        data = self._cache.read("state", "knowledge", date)
        return _knowledge.decode(data) if data else Knowledge()

    def all_knowledge(self) -> dict[str, Knowledge]:
        """Read those of every day that has any."""
        return {date: _knowledge.decode(data) for date, data in self._cache.rows("state", "knowledge")}

    def write_conversations(self, date: str, conversations: Mapping[str, Conversation | msgspec.Raw]) -> None:
        """Write the conversations of a day, by id."""
        self._cache.write("said", "", date, _encode(conversations) if conversations else None)

    def write_knowledge(self, date: str, knowledge: Knowledge) -> None:
        """Write the plan entries of a day and their outcomes."""
        self._cache.write("state", "knowledge", date, _encode(knowledge) if knowledge != Knowledge() else None)

    def redact(self, date: str, redaction: Redaction, redacted: Iterable[str]) -> list[str]:
        """Redact the stored events of a day, and list the conversations that differ then; `redacted` as in its row.

        It comes to what a fold without the words comes to, as folds look at none. Only for a day whose words are all
        there.
        """
        names = [spelled.partition(" ")[0].encode("utf-8", "surrogatepass") for spelled in redacted]
        conversations, different = self.encoded(date), []
        for conversation_id, stored in conversations.items():
            if any(name in bytes(stored) for name in names):
                conversation = _conversation.decode(stored)
                conversation.facts = cast("list[Fact]", [*map(redaction.redact, conversation.facts)])
                conversation.summaries = cast("list[StageSummary]", [*map(redaction.redact, conversation.summaries)])
                conversations[conversation_id] = msgspec.Raw(_encode(conversation))
                different += [conversation_id] if conversations[conversation_id] != stored else []
        if different:
            self.write_conversations(date, conversations)
        if (knowledge := self.knowledge(date)) != Knowledge():
            for name in ("entries", "applied", "resolved"):
                setattr(knowledge, name, [*map(redaction.redact, getattr(knowledge, name))])
            self.write_knowledge(date, knowledge)
        return different


class ConversationDays:
    """The days of each conversation, oldest first; `flush` writes them."""

    def __init__(self, cache: RowStore) -> None:
        self._cache = cache
        self._buckets: dict[int, dict[str, list[str]]] = {}
        self._added: dict[str, list[str]] = {}  # the lists of the buckets that grew: these are asked for
        self._changed: set[int] = set()

    def of(self, conversation_id: str) -> list[str]:
        """List the days of a conversation."""
        return self._added.get(conversation_id) or self._bucket(_bucket_of(conversation_id)).get(conversation_id, [])

    def first(self, conversation_id: str) -> str:
        """Return the day a conversation began on; "" for none."""
        days = self.of(conversation_id)
        return days[0] if days else ""

    def add(self, conversation_id: str, date: str) -> str:
        """Add a day to a conversation; return the day it began on before, "" for a new conversation."""
        number = _bucket_of(conversation_id)
        dates = self._added[conversation_id] = self._bucket(number).setdefault(conversation_id, [])
        began = dates[0] if dates else ""
        if date not in dates:
            dates.append(date)
            dates.sort()
            self._changed.add(number)
        return began

    def drop(self, conversation_id: str, date: str) -> None:
        """Remove a day from a conversation."""
        number = _bucket_of(conversation_id)
        dates = self._bucket(number)[conversation_id]
        dates.remove(date)
        if not dates:
            del self._bucket(number)[conversation_id]
            self._added.pop(conversation_id, None)
        self._changed.add(number)

    def everyone(self) -> Iterator[str]:
        """Yield the ids of all conversations."""
        for number in range(_BUCKETS):
            yield from self._bucket(number)

    def flush(self) -> None:
        """Write the buckets that changed."""
        for number in sorted(self._changed):
            bucket = self._buckets[number]
            self._cache.write("dates", "", f"{number:02x}", _encode(bucket) if bucket else None)
        self._changed.clear()

    def _bucket(self, number: int) -> dict[str, list[str]]:
        if number not in self._buckets:
            data = self._cache.read("dates", "", f"{number:02x}")
            self._buckets[number] = _dates.decode(data) if data else {}
        return self._buckets[number]


def _bucket_of(conversation_id: str) -> int:
    return zlib.crc32(conversation_id.encode()) % _BUCKETS


def conversation_of(parts: Iterable[msgspec.Raw]) -> Conversation | None:
    """Decode and merge the days of a conversation; None where it has none."""
    found = list(map(_conversation.decode, parts))
    return Conversation.merged(found) if len(found) > 1 else next(iter(found), None)


def stamps_of(day: Day) -> list[DayFileStamp]:
    """Return name, size, modification and change time, and inode of each file of the day.

    A day whose bytes were handed in has no stamps: it does not change.
    """
    files = day.files if day.data is None else ()
    return [(file.rpartition("/")[2], *file_stamp(file)) for file in files]
