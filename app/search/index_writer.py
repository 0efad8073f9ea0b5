"""`cache/search.sqlite`, the writing half: what was appended to the log is put in, or taken out.

Writers      one at a time, in one transaction. Additions are not synced, withdrawals are.

Imported inside agents' hooks where something was appended that can be found: standard library only.
"""

from eventlog.app.search import standing_lines
from eventlog.app.search.appended import UNTIL_ERASED, WITHDRAWS, Appended, NotAppended, seen_in
from eventlog.app.search.standing_lines import (
    CORRECTING,
    FoundLine,
    Standing,
    WholeLog,
    homes_in,
    place_of,
    rejected_in,
    standing_in,
    subject_of,
)
from eventlog.app.search.word_tables import PARTS, SEQUENCE, fields_in, strings
from eventlog.fast import fastjson, os
from eventlog.format.marks import A_STATEMENT, ALL_OF, AN_EVENT
from eventlog.projections.search.findable import FINDABLE, Findable, text_in
from eventlog.store.index_lookup import name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from sqlite3 import Connection

    from eventlog.app.naming.known_projects import KnownProjects
    from eventlog.app.search.appended import Lines, Seen
    from eventlog.app.search.word_tables import FullText, WordRow
    from eventlog.format.marks import RejectedStatements
    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store

    _Shown = tuple[str, EventFields | None]

_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID",
    "CREATE TABLE seen (name TEXT PRIMARY KEY, stamp TEXT) WITHOUT ROWID",
    """CREATE TABLE homes (conversation TEXT, what TEXT, said TEXT, at TEXT, PRIMARY KEY (conversation, what))
        WITHOUT ROWID""",
    "CREATE TABLE names (replica TEXT, path TEXT, name TEXT)",
    "CREATE TABLE gone (aim TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE subjects (number INTEGER PRIMARY KEY, subject TEXT UNIQUE, last INTEGER)",
    """CREATE TABLE units (id INTEGER PRIMARY KEY, subject TEXT, event TEXT, ts TEXT, after TEXT, type TEXT,
        conversation TEXT, key TEXT, same BLOB, line BLOB, told BLOB)""",
)
_INDEXES = (  # made once the table is filled: each in one go
    "CREATE INDEX IF NOT EXISTS by_event ON units (event)",
    "CREATE INDEX IF NOT EXISTS by_conversation ON units (conversation)",
    "CREATE INDEX IF NOT EXISTS by_time ON units (subject, ts)",
    "CREATE INDEX IF NOT EXISTS by_text ON units (subject, same) WHERE type = 'fact'",
    "CREATE INDEX IF NOT EXISTS by_key ON units (subject, key) WHERE key IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS by_correction ON units (subject) WHERE {CORRECTING.partition(' AND ')[2]}",
)
_INSERT = "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TELL = "UPDATE units SET id = ?, ts = ?, told = ? WHERE id = ?"
_LINES = "SELECT id, subject, line, ts, told FROM units WHERE "
_EVENT, _CONVERSATION = "event = ?", "conversation = ?"
_SAME, _KEYED = "subject = ? AND same = ? AND type = 'fact'", "subject = ? AND key = ?"
_FELL_BEHIND = "INSERT OR REPLACE INTO meta VALUES ('behind', '1')"
_BEHIND_UNTIL_ERASED = "INSERT OR IGNORE INTO meta VALUES ('behind', ?)"
_ERASED = "DELETE FROM meta WHERE name = 'remains' OR (name = 'behind' AND value = ?)"
_WITHDREW = """INSERT INTO meta VALUES ('withdrew', ?) ON CONFLICT (name)
    DO UPDATE SET value = max(value, excluded.value)"""
_CHANGED = "INSERT OR REPLACE INTO meta VALUES ('state', ?)"
_RENAMED = "INSERT OR REPLACE INTO meta VALUES ('names', ?)"
_LINES_ABOUT = """SELECT conversation, count(*) FROM units WHERE conversation IN
    (SELECT conversation FROM units WHERE subject IN (SELECT value FROM json_each(?))) GROUP BY conversation"""
