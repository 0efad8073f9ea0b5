"""`cache/search.sqlite`, the writing half: what was appended to the log is put in its place, or taken out.

Writers      one at a time, in one transaction. Additions are not synced, withdrawals are.

Imported inside agents' hooks where something was appended that can be found: standard library only.
"""

from eventlog import fastjson
from eventlog.app.search import placing, validity
from eventlog.app.search.appended import WITHDRAWS, NotAppended, appended, seen_in
from eventlog.app.search.placing import Gathered, Unit
from eventlog.app.search.word_tables import OF_ONE, PARTS, units_in
from eventlog.index_lookup import name_in
from eventlog.projections.search.findable import Findable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from sqlite3 import Connection

    from eventlog.app.search.appended import Appended, Lines, Seen
    from eventlog.app.search.project_names import ProjectNames
    from eventlog.app.search.word_tables import WordRow, WordTable
    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store

_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE seen (name TEXT PRIMARY KEY, stamp TEXT) WITHOUT ROWID",
    """CREATE TABLE homes (conversation TEXT, what TEXT, said TEXT, at TEXT, PRIMARY KEY (conversation, what))
        WITHOUT ROWID""",
    "CREATE TABLE gone (aim TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE units (id INTEGER PRIMARY KEY, place INTEGER, subject TEXT, event TEXT, ts TEXT, after TEXT,
        type TEXT,
        conversation TEXT, drawn INTEGER, line BLOB)""",
)
_INDEXES = (  # made once the table is filled: each in one go
    "CREATE UNIQUE INDEX IF NOT EXISTS by_place ON units (place)",
    "CREATE INDEX IF NOT EXISTS by_event ON units (event)",
    "CREATE INDEX IF NOT EXISTS by_conversation ON units (conversation)",
)
_INSERT = "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ORDER = "SELECT coalesce(after, ts), event FROM units WHERE place = ?"
_EVENT, _PLACE = "event = ?", "place = ?"
_SUMMARY = "conversation = ? AND type = 'stage_summary' AND drawn = ?"
_FELL_BEHIND = "INSERT OR REPLACE INTO meta VALUES ('behind', '1')"
_HAS_REMAINS = "INSERT OR REPLACE INTO meta VALUES ('remains', '1')"
_HAS_NONE = "DELETE FROM meta WHERE name = 'remains'"
_AS_FIRST_SAID = """INSERT INTO homes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET said = excluded.said, at = excluded.at WHERE excluded.at < at"""


def create(database: "Connection", words: "WordTable", about: "Iterable[tuple[str, str]]") -> None:
    """Make the tables in an empty file, and note what it is; raises OperationalError for words SQLite does not know."""
    database.execute("PRAGMA journal_mode = MEMORY")  # nobody else sees it yet
    database.execute("PRAGMA cache_size = -65536")
    words.create()
    for statement in _SCHEMA:
        database.execute(statement)
    database.executemany("INSERT INTO meta VALUES (?, ?)", about)


class IndexWriter:
    """One who writes into an index that is open, by the rules of `placing`."""

    def __init__(self, database: "Connection", words: "WordTable", names: "ProjectNames") -> None:
        self._db = database
        self._words = words
        self._names = names
        database.execute("PRAGMA secure_delete = ON")

    def take_in(self, news: "Appended", seen: "Seen", store: "Store", most: int) -> None:
        """Take in what was appended since so much was seen; raises as `appended` does."""
        withdraws = any(event["type"] in WITHDRAWS for event in news.events)
        self._db.execute(f"PRAGMA synchronous = {'FULL' if withdraws else 'OFF'}")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if seen != (seen := seen_in(self._db)):  # somebody else has taken it in meanwhile
                news = appended(store, seen, most)
            if seen:
                self._compare(news.copied)
            gone = self._withdraw(news.events, is_new=not seen)
            if seen:
                placing.place(self, self._names, news.events, gone)
            else:
                self._fill(news.events, gone)
            rows = [(name_in(stamp), stamp) for stamp in news.seen]
            self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _compare(self, copied: "Lines") -> None:
        """Raise NotAppended where the index has another line of one of these: which counts, reading both tells."""
        for event in copied:
            there = units_in(self._db, _EVENT, event["id"])
            if any(fastjson.object_in(line) != event for *_, line in there):
                raise NotAppended("a copy of an event says something else")

    def _withdraw(self, events: "Lines", *, is_new: bool) -> set[str]:
        """Take out what is withdrawn, and return all that ever was."""
        news = [event for event in events if event["type"] in WITHDRAWS]
        gone = validity.withdrawn(news) if is_new else set(filter(None, map(validity.aim_of, news)))
        self._db.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(aim,) for aim in gone])
        if gone and not is_new:
            self._db.execute(_FELL_BEHIND)
            self._db.execute(_HAS_REMAINS)
            for aim in gone:
                self._hide(aim)
        return self._gone()

    def _hide(self, aim: str) -> None:
        """Take out an event, or all of a conversation; what states something rejected is cleared when it is read."""
        kind, _, name = aim.partition(" ")
        if f"{kind} " != validity.A_STATEMENT:
            self._take_out(OF_ONE if f"{kind} " == validity.ALL_OF else _EVENT, name)

    def _gone(self) -> set[str]:
        return {str(aim) for (aim,) in self._db.execute("SELECT aim FROM gone")}

    def erase(self) -> None:
        """Leave no byte of what was taken out, nor of statements that were rejected: it is looked for line by line."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            rejected = validity.rejected_in(self._gone())
            for unit, *_, line in units_in(self._db, "TRUE") if rejected else ():
                event = fastjson.object_in(line)
                kept = validity.cleared(event, rejected)
                if kept != event:
                    self._take_out("id = ?", unit)
                    placing.place(self, self._names, [dict(kept)], set())
            self._words.erase()
            self._db.execute(_HAS_NONE)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def learn_home(self, conversation: str, what: str, said: str, order: tuple[str, str]) -> None:
        """Learn where a conversation worked, as first said; what it has said already moves there."""
        if self._db.execute(_AS_FIRST_SAID, (conversation, what, said, "\n".join(order))).rowcount:
            self._move(conversation)

    def home(self, conversation: str) -> dict[str, str]:
        """Tell where a conversation worked: `project` and `replica`, as far as anything said so."""
        return dict(self._db.execute("SELECT what, said FROM homes WHERE conversation = ?", (conversation,)))

    def has_own_summary(self, conversation: str) -> bool:
        """Tell whether a summary of an agent's own words stands there."""
        return bool(units_in(self._db, _SUMMARY, conversation, 0))

    def drop_drawn(self, conversation: str) -> None:
        """Take out the summaries a program drew."""
        self._take_out(_SUMMARY, conversation, 1)

    def order_at(self, place: int) -> tuple[str, str] | None:
        """Tell of when is what stands in a place."""
        row: tuple[str, str] | None = self._db.execute(_ORDER, (place,)).fetchone()
        return row

    def put(self, place: int, subject: str, event: "EventFields", *, drawn: bool) -> None:
        """Put a line in a place, instead of what stands there."""
        self._take_out(_PLACE, place)
        found = Findable(event)
        unit = self._db.execute(_INSERT, _row(None, place, found, Unit(event, subject, drawn=drawn))).lastrowid
        assert unit is not None
        self._words.put(_rows(unit, found))

    def _move(self, conversation: str) -> None:
        """Put what a conversation said to where it belongs by now."""
        home = self.home(conversation)
        for unit, subject, *_, line in units_in(self._db, OF_ONE, conversation):
            event = fastjson.object_in(line)
            if placing.subject_of(self._names, event, home) != subject:
                self._take_out("id = ?", unit)
                self._db.execute(_FELL_BEHIND)  # what it had replaced there is to be found again
                placing.say(self, self._names, event)

    def _fill(self, events: "Lines", gone: "AbstractSet[str]") -> None:
        """Take in a whole log: everything is put in its place before any of it is written, and its words last."""
        gathered = Gathered()
        placing.place(gathered, self._names, events, gone)
        homes = ((*about, said, "\n".join(order)) for about, (said, order) in gathered.homes.items())
        self._db.executemany("INSERT INTO homes VALUES (?, ?, ?, ?)", homes)
        found = [
            (number, place, Findable(unit.event), unit)
            for number, (place, unit) in enumerate(gathered.units.items(), 1)
        ]
        self._db.executemany(_INSERT, (_row(*one) for one in found))
        for statement in _INDEXES:
            self._db.execute(statement)
        self._words.fill(row for number, _, one, _ in found for row in _rows(number, one))

    def _take_out(self, where: str, *values: object) -> None:
        for unit, *_, line in units_in(self._db, where, *values):
            self._words.take_out(_rows(unit, Findable(fastjson.object_in(line))))
            self._db.execute("DELETE FROM units WHERE id = ?", (unit,))


def _row(number: int | None, place: int, found: Findable, unit: Unit) -> tuple[object, ...]:
    about = (found.id, found.ts, found.after, found.type, found.conversation)
    return (number, place, unit.subject, *about, unit.drawn, fastjson.dumps(dict(unit.event)))


def _rows(unit: int, found: Findable) -> "list[WordRow]":
    return [(unit << PARTS | part, tokens) for part, tokens in enumerate(found.rows)]
