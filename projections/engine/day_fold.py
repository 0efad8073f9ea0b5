"""One day of the log, folded: what its events led to, as it is kept from one replay to the next."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from eventlog import stamps
from eventlog.damage import Damage
from eventlog.days import Day
from eventlog.events import Event, KnowledgeEdited, Rejected, Restored, StageSummary, Withdrawal
from eventlog.projections.engine.shelf import Shelf, ShelfDamaged
from eventlog.projections.state.conversations import Conversation, Conversations
from eventlog.projections.state.places import Places

DayFileStamp = tuple[str, int, int, int, int]

_conversations = msgspec.msgpack.Decoder(dict[str, Conversation])


class DayRow(msgspec.Struct, array_like=True):
    """The findings of a folded day beside its conversations; `stamps` are of its files, before they were read.

    `left_out` are copies of another day's events, `misdated` may have copies; `withheld` are withdrawn, and folded
    without their words. `strays` are conversations that said something outside of the project they are filed under.
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
    first = parts[0]
    facts, summaries, recalled = [*first.facts], [*first.summaries], [*first.recalled]
    found = msgspec.structs.replace(first, facts=facts, summaries=summaries, recalled=recalled)
    for one in parts[1:]:
        found.merge(one)
    return found


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
