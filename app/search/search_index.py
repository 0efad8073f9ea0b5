"""`cache/search.sqlite`, the reading half: what of the log can be found, and by which words; delete it freely.

Content      one row per line that can be found, with what stands of it (`standing_lines.py`); its words once, as tokens
             (`word_tables.py`). A line of which nothing stands has a number below zero, and no words.
Currency     whoever asks takes in what was appended since, first; `index_writer.py` does, where there is anything. A
             withdrawal hides its target from then on; what it brings back to light (an earlier wording, a drawn
             summary) is found once the index was made anew, which `is_outdated` asks for. Who reads a line takes out
             of it what a person does not want said: its words are erased by who has time for that.

Imported inside agents' hooks: standard library only.
"""

from eventlog.app.search.appended import UNTIL_ERASED, Appended, NotAppended, seen_in
from eventlog.app.search.database import OperationalError, connect
from eventlog.app.search.word_tables import (
    ALL_ROWS,
    KINDS,
    OF_ONE,
    PARTS,
    SEQUENCE,
    FullText,
    best_passages,
    fields_in,
    numbers,
    score_of,
    strings,
)
from eventlog.format import SESSION_END
from eventlog.projections.search.findable import CONVERSATION, Findable, texts_in
from eventlog.store.index_lookup import looked_at, name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection

    from eventlog.app.naming.known_projects import KnownProjects
    from eventlog.app.search.appended import Seen
    from eventlog.app.search.index_writer import IndexWriter
    from eventlog.app.search.word_tables import Answer, Ranges, Row, Score, Scores, Units
    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store
    from eventlog.store.index_lookup import FileStamp

VERSION = "16"  # of the tables: what a prompt goes by
_TEXTS_OF = """SELECT max(id), conversation FROM units WHERE type = 'conversation_text' AND id > 0
    AND conversation IN (SELECT value FROM json_each(?)) GROUP BY conversation"""
_ANY_OF = "SELECT 1 FROM units WHERE conversation IN (SELECT value FROM json_each(?)) LIMIT 1"
_CONVERSATIONS_OF = """SELECT id, subject || ' ' || conversation FROM units WHERE id IN (SELECT value FROM json_each(?))
    AND type = 'fact' AND conversation > ''"""
_ONE_OF = "id IN (SELECT value FROM json_each(?))"
_REJECTED = "SELECT aim FROM gone WHERE aim BETWEEN 'statement ' AND 'statement ~'"
_TIMES = """SELECT count(*) FROM units WHERE type = 'fact'
    AND (subject, same) = (SELECT subject, same FROM units WHERE event = ? AND id > 0)"""
_REPLACING = """id > 0 AND (subject, key) IN
    (SELECT subject, key FROM units WHERE conversation = ? AND id < 0 AND key IS NOT NULL)"""
_NUMBERS = "SELECT number FROM subjects WHERE subject IN (SELECT value FROM json_each(?))"
_LOOKED = "INSERT OR REPLACE INTO meta VALUES ('looked', ?)"
_BY_PROJECT = "CREATE INDEX IF NOT EXISTS by_project ON homes (said) WHERE what = 'project'"
_PROJECTS = """WITH RECURSIVE found (path) AS (SELECT min(said) FROM homes WHERE what = 'project' UNION ALL
    SELECT (SELECT min(said) FROM homes WHERE what = 'project' AND said > path) FROM found WHERE path IS NOT NULL)
    SELECT path FROM found WHERE path IS NOT NULL"""  # from each to the next: conversations are many
_AT_ONCE = 256  # units
_FEW_ROWS = 64  # are ranked at once: it takes a page of the file for most
_MAX_RANKED = 10_000  # rows with common words; of more, some of those that are looked at are ranked
_LOOKED_AT, _SAMPLE = 1200, 40
_FEW_TEXTS = 500  # are counted as fast as they are looked up
_PLACE = (1 << SEQUENCE) - 1  # those bits of a unit's number
_FEW_TOKENS = 12  # are paired
_MAX_LISTS, _MAX_THINGS = 64, 2000  # that are kept of what was read
_SUPPORTING = 40  # things of a subject; the facts among them support each other
NOT_WORTH_NOTING = 1 << 16  # bytes that say nothing to a search: to read them again takes less than to write that down


