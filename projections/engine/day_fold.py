"""One day of the log, folded: what its events led to, as it is kept from one replay to the next."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from eventlog.format.events import AnyEvent, Event, KnowledgeEdited, Rejected, Restored, StageSummary, Withdrawal
from eventlog.format.retractions import Retractions
from eventlog.log.damage import Damage
from eventlog.log.days import Day
from eventlog.log.envelope_scan import Skimmed, SkimmedEvents
from eventlog.log.foreign_ids import misdated
from eventlog.projections.current.conversations import Conversation, Conversations
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.projections.current.places import Places
from eventlog.projections.engine.shelf import Shelf, ShelfDamaged
from eventlog.projections.engine.withheld import Withheld, rejected_in
from eventlog.store import stamps

DayFileStamp = tuple[str, int, int, int, int]

_conversations = msgspec.msgpack.Decoder(dict[str, Conversation])


class DayRow(msgspec.Struct, array_like=True):
    """The findings of a folded day beside its conversations; `stamps` are of its files, before they were read.

    `left_out` are copies of another day's events, `misdated` may have copies; `withheld` are withdrawn, and folded
    without their words: events by id, and statements by the id of who says them and their mark. `strays` are
    conversations that said something outside of the project they are filed under.
    """

    stamps: list[DayFileStamp]
    events: int = 0
    damage: list[Damage] = []
    misdated: list[str] = []
    left_out: list[str] = []
    withheld: list[str] = []
    retractions: list[Withdrawal] = []
    notes: list[KnowledgeEdited] = []
    places: Places = msgspec.field(default_factory=Places)
    strays: list[str] = []


day_row = msgspec.msgpack.Decoder(DayRow)


class DayFold:
    """The fold of one day's events, piece by piece; a piece that may have copies of another day's events waits.

    Of the events only those that `counts` accepts, all without it; what is `withheld` is folded without its words, and
    of the statements among it is noted who says which.
    """

    def __init__(self, date: str, withheld: Withheld, counts: Callable[[Event | Skimmed], bool] | None) -> None:
        self.said = Conversations()
        self.knowledge = Knowledge()
        self.events = 0
        self.misdated: list[str] = []
        self.stated: set[str] = set()
        self._date = date
        self._withheld = withheld
        self._counts = counts
        self._waiting: list[SkimmedEvents] = []

    def take(self, events: SkimmedEvents) -> None:
        """Take in some events, at once where none of them can have copies."""
        if strays := misdated(self._date, events.ids):
            self.misdated += strays
            self._waiting.append(events)
        else:
            self._fold(events.envelopes, events.said)

    def finish(self, left_out: Collection[str]) -> None:
        """Take in what has waited, without those that count on other days."""
        for envelopes, said, _ in self._waiting:
            counting = [one for one in envelopes if one.id not in left_out]
            self._fold(counting, [event for event in said if event.id not in left_out])

    def _fold(self, envelopes: list[Skimmed], said: list[AnyEvent]) -> None:
        if self._counts:
            envelopes, said = list(filter(self._counts, envelopes)), list(filter(self._counts, said))
        self.events += len(envelopes) + len(said)
        if self._withheld:
            for event in said:
                self.stated |= stated_by(event, self._withheld.withdrawn)
            said = list(map(self._withheld.without_words, said))
        for event in said:
            self.knowledge.fold(event)
        self.said.fold_all(said, envelopes)


def stated_by(event: Event, withdrawn: Retractions) -> set[str]:
    """Spell which rejected statements an event makes, as a row has them."""
    return {f"{event.id} {mark}" for mark in rejected_in(event, withdrawn)}


class Decided(msgspec.Struct, array_like=True):
    """The decisions of people that exactly these files hold."""

    stamps: list[DayFileStamp]
    made: list[Withdrawal]


_DECISIONS = "decisions", "", ""  # the row of all days: sessions that start ask what was ever decided
_decided = msgspec.msgpack.Decoder(dict[str, Decided])
_STRAYS = "strays", "", ""  # the row of all days: sessions that start ask whose project was named since
_strays = msgspec.msgpack.Decoder(list[str])


def keep_decisions(shelf: Shelf, rows: Mapping[str, DayRow]) -> None:
    """Keep what people decided on all days in one row, and in another the strays of all days."""
    decided = {date: Decided(row.stamps, _decisions(row)) for date, row in rows.items()}
    shelf.write(*_DECISIONS, msgspec.msgpack.encode(decided))
    strays = sorted({one for row in rows.values() for one in row.strays})
    shelf.write(*_STRAYS, msgspec.msgpack.encode(strays))


def _decisions(row: DayRow) -> list[Withdrawal]:
    return [one for one in row.retractions if isinstance(one, Rejected | Restored)]


def kept_decisions(shelf: Shelf) -> dict[str, Decided]:
    """Read what people decided on each day; nothing where that is not kept."""
    try:
        data = shelf.read(*_DECISIONS)
    except ShelfDamaged:
        return {}
    return _decided.decode(data) if data else {}


def kept_strays(shelf: Shelf) -> list[str] | None:
    """Read which conversations strayed on any day; None where nothing is kept."""
    try:
        data = shelf.read(*_STRAYS)
    except ShelfDamaged:
        return None
    return _strays.decode(data) if data else None


def strays_of(said: Conversations) -> list[str]:
    """List the conversations that said something outside of the project they named first, or named none.

    What is said of the user is not filed by the conversation's project.
    """
    return [
        one.id for one in said.by_id.values() if any(_is_astray(event, one) for event in (*one.summaries, *one.facts))
    ]


def _is_astray(event: Event, conversation: Conversation) -> bool:
    return event.project != conversation.project if event.project else isinstance(event, StageSummary)


class FoldedApart(NamedTuple):
    """A day folded apart from the shelf: its rows, as kind, name and data, and the conversations there."""

    kept: list[tuple[str, str, bytes]]
    conversations: list[str]


def said_on(shelf: Shelf, date: str) -> dict[str, Conversation]:
    """Read the conversations of a folded day, by id."""
    data = shelf.read("said", "", date)
    return conversations_in(data) if data else {}


def conversations_in(data: bytes) -> dict[str, Conversation]:
    """Read the row of a day's conversations."""
    return _conversations.decode(data)


def joined(said: Iterable[Conversation]) -> Conversation | None:
    """Join what a conversation did on each of its days; None where there was none."""
    parts = list(said)
    if len(parts) <= 1:
        return parts[0] if parts else None
    return Conversation.merged(parts)


def kept_day(shelf: Shelf, day: Day) -> Conversations | None:
    """Read what exactly these files say; None where that is not kept, or not with all words."""
    try:
        row = kept_row(shelf, day)
        if row is None or row.withheld:
            return None
        return Conversations(said_on(shelf, day.date), row.retractions, row.notes, row.places)
    except ShelfDamaged:
        return None


def kept_row(shelf: Shelf, day: Day) -> DayRow | None:
    """Read what is kept of exactly these files beside their conversations; None where nothing is."""
    try:
        data = shelf.read("day", "", day.date)
    except ShelfDamaged:
        return None
    row = day_row.decode(data) if data else None
    return row if row and row.stamps == stamps_of(day) else None


def stamps_of(day: Day) -> list[DayFileStamp]:
    """Return name, size, modification and change time, and inode of each of the day's files.

    Of bytes that were brought along there are none: they do not change.
    """
    files = day.files if day.data is None else ()
    return [(file.rpartition("/")[2], *stamps.of_file(file)) for file in files]
