"""`cache/search.sqlite`: what of the log can be found, and the words it is found by; delete it freely.

Content      one row per thing that holds (`validity.py`), with its line; its words once, as tokens (`word_tables.py`).
Currency     whoever asks takes in what was appended since, first. A withdrawal hides its target from then on; what it
             brings back to light (an earlier wording, a drawn summary) is found once the index was made anew, which
             `is_behind` asks for.
Writers      one at a time, in one transaction. Additions are not synced, withdrawals are.

Imported inside agents' hooks: standard library only.
"""

from eventlog import fastjson
from eventlog.app.search import placing, validity
from eventlog.app.search.appended import appended
from eventlog.app.search.lean_sqlite import connect
from eventlog.app.search.placing import Gathered, Unit
from eventlog.app.search.word_tables import FullText, Scanned
from eventlog.index_lookup import name_in
from eventlog.projections.search.findable import Findable
from eventlog.projections.search.ranking import BESIDE, side_by_side, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet
    from sqlite3 import Connection

    from eventlog.app.search.appended import Lines, Seen
    from eventlog.app.search.project_names import ProjectNames
    from eventlog.app.search.word_tables import WordRow, WordTable
    from eventlog.index_lookup import FileStamp
    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store

    Row = tuple[int, str, str, str, bytes]  # number, subject, type, time and line of a unit