class _Recent:
    """The newest rows of words, and things with their words, as this process has read them in a `state` of an index.

    A process that asks again and again, as the server of an agent, reads none of them twice.
    """

    def __init__(self, state: str) -> None:
        self.state = state
        self.newest: dict[tuple[object, ...], Collection[int]] = {}
        self.things: dict[int, tuple[EventFields, str, str, list[str]]] = {}


_recent = _Recent("")


class Hit:
    """A thing found, what it is about ("" for the user, NOWHERE for no project), and how well it answers.

    It was said so many `times`, a fact in whichever letters, last at `last_at`; it is in doubt where another hit says
    the same but for a number; `newer` hits may oppose it; files its `line` names may be `gone`. `weights` are the words
    of the question, by what each tells: for the line that is told of it.
    """

    def __init__(self, fields: "EventFields", subject: str, score: float, last_at: str = "") -> None:
        self.fields = fields
        self.found = Findable(fields)
        self.subject = subject
        self.score = score
        self.last_at = last_at or self.found.ts
        self.times = 1
        self.is_doubtful = False
        self.newer: list[Hit] = []
        self.line = ""
        self.gone: Sequence[tuple[str, str]] = ()
        self.weights: Mapping[str, float] = {}


class Scope:
    """The scope of a search: about any of these subjects, of any of these types, recorded since; None, "": any."""

    def __init__(
        self, subjects: "Collection[str] | None" = None, types: "Collection[str]" = (), since: str = ""
    ) -> None:
        self.subjects = subjects
        self._types = types
        self._since = since

    @property
    def is_of_all(self) -> bool:
        """Return whether things of any type and time are looked for."""
        return not self._types and not self._since

    def holds(self, subject: str, kind: str, ts: str) -> bool:
        """Return whether a thing is looked for."""
        if self.subjects is not None and subject not in self.subjects:
            return False
        return (not self._types or kind in self._types) and ts >= self._since


