"""The words of the index: a full-text table of SQLite, and a plain table to scan where SQLite has no such tables.

A row is a text as tokens joined by spaces; its number is that of its unit and, in the last bits, of its passage. The
number of a unit begins with that of its subject: what is about a subject is a range of rows, so that a query costs what
there is about that subject, and not what there is in all.
Imported inside agents' hooks: standard library only.
"""

from eventlog.app.search.appended import decode_line
from eventlog.app.search.database import DatabaseError
from eventlog.fast import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection

    Row = tuple[int, str, str, str, bytes]  # number, subject, type, time and line of a unit
    WordRow = tuple[int, str]
    Ranges = Sequence[tuple[int, int]]  # of rows, both ends included
    Units = Collection[int] | None  # those whose rows are scored; None: all
    Score = tuple[int, float]  # of a row
    Scores = Callable[[Sequence[str], str], Iterable[Score]]  # of rows with any of these tokens, pairs or beginnings
    Answer = tuple[float, float, int]  # how well the whole answers, its best passage, and which one that is


PARTS = 6  # bits of a row's number that tell the passage
SEQUENCE = 36  # bits of a unit's number that tell its place among all; those before them tell its subject
ALL_ROWS = ((0, (1 << 63) - 1),)
OF_ONE = "conversation = ? AND id > 0"
PASSAGE = (1 << PARTS) - 1  # those bits; 0 is the whole
_TOKENIZER = "unicode61 remove_diacritics 0 tokenchars '_-./:@+#'"
_COMMON = "CREATE TABLE common (term TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID"
_PUT = "INSERT INTO words (rowid, tokens) VALUES (?, ?)"
_MERGE = "INSERT INTO words (words) VALUES ('optimize')"
_PART_BYTES = "INSERT INTO words (words, rank) VALUES ('hashsize', ?)"
_MATCHING = "SELECT rowid FROM words WHERE words MATCH ?"
_SCORES = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?"
_IN = "rowid BETWEEN ? AND ?"
_WITHIN = f" AND {_IN}"
_OF_UNITS = f" AND rowid >> {PARTS} IN (SELECT value FROM json_each(?))"  # noqa: S608 - a number
_NEWEST = " ORDER BY rowid DESC LIMIT ?"
_HAVING = "SELECT value, doc FROM json_each(?) CROSS JOIN vocabulary ON term = value"  # each is looked up
_BEGINNING = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc DESC, term LIMIT ?"
_ENDING = "SELECT term FROM vocabulary WHERE term > ? AND term LIKE ? ORDER BY doc DESC, term LIMIT ?"
_FIRST_HAN = "\u3400"
_MAX_ENDING = 40  # words with a last character
_OFTEN = 500  # rows; to count those of a word takes as long as there are
_COUNT = "INSERT INTO common SELECT term, doc FROM vocabulary WHERE doc >= ?"
_COUNTED = "SELECT value, times FROM json_each(?) CROSS JOIN common ON term = value"
_BEGINS_COMMON = "SELECT 1 FROM common WHERE term >= ? AND term < ? AND times > ? LIMIT 1"


def fields_in(line: object) -> dict[str, object]:
    """Return the fields of a line that a database has stored; raises DatabaseError where it is damaged."""
    fields = decode_line(line) if isinstance(line, bytes) else {}
    if "type" not in fields:
        raise DatabaseError("malformed: a line that was stored is none")
    return fields


def best_passages(
    scores: "Scores", terms: "Iterable[str]", chosen: "Sequence[str]", prefix: str
) -> "dict[int, Answer]":
    """Score units by the chosen tokens, and by those that stand side by side in the query."""
    from eventlog.projections.search.ranking import BESIDE, side_by_side

    beside = dict(scores(side_by_side(terms, chosen), ""))
    found: dict[int, Answer] = {}
    for row, of_words in scores(chosen, prefix):
        score = of_words + BESIDE * beside.get(row, 0.0)
        whole, best, passage = found.get(row >> PARTS, (0.0, 0.0, 0))
        if not row & PASSAGE:
            found[row >> PARTS] = score, best, passage
        elif score > best:
            found[row >> PARTS] = whole, score, row & PASSAGE
    return found


def score_of(answer: "Answer") -> float:
    """Count the whole and the best passage alike; where no passage scores, the whole twice."""
    whole, best, _ = answer
    return whole + (best or whole)


def _stems(typed: str) -> "Iterable[str]":
    """Yield what may be left of a longer word that is being typed, once it is without its ending: `settin` is `set`."""
    return (typed[:length] for length in range(max(3, len(typed) - 3), len(typed)))