_VERSION = "5"
_PARTS = 6  # bits of a row's number that tell the passage; 0 is the whole
_TABLES: "dict[str, Callable[[Connection], WordTable]]" = {"fts5": FullText, "scan": Scanned}
_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE seen (name TEXT PRIMARY KEY, stamp TEXT) WITHOUT ROWID",
    """CREATE TABLE homes (conversation TEXT, what TEXT, said TEXT, at TEXT, PRIMARY KEY (conversation, what))
        WITHOUT ROWID""",
    "CREATE TABLE gone (aim TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE units (id INTEGER PRIMARY KEY, place INTEGER, subject TEXT, event TEXT, ts TEXT, type TEXT,
        conversation TEXT, drawn INTEGER, line BLOB)""",
)
_INDEXES = (  # made once the table is filled: each in one go
    "CREATE UNIQUE INDEX IF NOT EXISTS by_place ON units (place)",
    "CREATE INDEX IF NOT EXISTS by_event ON units (event)",
    "CREATE INDEX IF NOT EXISTS by_conversation ON units (conversation)",
)
_INSERT = "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ORDER = "SELECT ts, event FROM units WHERE place = ?"

_EVENT, _OF_ONE, _PLACE = "event = ?", "conversation = ?", "place = ?"
_SUMMARY = "conversation = ? AND type = 'stage_summary' AND drawn = ?"
_ONE_OF = "id IN (SELECT value FROM json_each(?))"
_AT_ONCE = 256  # units
_NOT_WORTH_NOTING = 1 << 16  # bytes that say nothing to a search: to read them again takes less than to write that down
_FELL_BEHIND = "INSERT OR REPLACE INTO meta VALUES ('behind', '1')"
_AS_FIRST_SAID = """INSERT INTO homes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET said = excluded.said, at = excluded.at WHERE excluded.at < at"""


class Hit:
    """One thing found, what it is about ("" for the user, NOWHERE for no project), and how well it answers."""

    def __init__(self, line: bytes, subject: str, score: float) -> None:
        self.fields = fastjson.object_in(line)
        self.found = Findable(self.fields)
        self.subject = subject
        self.score = score


class Scope:
    """Which things are looked for: about one of these subjects, of one of these types, said since; None, "": any."""

    def __init__(
        self, subjects: "Collection[str] | None" = None, types: "Collection[str]" = (), since: str = ""
    ) -> None:
        self._subjects = subjects
        self._types = types
        self._since = since

    def holds(self, subject: str, kind: str, ts: str) -> bool:
        """Tell whether a thing is looked for."""
        if self._subjects is not None and subject not in self._subjects:
            return False
        return (not self._types or kind in self._types) and ts >= self._since


class SearchIndex:
    """The index of one store, open; whatever it does raises DatabaseError where the file cannot be read or written."""

    def __init__(self, path: str, names: "ProjectNames", patience: float) -> None:
        self._names = names
        self._db: Connection = connect(path, timeout=patience, isolation_level=None)
        self._words: WordTable = FullText(self._db)
        self.log_files: list[FileStamp] = []  # as the last look at the log found them

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def create(self, words: str) -> None:
        """Make the tables, with that kind of words; raises OperationalError where SQLite has none of that kind."""
        self._db.execute("PRAGMA journal_mode = MEMORY")  # nobody else sees it yet
        self._db.execute("PRAGMA cache_size = -65536")
        self._words = _TABLES[words](self._db)
        self._words.create()
        for statement in _SCHEMA:
            self._db.execute(statement)
        told = (("version", _VERSION), ("words", words), ("names", self._names.digest))
        self._db.executemany("INSERT INTO meta VALUES (?, ?)", told)

    def is_current(self) -> bool:
        """Tell whether this program made it, with the names projects have now."""
        meta = self._meta()
        self._words = _TABLES.get(meta.get("words", ""), FullText)(self._db)
        return (meta.get("version"), meta.get("names")) == (_VERSION, self._names.digest)

    def is_behind(self) -> bool:
        """Tell whether a withdrawal may have brought something back to light."""
        return "behind" in self._meta()

    def catch_up(self, store: "Store", most: int) -> None:
        """Take in what was appended; raises NotAppended, ValueError or OSError as `appended` does."""
        seen = self._seen()
        news = appended(store, seen, validity.TELLS, most)
        self.log_files = news.files
        if not news.seen or (not news.events and news.read < _NOT_WORTH_NOTING):
            return
        withdraws = any(event["type"] in validity.WITHDRAWS for event in news.events)
        self._db.execute(f"PRAGMA synchronous = {'FULL' if withdraws else 'OFF'}")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if seen != (seen := self._seen()):  # somebody else has taken it in meanwhile
                news = appended(store, seen, validity.TELLS, most)
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

    def find(self, having: "Mapping[str, int]", prefix: str, scope: Scope, limit: int) -> "list[Hit]":
        """Find what has any of these tokens, or a word with this beginning; best first, of equals the newest."""
        scores: dict[int, tuple[float, float]] = {}  # of the whole, and of its best passage
        chosen = telling(having, self.texts())
        pairs = side_by_side(having, chosen)
        if prefix and not self._words.beginning(prefix, 1):
            chosen += self._words.having(_stems(prefix))
        beside = dict(self._words.scores(pairs, ""))
        for row, of_words in self._words.scores(chosen, prefix):
            score = of_words + BESIDE * beside.get(row, 0.0)
            whole, passage = scores.get(row >> _PARTS, (0.0, 0.0))
            is_whole = row & ((1 << _PARTS) - 1) == 0
            scores[row >> _PARTS] = (score, passage) if is_whole else (whole, max(passage, score))
        ranked = sorted(((whole + (passage or whole), unit) for unit, (whole, passage) in scores.items()), reverse=True)
        return self._chosen(ranked, scope, limit)

    def said_in(self, conversation: str) -> "list[EventFields]":
        """List the summaries and texts of a conversation, oldest first."""
        rows = self._units("conversation = ? AND type != 'fact' ORDER BY ts, event", conversation)
        return [fastjson.object_in(line) for *_, line in rows]

    def of_conversation(self, conversation: str) -> "list[Hit]":
        """List what one conversation said."""
        return [Hit(line, subject, 0.0) for _, subject, *_, line in self._units(_OF_ONE, conversation)]

    def having(self, tokens: "Iterable[str]") -> dict[str, int]:
        """Count the rows that have each of the tokens."""
        asked = dict.fromkeys(tokens, 0)
        return asked | self._words.having(asked)

    def texts(self) -> int:
        """Count the things there are, more or less."""
        return int(self._db.execute("SELECT ifnull(max(id), 0) FROM units").fetchone()[0])

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        return self._words.beginning(prefix, limit)

    def _chosen(self, ranked: "list[tuple[float, int]]", scope: Scope, limit: int) -> "list[Hit]":
        hits: list[Hit] = []
        start, end = 0, 2 * limit  # of the best, most are what is looked for
        while start < len(ranked) and len(hits) < limit:
            some = ranked[start:end]
            units = {row[0]: row for row in self._units(_ONE_OF, _list(unit for _, unit in some))}
            for score, unit in some:
                if unit in units and scope.holds(*units[unit][1:4]) and len(hits) < limit:
                    hits.append(Hit(units[unit][4], units[unit][1], score))
            start, end = end, end + _AT_ONCE
        return hits

    def _units(self, where: str, *values: object) -> "list[Row]":
        statement = f"SELECT id, subject, type, ts, line FROM units WHERE {where}"  # noqa: S608 - texts of this module
        return self._db.execute(statement, values).fetchall()

    def _withdraw(self, events: "Lines", *, is_new: bool) -> set[str]:
        """Take out what is withdrawn, and return all that ever was."""
        news = [event for event in events if event["type"] in validity.WITHDRAWS]
        gone = validity.withdrawn(news) if is_new else set(filter(None, map(validity.aim_of, news)))
        self._db.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(aim,) for aim in gone])
        if gone and not is_new:
            self._db.execute(_FELL_BEHIND)
            for aim in gone:
                self._hide(aim)
        return {str(aim) for (aim,) in self._db.execute("SELECT aim FROM gone")}

    def _hide(self, aim: str) -> None:
        if aim.startswith(validity.A_STATEMENT):
            self._clear(aim)
        else:
            kind, _, name = aim.partition(" ")
            self._take_out(_OF_ONE if f"{kind} " == validity.ALL_OF else _EVENT, name)

    def _clear(self, aim: str) -> None:
        """Take a statement out of whatever states it, in whichever wording: by its tokens that is not to be found."""
        may_state = validity.may_state(aim)
        for unit, *_, line in self._units("TRUE"):
            if may_state(line):
                event = fastjson.object_in(line)
                kept = validity.cleared(event, [aim])
                if kept != event:
                    self._take_out("id = ?", unit)
                    placing.place(self, self._names, [dict(kept)], set())

    def learn_home(self, conversation: str, what: str, said: str, order: tuple[str, str]) -> None:
        """Learn where a conversation worked, as first said; what it has said already moves there."""
        if self._db.execute(_AS_FIRST_SAID, (conversation, what, said, "\n".join(order))).rowcount:
            self._move(conversation)

    def home(self, conversation: str) -> dict[str, str]:
        """Tell where a conversation worked: `project` and `replica`, as far as anything said so."""
        return dict(self._db.execute("SELECT what, said FROM homes WHERE conversation = ?", (conversation,)))

    def has_own_summary(self, conversation: str) -> bool:
        """Tell whether a summary of an agent's own words stands there."""
        return bool(self._units(_SUMMARY, conversation, 0))

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
        for unit, subject, *_, line in self._units(_OF_ONE, conversation):
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
        for unit, *_, line in self._units(where, *values):
            self._words.take_out(_rows(unit, Findable(fastjson.object_in(line))))
            self._db.execute("DELETE FROM units WHERE id = ?", (unit,))

    def _seen(self) -> "Seen":
        (stamps,) = self._db.execute("SELECT group_concat(stamp, char(10)) FROM seen").fetchone()
        return set(stamps.split("\n")) if stamps else set()

    def _meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM meta"))


def _stems(typed: str) -> "Iterable[str]":
    """Yield what may be left of a longer word somebody is typing, once it is without its ending: `settin` is `set`."""
    return (typed[:length] for length in range(max(3, len(typed) - 3), len(typed)))


def _list(units: "Iterable[int]") -> str:
    return f"[{','.join(map(str, units))}]"


def _row(number: int | None, place: int, found: Findable, unit: Unit) -> tuple[object, ...]:
    about = (found.id, found.ts, found.type, found.conversation)
    return (number, place, unit.subject, *about, unit.drawn, fastjson.dumps(dict(unit.event)))


def _rows(unit: int, found: Findable) -> "list[WordRow]":
    return [(unit << _PARTS | part, tokens) for part, tokens in enumerate(found.rows)]