class SearchIndex:
    """The index of a store, open; every method raises DatabaseError where the file cannot be read or written."""

    def __init__(self, path: str, names: "KnownProjects", patience: float) -> None:
        self.names = names
        self._patience = patience
        self._db: Connection = connect(path, timeout=patience, isolation_level=None)
        self.database = self._db  # for who reads its rows
        self._words = FullText(self._db)
        self._about: dict[str, str] = {}
        self._before = ""  # the day since which the last look was for changes
        self.grown: list[FileStamp] = []  # the files of such days, as it found them
        self.state = ""  # the same until it takes in more of the log; "" where there is more that matters

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def is_current(self) -> bool:
        """Return whether it has our tables."""
        self._look()
        self._words = KINDS.get(self._about.get("words", ""), FullText)(self._db)
        return self._about.get("version") == VERSION

    def is_outdated(self, program: str) -> bool:
        """Return whether another program made it, or a withdrawal may have brought something back to light."""
        return self._about.get("program") != program or self._about.get("behind", UNTIL_ERASED) != UNTIL_ERASED

    def is_behind(self) -> bool:
        """Return whether a decision may have brought something back that the rows lack."""
        return "behind" in self._about

    def erase(self) -> None:
        """Leave no byte of what is withdrawn."""
        if "remains" in self._about:
            self._writer().erase()
            self._look()

    def count(self) -> None:
        """Count the rows of common words again, where there are twice as many things as when that was done."""
        if self.texts() >= max(_FEW_TEXTS, 2 * int(self._about.get("counted", "0"))):
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._words.count()
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('counted', ?)", (str(self.texts()),))

    def create(self, words: str, program: str) -> None:
        """Make the tables, with that kind of words; raises OperationalError where SQLite has none of that kind."""
        from eventlog.app.search import index_writer

        self._words = KINDS[words](self._db)
        meta = (("version", VERSION), ("program", program), ("words", words))
        index_writer.create(self._db, self._words, meta)

    def catch_up(self, store: "Store", limit: int, *, every_day: bool = False, known: "Collection[bytes]" = ()) -> None:
        """Take in what was appended, and new names; raises NotAppended, ValueError or OSError as `appended` does.

        With `every_day`, also what another program wrote into an old file lately. A new index takes in the lines that
        are `known` of days that cannot be read.
        """
        if self._about.get("names", "") != self.names.digest:
            self._writer().follow_names()
            self._look()
        self._before, look = looked_at(store.log, "" if every_day else self._about.get("looked", ""))
        seen = seen_in(self._db, self._before)
        news = Appended.since(store, seen, limit, before=self._before)
        if every_day and news.overwrote(seen):
            raise NotAppended("a file was overwritten")
        self.grown = news.files
        news.lines += [(False, line, "") for line in known]
        is_noted, are_known = self._note(news, seen, store, limit)
        if look and are_known and news.is_all and all(stamp > look for stamp in news.seen):
            self._remember(look)
        self.state = "" if is_noted or news.events else self._about.get("state", "")

    def _writer(self) -> "IndexWriter":
        from eventlog.app.search.index_writer import IndexWriter

        return IndexWriter(self._db, self._words, self.names)

    def log_files(self) -> "list[FileStamp]":
        """List the day files as the last look at the log found them."""
        over = {stamp for stamp in seen_in(self._db) if stamp < self._before} if self._before else ()
        return sorted(over) + self.grown

    def _remember(self, look: str) -> None:
        """Note at which look the files were as seen, unless another process writes at this moment."""
        self._db.execute("PRAGMA busy_timeout = 0")
        try:
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.execute(_LOOKED, (look,))
        except OperationalError:
            return
        finally:
            self._db.execute("PRAGMA synchronous = FULL")  # what is erased next is
            self._db.execute(f"PRAGMA busy_timeout = {int(1000 * self._patience)}")

    def _note(self, news: Appended, seen: "Seen", store: "Store", limit: int) -> tuple[bool, bool]:
        """Take in what was appended, where it matters, or that takes less than to read it again.

        Return whether that was done, and whether all files are known: after a look that is noted, no others are looked
        for. What tells nothing is left where it cannot be written: on a full disk, or while another process writes.
        """
        tells = not (seen or self._before) or self._tells(news)  # a new index takes in all, not in memory
        are_known = {name_in(stamp) for stamp in news.seen} <= {name_in(stamp) for stamp in seen}
        if not tells and are_known and news.read < NOT_WORTH_NOTING:
            return False, True
        try:
            self._writer().take_in(news, seen, store, limit, self._before)
        except OperationalError:
            if tells:
                raise
            return False, are_known
        self._look()
        return True, True

    def _tells(self, news: Appended) -> bool:
        """Return whether what was appended changes anything; the start of a conversation without a word does not."""
        if any(event["type"] != "session_start" for event in news.events):
            return True
        begun = {str(event.get("conversation_id")) for event in news.events}
        return bool(begun) and self._db.execute(_ANY_OF, (strings(begun),)).fetchone() is not None

    def find(
        self,
        having: "Mapping[str, int]",
        prefix: str,
        scope: Scope,
        limit: int,
        units: "Units" = None,
        dialogues: "Mapping[str, Answer]" = {},  # noqa: B006 - nobody writes into it
        *,
        together: bool = False,
    ) -> "list[Hit]":
        """Find what has any of these tokens, or a word with this beginning; best first, of equals the newest.

        `units` are the numbers of the things that are ranked; None for all. A conversation answers by its text, or by
        its dialogue where that one answers better. Of common words only, some of the newest that have most are ranked.
        With `together`, a fact counts more where others of its conversation are found beside it.
        """
        from eventlog.projections.search.ranking import most_rows, supported  # a start searches for nothing

        ranges, texts = self._ranges(scope), self.texts()
        read: dict[int, Hit] = {}
        chosen, prefix = self._words.chosen(having, texts, prefix)
        times = [having.get(token, 0) for token in chosen]
        are_common = sum(times) > _MAX_RANKED and min(times) > most_rows(texts)
        if units is None and scope.is_of_all and are_common:
            recent = self._recent()
            sample = self._sample(recent, chosen, prefix, having, texts, ranges, max(_SAMPLE, 2 * limit))
            read, words = self._read_with_words(recent, sample)
            scores_of = _scoring(words, having, texts)
        else:
            scores_of = lambda terms, begin: self._words.scores(terms, begin, ranges, units)  # noqa: E731
        found = best_passages(scores_of, having, chosen, prefix)
        scores = {unit: score_of(answer) for unit, answer in found.items()}
        for unit, conversation in self._db.execute(_TEXTS_OF, (strings(dialogues),)) if dialogues else ():
            scores[unit] = max(scores.get(unit, 0.0), score_of(dialogues[conversation]))
        ranked = _best_first(scores)
        if together:  # prompts are told what answers by itself
            scores |= supported(scores, self._facts_of(ranked))
            ranked = _best_first(scores)
        hits = self.chosen([(scores[unit], unit) for unit in ranked], scope, limit, read)
        if len(hits) <= 1:
            return hits
        from eventlog.app.search.compared import compared  # most prompts find nothing to compare

        return compared(hits, self.having, self.texts())

    def _ranges(self, scope: Scope) -> "Ranges":
        """List the rows that are about the subjects of a scope."""
        if scope.subjects is None:
            return ALL_ROWS
        found = self._db.execute(_NUMBERS, (strings(scope.subjects),))
        starts = [number << SEQUENCE + PARTS for (number,) in found]
        return [(start, start + (1 << SEQUENCE + PARTS) - 1) for start in starts]

    def _recent(self) -> _Recent:
        """Find what was read in this state of the index, or nothing."""
        global _recent  # noqa: PLW0603 - a process asks one index after the other
        state, known = self._about.get("state", ""), _recent
        is_full = len(known.newest) > _MAX_LISTS or len(known.things) > _MAX_THINGS
        if is_full or not state or state != known.state:
            _recent = known = _Recent(state)
        return known

    def _sample(
        self,
        recent: _Recent,
        chosen: "Sequence[str]",
        prefix: str,
        having: "Mapping[str, int]",
        texts: int,
        ranges: "Ranges",
        limit: int,
    ) -> "Sequence[int]":
        """Number so many of the newest things with common words: those that have most of them."""
        from eventlog.projections.search.ranking import weighed

        begins = "" if having.get(prefix) else prefix
        weights = weighed({token: having[token] for token in chosen} | ({"": 0} if begins else {}), texts)
        of_each = max(limit, _LOOKED_AT // max(1, len(weights) * len(ranges)))
        # the newest rows of a subject are its newest things
        units = limit if len(weights) == 1 and ranges is not ALL_ROWS else None
        shares: dict[int, float] = {}
        for token, weight in weights.items():
            key = token or f"{begins} *", *ranges, of_each, units
            if key not in recent.newest:
                recent.newest[key] = self._words.newest(token, begins, ranges, of_each, units)
            for unit in recent.newest[key]:
                shares[unit] = shares.get(unit, 0.0) + weight
        minimum = sorted(shares.values(), reverse=True)[min(limit, len(shares)) - 1] if shares else 0.0
        return _best_first({unit: share for unit, share in shares.items() if share >= minimum})[:limit]

    def _facts_of(self, ranked: "Sequence[int]") -> "list[tuple[int, str]]":
        """Pair facts with their conversations: the best of each subject that the best things are about."""
        remaining = dict.fromkeys([unit >> SEQUENCE for unit in ranked[:_SUPPORTING]], _SUPPORTING)
        best = []
        for unit in ranked if len(ranked) > 1 else ():
            if remaining.get(unit >> SEQUENCE):
                remaining[unit >> SEQUENCE] -= 1
                best.append(unit)
        conversations = dict(self._db.execute(_CONVERSATIONS_OF, (numbers(best),))) if best else {}
        return [(unit, conversations[unit]) for unit in best if unit in conversations]

    def gone(self) -> set[str]:
        """Read what is withdrawn: the aims in force."""
        return {str(aim) for (aim,) in self._db.execute("SELECT aim FROM gone")}

    def projects(self) -> list[str]:
        """List the paths of the projects where conversations worked, on whichever machine; makes the index it needs."""
        self._db.execute(_BY_PROJECT)
        return [str(path) for (path,) in self._db.execute(_PROJECTS)]

    def summaries_of(self, conversation: str) -> "list[EventFields]":
        """List the summaries and texts of a conversation, oldest first."""
        rows = self._units_in(f"{OF_ONE} AND type != 'fact' ORDER BY coalesce(after, ts), event", conversation)
        return [fields for _, fields in self.allowed(rows)]

    def of_conversation(self, conversation: str) -> "list[Hit]":
        """List the statements of a conversation."""
        rows = self.allowed(self._units_in(OF_ONE, conversation))
        return [Hit(fields, subject, 0.0) for (_, subject, *_), fields in rows]

    def replacing(self, conversation: str) -> "list[Hit]":
        """List the facts that stand in the place of facts of a conversation, by their keys."""
        return [
            Hit(fields, row[1], 0.0, row[3]) for row, fields in self.allowed(self._units_in(_REPLACING, conversation))
        ]

    def in_full(self, hit: Hit) -> Hit:
        """Replace a summary drawn from a transcript by the text of its session; count how often a fact was recorded.

        A session has the files it changed, and what was drawn of its decisions.
        """
        if hit.found.type not in CONVERSATION:
            hit.times = self._db.execute(_TIMES, (hit.found.id,)).fetchone()[0] or 1
            return hit
        events = self.summaries_of(hit.found.conversation)
        texts = [event for event in events if event["type"] == "conversation_text"]
        if not texts:
            return hit
        if hit.found.type == "stage_summary" and hit.fields.get("layer") != SESSION_END:
            hit.found.files = texts_in(texts[-1], "files")
            return hit
        drawn = (event for event in events if event.get("layer") == SESSION_END)
        decisions = [text for event in drawn for text in texts_in(event, "decisions")]
        return Hit({**texts[-1], "decisions": decisions}, hit.subject, hit.score)

    def having(self, tokens: "Iterable[str]") -> dict[str, int]:
        """Count the rows that have each of the tokens."""
        terms = dict.fromkeys(tokens, 0)
        return terms | self._words.having(terms)

    def sharing(self, terms: "Mapping[str, int]", having: "Mapping[str, int]", scope: Scope) -> "Units":
        """Number what has a token of the query and any other of all; None where it is less work to rank more."""
        others = [token for token, times in having.items() if times and token not in terms]
        if sum(terms.values()) <= _FEW_ROWS or len(terms) + len(others) > _FEW_TOKENS:
            return None
        return self._words.sharing([token for token, times in terms.items() if times], others, self._ranges(scope))

    def texts(self) -> int:
        """Count the things there are, more or less."""
        return int(self._db.execute("SELECT ifnull(max(last), 0) FROM subjects").fetchone()[0])

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        return self._words.beginning(prefix, limit)

    def chosen(
        self,
        ranked: "list[tuple[float, int]]",
        scope: Scope,
        limit: int,
        read: "Mapping[int, Hit]" = {},  # noqa: B006 - nobody writes into it
    ) -> "list[Hit]":
        """Read the best of ranked things that are looked for, as far as they are not `read`; of equals the newest.

        In which order a machine came to know them says nothing.
        """
        hits: list[Hit] = []
        start, end = 0, 2 * limit  # of the best, most are what is looked for
        most = limit + _AT_ONCE
        while start < len(ranked) and (len(hits) < limit or (hits[-1].score == ranked[start][0] and len(hits) < most)):
            some = ranked[start:end]
            found = {**read, **self._read([unit for _, unit in some if unit not in read], scope)}
            for score, unit in some:
                if unit in found:
                    found[unit].score = score
                    hits.append(found[unit])
            start, end = end, end + _AT_ONCE
        hits.sort(key=lambda hit: (hit.score, hit.last_at, hit.found.id), reverse=True)
        return hits[:limit]

    def _read_with_words(
        self, recent: _Recent, units: "Sequence[int]"
    ) -> "tuple[dict[int, Hit], dict[int, list[str]]]":
        """Read things, and the tokens of each and of its passages."""
        things = recent.things
        missing = [unit for unit in units if unit not in things]
        for row, fields in self.allowed(self._units_in(_ONE_OF, numbers(missing)) if missing else ()):
            things[row[0]] = fields, row[1], row[3], Findable(fields).rows
        there = [(unit, things[unit]) for unit in units if unit in things]
        hits = {unit: Hit(fields, subject, 0.0, ts) for unit, (fields, subject, ts, _) in there}
        return hits, {unit: words for unit, (*_, words) in there}

    def _read(self, units: "Sequence[int]", scope: Scope) -> dict[int, Hit]:
        """Read those of some things that are looked for, by number."""
        rows = self._units_in(_ONE_OF, numbers(units)) if units else []
        allowed = self.allowed(row for row in rows if scope.holds(*row[1:4]))
        return {row[0]: Hit(fields, row[1], 0.0, row[3]) for row, fields in allowed}

    def _units_in(self, where: str, *values: object) -> "list[Row]":
        """Read the units that are so."""
        statement = f"SELECT id, subject, type, ts, coalesce(told, line) FROM units WHERE {where}"  # noqa: S608 - texts of this package
        return self._db.execute(statement, values).fetchall()

    def allowed(self, rows: "Iterable[Row]") -> "Iterable[tuple[Row, EventFields]]":
        """Pair rows with their texts, without those that a person rejected, or that a key has replaced."""
        withdrawn, found = self._db.execute(_REJECTED).fetchall(), [(row, fields_in(row[4])) for row in rows]
        if not withdrawn and all(row[2] != "stage_summary" for row, _ in found):
            return found
        from eventlog.app.search import standing_lines  # most rows need none of it

        return standing_lines.standing_rows(self._db, found, standing_lines.rejected_in(aim for (aim,) in withdrawn))

    def _look(self) -> None:
        self._about = dict(self._db.execute("SELECT name, value FROM meta"))


def _best_first(scores: "Mapping[int, float]") -> list[int]:
    """Order units by their scores, of equals the newest first."""
    return sorted(sorted(scores, key=_PLACE.__and__, reverse=True), key=scores.__getitem__, reverse=True)


def _scoring(read: "Mapping[int, list[str]]", having: "Mapping[str, int]", texts: int) -> "Scores":
    """Make the scoring of a few things by their own words."""
    from eventlog.projections.search.ranking import scanner

    words = {unit << PARTS | at: text for unit, texts_of in read.items() for at, text in enumerate(texts_of)}
    rows, scan = [*words], scanner([*words.values()], having, texts)

    def scores(terms: "Sequence[str]", prefix: str) -> "Iterable[Score]":
        found = scan(terms, prefix)
        return zip(map(rows.__getitem__, found), found.values(), strict=True)

    return scores