_PLACE = (1 << SEQUENCE) - 1  # those bits of a unit's number
_MAX_MOVED = 500  # lines; to make an index anew takes less than to move more of them
_HAS_REMAINS = "INSERT OR REPLACE INTO meta VALUES ('remains', '1')"
_WITHDRAWING = [f'"{name}"'.encode() for name in WITHDRAWS]
_FIRST_HOME = """INSERT INTO homes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET said = excluded.said, at = excluded.at WHERE excluded.at < at"""


def create(database: "Connection", words: "FullText", meta: "Iterable[tuple[str, str]]") -> None:
    """Make the tables in an empty file, and note what it is; raises OperationalError for words SQLite does not know."""
    database.execute("PRAGMA page_size = 1024")  # one more fact changes a few bytes in each index, and writes the page
    database.execute("PRAGMA journal_mode = MEMORY")  # nobody else sees it yet
    database.execute("PRAGMA cache_size = -8192")
    words.create()
    for statement in _SCHEMA:
        database.execute(statement)
    database.executemany("INSERT INTO meta VALUES (?, ?)", meta)


class IndexWriter:
    """The writer of an open index, by the rules of `standing_lines`."""

    def __init__(self, database: "Connection", words: "FullText", names: "KnownProjects") -> None:
        self._db = database
        self._words = words
        self._names = names
        self._follows_names = False
        self._places: dict[int, int] = {}  # of lines whose project has another name, among all units
        database.execute("PRAGMA secure_delete = ON")

    def take_in(self, news: "Appended", seen: "Seen", store: "Store", limit: int, before: str = "") -> None:
        """Take in what was appended since so much was seen of days from `before` on; raises as `appended` does."""
        withdraws = any(any(name in line for name in _WITHDRAWING) for _, line, _ in news.lines)
        self._db.execute(f"PRAGMA synchronous = {'FULL' if withdraws else 'OFF'}")
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            if seen != seen_in(self._db, before):  # somebody else has taken it in meanwhile
                seen = seen_in(self._db)
                news = Appended.since(store, seen, limit)
            if seen:
                withdrawals = [event for event in news.events if event["type"] in WITHDRAWS]
                arriving = {text_in(event, "id") for event in news.events if event["type"] in FINDABLE}
                self._add(news.events, self._withdraw(withdrawals, arriving, is_new=False))
            else:
                self._fill(news)
            rows = [(name_in(stamp), stamp) for stamp in news.seen]
            self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", rows)
            self._db.execute(_CHANGED, (os.urandom(8).hex(),))

    def follow_names(self) -> None:
        """Move lines to the names that projects have now; raises NotAppended where many or not alone."""
        self._follows_names = True
        self._db.execute("PRAGMA synchronous = OFF")
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            changes = self._names.changes(self._db.execute("SELECT * FROM names"))
            found = self._lines_about(then for then, _ in changes)
            if sum(found.values()) > _MAX_MOVED or (found and self._lines_about(now for _, now in changes)):
                raise NotAppended("a project with much in it, or with others in it")
            moved = [line for conversation in found for line in self._moved(conversation)]
            pairs = zip(moved[::2], moved[1::2], strict=True)
            self._places = {new.number: old.number & _PLACE for old, new in pairs if old.number > 0}
            self._tell(moved, rejected_in(self._gone()))
            self._db.execute("DELETE FROM names")
            self._db.executemany("INSERT INTO names VALUES (?, ?, ?)", self._names.places())
            self._db.execute(_RENAMED, (self._names.digest,))
            self._db.execute(_CHANGED, (os.urandom(8).hex(),))
        self._follows_names = False

    def _lines_about(self, subjects: "Iterable[str]") -> dict[str, int]:
        """Count the lines of the conversations about these subjects."""
        return dict(self._db.execute(_LINES_ABOUT, (strings(subjects),)))

    def _withdraw(self, news: "Lines", arriving: "AbstractSet[str]", *, is_new: bool) -> set[str]:
        """Take out what is withdrawn, also of the lines with ids that are `arriving`; return all that ever was."""
        withdrawn = standing_lines.aims_of(news, in_force=is_new) if news else set()
        self._db.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(aim,) for aim in withdrawn])
        if news or is_new:
            of_plans = (str(event["ts"]) for event in news if self._may_be_planned(event, arriving))
            self._db.execute(_WITHDREW, (max(of_plans, default=""),))
        ever = self._gone()
        if withdrawn and not is_new:
            self._hide(withdrawn, {AN_EVENT + event_id for event_id in arriving})
            if rejected_in(withdrawn):
                self._db.execute(_BEHIND_UNTIL_ERASED, (UNTIL_ERASED,))
            if any(f"{AN_EVENT}{event['id']}" in ever for event in news):
                self._db.execute(_FELL_BEHIND)  # it was taken back before it came
        return ever

    def _may_be_planned(self, withdrawal: "EventFields", arriving: "AbstractSet[str]") -> bool:
        """Return whether a plan entry may be withdrawn: a conversation, or an event that is no line to be found."""
        target = text_in(withdrawal, "target")
        is_line = target in arriving or self._db.execute("SELECT 1 FROM units WHERE event = ?", (target,)).fetchone()
        return bool(text_in(withdrawal, "conversation") or (target and not is_line))

    def _hide(self, withdrawn: "AbstractSet[str]", arriving: "AbstractSet[str]") -> None:
        """Take out events, and all of conversations; what states something rejected is cleared when it is read.

        What was not there and does not arrive either may be a withdrawal: that would bring something back.
        """
        hidden: list[_IndexedLine] = []
        for aim in withdrawn:
            if not aim.startswith(A_STATEMENT):
                found = self._lines(_CONVERSATION if aim.startswith(ALL_OF) else _EVENT, aim.partition(" ")[2])
                for line in found:
                    self._take_out(line)
                hidden += found
        if hidden or rejected_in(withdrawn):
            self._db.execute(_HAS_REMAINS)
        events = {aim for aim in withdrawn if aim.startswith(AN_EVENT)}
        if not events <= arriving | {AN_EVENT + line.id for line in hidden}:
            self._db.execute(_FELL_BEHIND)
        self._tell(hidden, rejected_in(self._gone()))

    def _gone(self) -> set[str]:
        return {str(aim) for (aim,) in self._db.execute("SELECT aim FROM gone")}

    def erase(self) -> None:
        """Leave no byte of what was taken out, nor of statements that were rejected: it is looked for line by line."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            states_some = self._db.execute("SELECT 1 FROM meta WHERE name = 'behind'").fetchone()
            self._db.execute(_ERASED, (UNTIL_ERASED,))
            rejected = rejected_in(self._gone())
            changed: list[FoundLine] = []
            for row in self._db.execute(_LINES + "TRUE").fetchall() if states_some and rejected else ():
                before = fields_in(row[2])
                event = standing_lines.marked(before, rejected)
                if event != before:
                    line = _IndexedLine(*row)  # most are as they were
                    self._take_out(line)
                    changed.append(line if line.is_fact else self._insert(event, line.subject))
                    if line.shown:
                        self._places[changed[-1].number] = line.number & _PLACE
            self._tell(changed, rejected)
            self._words.erase()
            self._db.execute(_CHANGED, (os.urandom(8).hex(),))

    def _add(self, events: "Lines", withdrawn: "AbstractSet[str]") -> None:
        """Insert lines, and update what stands of all that they can change."""
        changed: list[FoundLine] = []
        for key, (where, order) in homes_in(events).items():
            if self._db.execute(_FIRST_HOME, (*key, where, "\n".join(order))).rowcount:
                changed += self._moved(key[0])
        rejected = rejected_in(withdrawn)
        for found in filter(None, map(FoundLine.of, events)):
            remaining, there = found.without(withdrawn, rejected), self._lines(_EVENT, found.id)
            if any(line.event not in (found.event, remaining and remaining.event) for line in there):
                raise NotAppended("another line of an event: only reading both can decide")
            if remaining and not there:
                subject = subject_of(self._names, place_of(remaining.event), self._home(remaining.conversation))
                changed.append(self._insert(remaining.event, subject))
        self._tell(changed, rejected)

    def _home(self, conversation: str) -> dict[str, str]:
        return dict(self._db.execute("SELECT what, said FROM homes WHERE conversation = ?", (conversation,)))

    def _moved(self, conversation: str) -> "Iterator[FoundLine]":
        """Yield the events of a conversation, where it was and where it belongs by now, as far as that differs."""
        home = self._home(conversation)
        for line in self._lines(_CONVERSATION, conversation):
            subject = subject_of(self._names, place_of(line.event), home)
            if subject != line.subject:
                self._take_out(line)
                yield line
                yield self._insert(line.event, subject)

    def _insert(self, event: "EventFields", subject: str) -> FoundLine:
        """Insert a line, of which nothing is shown yet."""
        line = FoundLine(event, subject, self._next_hidden())
        self._db.execute(_INSERT, _row(line))
        return line

    def _next_hidden(self) -> int:
        return min(0, int(self._db.execute("SELECT ifnull(min(id), 0) FROM units").fetchone()[0])) - 1

    def _next_shown(self, subject: str, place: int) -> int:
        """Number a unit of a subject: behind its number is the place among all units, behind all others if it is 0."""
        self._db.execute("INSERT OR IGNORE INTO subjects (subject, last) VALUES (?, 0)", (subject,))
        place = place or 1 + int(self._db.execute("SELECT max(last) FROM subjects").fetchone()[0])
        self._db.execute("UPDATE subjects SET last = max(last, ?) WHERE subject = ?", (place, subject))
        (number,) = self._db.execute("SELECT number FROM subjects WHERE subject = ?", (subject,)).fetchone()
        return int(number) << SEQUENCE | place

    def _tell(self, changed: "Sequence[FoundLine]", rejected: "RejectedStatements") -> None:
        """Update what stands of lines that changed, and of those that have the same text, key or conversation."""
        differing: list[tuple[_IndexedLine, Standing | None]] = []
        for conversation in {line.conversation for line in changed if not line.is_fact}:
            saved = self._lines(f"{_CONVERSATION} AND type != 'fact'", conversation)
            differing += _differing(saved, standing_in(saved, rejected))
        facts = [line for line in changed if line.is_fact]
        near = {(line.subject, same) for line in facts for same in (line.same, *line.instead_of)}
        for subject, key in {(line.subject, line.key) for line in facts if line.key}:
            near |= {(subject, line.same) for line in self._lines(_KEYED, subject, key)}
        for subject, same in near:
            saved = self._lines(_SAME, subject, same)
            keys = {line.key for line in saved if line.key}
            rivals = [line for key in keys for line in self._lines(_KEYED, subject, key) if line.same != same]
            rivals += [line for line in self._lines(CORRECTING, subject) if same in line.instead_of]
            differing += _differing(saved, standing_in([*saved, *rivals], rejected))
        fresh = {line.number for line in changed}
        added: list[WordRow] = []
        for line, standing in sorted(differing, key=lambda pair: (pair[1].last if pair[1] else pair[0]).order):
            added += self._settle(line, _shown(standing) if standing else None, is_fresh=line.number in fresh)
        self._words.put(sorted(added))  # FTS5 writes all it has in memory before a row that is not behind the last one

    def _settle(self, line: "_IndexedLine", shown: "_Shown | None", *, is_fresh: bool) -> "list[WordRow]":
        """Store what is shown of a line, and nothing else; return the rows of its words."""
        if line.shown:
            self._words.take_out(_rows(line.number, line.shown[1] or line.event))
        if shown and not is_fresh and (not line.shown or shown[0] < line.shown[0]):
            self._db.execute(_FELL_BEHIND)  # what comes back to light is not the newest
        stays = line.shown and shown and line.shown[0] == shown[0]
        place = self._places.pop(line.number, 0)
        if shown and not (place or line.shown) and self._follows_names:
            raise NotAppended("what comes to light where a project parts is not the newest")
        number = line.number if stays else self._next_shown(line.subject, place) if shown else self._next_hidden()
        ts, text = shown or (str(line.event["ts"]), None)
        self._db.execute(_TELL, (number, ts, fastjson.dumps(dict(text)) if text else None, line.number))
        return _rows(number, text or line.event) if shown else []

    def _fill(self, news: "Appended") -> None:
        """Take in a whole log: what stands of it is known before any is written, and its words come first."""
        log = WholeLog(news)
        news.lines.clear()
        withdrawn = self._withdraw(
            log.withdrawing, log.ids({text_in(event, "target") for event in log.withdrawing}), is_new=True
        )
        rows = ((*key, home, "\n".join(order)) for key, (home, order) in log.homes.items())
        self._db.executemany("INSERT INTO homes VALUES (?, ?, ?, ?)", rows)
        lines = log.lines(self._names, withdrawn)
        del log  # a long one leaves little memory
        stands = sorted(standing_in(lines, rejected_in(withdrawn)), key=lambda standing: standing.last.order)
        self._number(stands, lines)
        self._words.fill(row for standing in stands for row in _rows(standing.line.number, standing.fields))
        self._db.executemany(_INSERT, (_row(standing.line, _shown(standing)) for standing in stands))
        self._db.executemany(_INSERT, (_row(line) for line in lines if line.number < 0))
        for statement in _INDEXES:
            self._db.execute(statement)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('counted', ?)", (str(len(stands)),))

    def _number(self, stands: "list[Standing]", lines: "Iterable[FoundLine]") -> None:
        """Number the units of a whole log, which are in order, and put them in the order of their numbers."""
        subjects: dict[str, int] = {}
        last: dict[str, int] = {}
        for place, standing in enumerate(stands, 1):
            subject = standing.line.subject
            standing.line.number = subjects.setdefault(subject, len(subjects) + 1) << SEQUENCE | place
            last[subject] = place
        self._db.executemany(
            "INSERT INTO subjects VALUES (?, ?, ?)", ((subjects[name], name, last[name]) for name in last)
        )
        # a row behind the others is added to its part of the index
        stands.sort(key=lambda standing: standing.line.number)
        for number, line in enumerate((line for line in lines if not line.number), 1):
            line.number = -number

    def _lines(self, where: str, *values: object) -> "list[_IndexedLine]":
        return [_IndexedLine(*row) for row in self._db.execute(_LINES + where, values).fetchall()]

    def _take_out(self, line: "_IndexedLine") -> None:
        if line.shown:
            self._words.take_out(_rows(line.number, line.shown[1] or line.event))
        self._db.execute("DELETE FROM units WHERE id = ?", (line.number,))


class _IndexedLine(FoundLine):
    """A line in the index, and what is shown of it: when it was last recorded, and its text where that is not all."""

    def __init__(self, number: int, subject: str, line: bytes, ts: str, shown: bytes | None) -> None:
        super().__init__(fields_in(line), subject, number)
        self.shown: _Shown | None = (ts, fields_in(shown) if shown else None) if number > 0 else None


def _differing(
    lines: "list[_IndexedLine]", stands: "Iterable[Standing]"
) -> "Iterator[tuple[_IndexedLine, Standing | None]]":
    """Pair those of these lines of which something else stands than is shown with what does."""
    by_number = {standing.line.number: standing for standing in stands}
    for line in lines:
        standing = by_number.get(line.number)
        if (_shown(standing) if standing else None) != line.shown:
            yield line, standing


def _shown(standing: Standing) -> "_Shown":
    return standing.last.ts, standing.fields if standing.differ else None


def _row(line: FoundLine, shown: "_Shown | None" = None) -> tuple[object, ...]:
    ts, text = shown or (line.ts, None)
    columns = (line.subject, line.id, ts, line.after or None, line.type, line.conversation, line.key, line.same)
    whole = line.line or fastjson.dumps(dict(line.event))
    return (line.number, *columns, whole, fastjson.dumps(dict(text)) if text else None)


def _rows(unit: int, fields: "EventFields") -> "list[WordRow]":
    return [(unit << PARTS | part, tokens) for part, tokens in enumerate(Findable(fields).rows)]