class FullText:
    """FTS5 without text: a row is removed with the words it was put with.

    The rows of common words are counted beforehand, from when `count` was called.
    """

    def __init__(self, database: "Connection") -> None:
        self._run = database.execute
        self._run_many = database.executemany

    def create(self) -> None:
        """Make the tables; raises OperationalError where this SQLite has no FTS5."""
        self._run(f"CREATE VIRTUAL TABLE words USING fts5(tokens, content='', tokenize=\"{_TOKENIZER}\")")
        self._run("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)")
        self._run(_COMMON)

    def put(self, rows: "Iterable[WordRow]") -> None:
        """Add rows."""
        added = list(rows)
        self._run_many(_PUT, added)
        self._recount(added, 1)

    def fill(self, rows: "Iterable[WordRow]") -> None:
        """Add the rows of a whole log in one part, levels above those of later rows: these are merged among themselves.

        Beside them, FTS5 would write it anew at the fifteenth addition, which may be that of a prompt.
        """
        others = iter(rows)
        for row in others:  # a part for the others to be merged with: one alone stays where it is
            self._run(_PUT, row)
            break
        self._run(_MERGE)
        self._run(_PART_BYTES, (32 << 20,))
        self._run_many(_PUT, others)
        self._run(_MERGE)
        self._run(_PART_BYTES, (1 << 20,))
        self.count()

    def take_out(self, rows: "Iterable[WordRow]") -> None:
        """Remove rows."""
        removed = list(rows)
        self._run_many("INSERT INTO words (words, rowid, tokens) VALUES ('delete', ?, ?)", removed)
        self._recount(removed, -1)

    def erase(self) -> None:
        """Leave no word that stands in removed rows only: until parts are merged, those that lie there have them."""
        self._run(_MERGE)
        self.count()

    def _recount(self, rows: "Iterable[WordRow]", times: int) -> None:
        changes = [(times, word) for _, words in rows for word in {*words.split()}]
        self._run_many("UPDATE common SET times = times + ? WHERE term = ?", changes)

    def scores(
        self, terms: "Sequence[str]", prefix: str, ranges: "Ranges" = ALL_ROWS, units: "Units" = None
    ) -> "Iterable[Score]":
        """Score the rows that have any of these tokens or pairs of tokens, or a word with this beginning."""
        words = " OR ".join(_quoted(terms, prefix))
        if not (words and ranges):
            return
        of_units = () if units is None else (numbers(units),)
        # at once: for each question, FTS5 counts the rows with each word anew
        statement = _SCORES + _WITHIN + f" AND ({' OR '.join([_IN] * len(ranges))})" + (_OF_UNITS if of_units else "")
        bounds = [bound for within in ranges for bound in within]
        yield from self._run(statement, (words, min(bounds), max(bounds), *bounds, *of_units))

    def sharing(self, terms: "Sequence[str]", others: "Sequence[str]", ranges: "Ranges") -> set[int]:
        """List the units with a token of the query and another token, of the query or of the others."""
        quoted = _quoted((*terms, *others))
        partners = ((word, " OR ".join(quoted[at:])) for at, word in enumerate(quoted[: len(terms)], 1))
        words = " OR ".join(f"({word} AND ({any_of}))" for word, any_of in partners if any_of)
        rows = (row for within in ranges if words for (row,) in self._run(_MATCHING + _WITHIN, (words, *within)))
        return {row >> PARTS for row in rows if not row & PASSAGE}

    def newest(self, term: str, prefix: str, ranges: "Ranges", limit: int, units: "int | None" = None) -> set[int]:
        """List the units of the newest rows of each range with a token, or else with a word with this beginning.

        So many `units` of each are enough.
        """
        (word,) = _quoted([term]) if term else _quoted((), prefix)
        runs = (self._run(_MATCHING + _WITHIN + _NEWEST, (word, *within, limit)) for within in ranges)
        if units is None:
            return {row >> PARTS for rows in runs for (row,) in rows}
        found: set[int] = set()
        for enough, rows in enumerate(runs, 1):
            for (row,) in rows:
                found.add(row >> PARTS)
                if len(found) == enough * units:
                    break
        return found

    def chosen(self, having: "Mapping[str, int]", rows: int, prefix: str = "") -> "tuple[list[str], str]":
        """Choose what to look for of the tokens of a query, and of the beginning of its last word."""
        from eventlog.projections.search.ranking import most_rows, telling  # a start searches for nothing

        chosen = telling(having, rows)
        if prefix and not having.get(prefix) and not self.beginning(prefix, 1):  # no word is there as it was typed
            chosen += self.having(_stems(prefix))
        if {*having} == {prefix} and len(prefix) == 1 and prefix > _FIRST_HAN:  # a longer query has better
            chosen += self.ending(prefix, _MAX_ENDING)
        is_rare = any(0 < having.get(token, 0) <= most_rows(rows) for token in chosen)
        if prefix and is_rare and self.begins_common(prefix, rows / 2):
            prefix = ""  # what most rows have tells nothing
        return chosen, prefix

    def having(self, terms: "Iterable[str]") -> dict[str, int]:
        """Count the rows with each token; only of those that any row has."""
        tokens = list(terms)
        common = dict(self._run(_COUNTED, (strings(tokens),)))
        others = dict(self._run(_HAVING, (strings(token for token in tokens if token not in common),)))
        return {token: count for token in tokens if (count := common.get(token) or others.get(token))}

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        return [str(term) for (term,) in self._run(_BEGINNING, (prefix, f"{prefix}\U0010ffff", limit))]

    def ending(self, char: str, limit: int) -> list[str]:
        """List pairs of characters that end like that, the most frequent first."""
        return [str(term) for (term,) in self._run(_ENDING, (_FIRST_HAN, f"_{char}", limit))]

    def begins_common(self, prefix: str, minimum: float) -> bool:
        """Return whether a word that so many rows have is known to begin like that."""
        return self._run(_BEGINS_COMMON, (prefix, f"{prefix}\U0010ffff", minimum)).fetchone() is not None

    def count(self) -> None:
        """Count the rows of common words again."""
        self._run("DELETE FROM common")
        self._run(_COUNT, (_OFTEN,))


class Scanned(FullText):
    """A plain table, read as a whole for every query."""

    def create(self) -> None:
        """Make the tables."""
        self._run("CREATE TABLE words (id INTEGER PRIMARY KEY, words TEXT)")
        self._run(_COMMON)

    def put(self, rows: "Iterable[WordRow]") -> None:
        """Add rows."""
        self._run_many("INSERT INTO words VALUES (?, ?)", rows)

    def fill(self, rows: "Iterable[WordRow]") -> None:
        """Add the rows of a whole log."""
        self.put(rows)

    def take_out(self, rows: "Iterable[WordRow]") -> None:
        """Remove rows."""
        self._run_many("DELETE FROM words WHERE id = ? AND words = ?", rows)

    def erase(self) -> None:
        """Remove nothing: a row that is removed leaves no words."""

    def count(self) -> None:
        """Count nothing: each question counts."""

    def scores(
        self, terms: "Sequence[str]", prefix: str, ranges: "Ranges" = ALL_ROWS, units: "Units" = None
    ) -> "Iterable[Score]":
        """Score the rows that have any of these tokens or pairs of tokens, or a word with this beginning."""
        rows = self._run("SELECT id, words FROM words ORDER BY id").fetchall()
        from eventlog.projections.search.ranking import scanner

        found = scanner([words for _, words in rows])(terms, prefix)
        scores = ((rows[number][0], score) for number, score in found.items())
        return [
            (row, score) for row, score in scores if _is_in(row, ranges) and (units is None or row >> PARTS in units)
        ]

    def sharing(self, terms: "Sequence[str]", others: "Sequence[str]", ranges: "Ranges") -> set[int]:
        """List the units with a token of the query and another token, of the query or of the others."""
        wanted, all_of_them = set(terms), {*terms, *others}
        rows = ((row, set(words.split())) for row, words in self._run("SELECT id, words FROM words"))
        shared = (row for row, words in rows if words & wanted and len(words & all_of_them) > 1)
        return {row >> PARTS for row in shared if _is_in(row, ranges)}

    def newest(
        self,
        term: str,
        prefix: str,
        ranges: "Ranges",
        limit: int,  # noqa: ARG002
        units: "int | None" = None,  # noqa: ARG002
    ) -> set[int]:
        """List all units of the ranges with a token, or else with a word with this beginning: all rows are read."""
        return {row >> PARTS for row, _ in self.scores([term] if term else [], "" if term else prefix, ranges)}

    def having(self, terms: "Iterable[str]") -> dict[str, int]:
        """Count the rows with each token; only of those that any row has."""
        texts = [set(words.split()) for (words,) in self._run("SELECT words FROM words")]
        counts = {token: sum(token in text for text in texts) for token in terms}
        return {token: count for token, count in counts.items() if count}

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        return self._frequent(lambda word: word.startswith(prefix), limit)

    def ending(self, char: str, limit: int) -> list[str]:
        """List pairs of characters that end like that, the most frequent first."""
        return self._frequent(lambda word: word[1:] == char, limit)

    def _frequent(self, is_wanted: "Callable[[str], bool]", limit: int) -> list[str]:
        counts: dict[str, int] = {}
        for (words,) in self._run("SELECT words FROM words"):
            for word in {*filter(is_wanted, words.split())}:
                counts[word] = counts.get(word, 0) + 1
        return sorted(counts, key=lambda word: (-counts[word], word))[:limit]


KINDS: "dict[str, type[FullText]]" = {"fts5": FullText, "scan": Scanned}


def _quoted(terms: "Iterable[str]", prefix: str = "") -> list[str]:
    """Write tokens, and the beginning of a word, as FTS5 reads them."""
    return [f'"{token}"' for token in terms] + ([f'"{prefix}" *'] if prefix else [])


def _is_in(row: int, ranges: "Ranges") -> bool:
    return any(low <= row <= high for low, high in ranges)


def numbers(units: "Iterable[int]") -> str:
    """Write units as the list that `json_each` reads."""
    return f"[{','.join(map(str, units))}]"


def strings(texts: "Iterable[str]") -> str:
    """Write texts as the list that `json_each` reads."""
    return f"[{b','.join(map(fastjson.text, texts)).decode()}]"
