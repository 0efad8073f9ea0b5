"""The words of the index: a full-text table of SQLite, and a plain table to scan where SQLite has no such tables.

A row is a text as tokens joined by spaces; its number is that of its unit and, in the last bits, of its passage.
Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Protocol

    Row = tuple[int, str, str, str, bytes]  # number, subject, type, time and line of a unit
    WordRow = tuple[int, str]
    # those whose rows are scored, by their numbers, or by what they are about as a text of JSON; None: all
    Units = Collection[int] | str | None
    Score = tuple[int, float]  # of a row
    Answer = tuple[float, float, int]  # how well the whole answers, its best passage, and which one that is

    class WordTable(Protocol):
        """The questions an index asks of its words."""

        def create(self) -> None:
            """Make the table."""

        def put(self, rows: "Iterable[WordRow]") -> None:
            """Add rows."""

        def fill(self, rows: "Iterable[WordRow]") -> None:
            """Add the rows of a whole log."""

        def take_out(self, rows: "Iterable[WordRow]") -> None:
            """Remove rows, with the words they were put with."""

        def erase(self) -> None:
            """Leave no word that stands in removed rows only."""

        def scores(self, asked: "Sequence[str]", prefix: str, units: "Units") -> "Iterable[Score]":
            """Score the rows that have any of these tokens or pairs of tokens, or a word with this beginning."""

        def sharing(self, asked: "Sequence[str]", others: "Sequence[str]") -> set[int]:
            """List the units with a token of the query and another token, of the query or of the others."""

        def having(self, asked: "Iterable[str]") -> dict[str, int]:
            """Count the rows with each token; only of those that any row has."""

        def beginning(self, prefix: str, limit: int) -> "list[str]":
            """List words that begin like that, the most frequent first."""


PARTS = 6  # bits of a row's number that tell the passage
OF_ONE = "conversation = ? AND id > 0"
PASSAGE = (1 << PARTS) - 1  # those bits; 0 is the whole
_TOKENIZER = "unicode61 remove_diacritics 0 tokenchars '_-./:@+#'"
_PART_BYTES = "INSERT INTO words (words, rank) VALUES ('hashsize', ?)"
_MATCHING = "SELECT rowid FROM words WHERE words MATCH ?"
_SCORES = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?"
_OF_UNITS = f" AND rowid >> {PARTS} IN (SELECT value FROM json_each(?))"  # noqa: S608 - a number
_ABOUT = "SELECT id FROM units WHERE subject IN (SELECT value FROM json_each(?, '$.in'))"
_OF_SUBJECTS = f" AND rowid >> {PARTS} IN ({_ABOUT})"
_HAVING = "SELECT value, doc FROM json_each(?) CROSS JOIN vocabulary ON term = value"  # each is looked up
_BEGINNING = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY doc DESC, term LIMIT ?"


def best_passages(
    words: "WordTable", having: "Mapping[str, int]", rows: int, prefix: str = "", units: "Units" = None
) -> "dict[int, Answer]":
    """Score the units of a table that have any of these tokens, or a word with this beginning."""
    from eventlog.projections.search.ranking import BESIDE, side_by_side, telling  # a start searches for nothing

    chosen = telling(having, rows)
    pairs = side_by_side(having, chosen)
    if prefix and not words.beginning(prefix, 1):
        chosen += words.having(_stems(prefix))
    beside = dict(words.scores(pairs, "", units))
    found: dict[int, Answer] = {}
    for row, of_words in words.scores(chosen, prefix, units):
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


class _Table:
    """A table of words in a database."""

    def __init__(self, database: "Connection") -> None:
        self._run = database.execute
        self._run_many = database.executemany


class FullText(_Table):
    """FTS5 without text: a row is removed with the words it was put with."""

    def create(self) -> None:
        """Make the table; raises OperationalError where this SQLite has no FTS5."""
        self._run(f"CREATE VIRTUAL TABLE words USING fts5(tokens, content='', tokenize=\"{_TOKENIZER}\")")
        self._run("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)")

    def put(self, rows: "Iterable[WordRow]") -> None:
        """Add rows."""
        self._run_many("INSERT INTO words (rowid, tokens) VALUES (?, ?)", rows)

    def fill(self, rows: "Iterable[WordRow]") -> None:
        """Add the rows of a whole log, in few parts: fewer to be merged, and to be asked."""
        self._run(_PART_BYTES, (16 << 20,))
        self.put(rows)
        self._run(_PART_BYTES, (1 << 20,))

    def take_out(self, rows: "Iterable[WordRow]") -> None:
        """Remove rows."""
        self._run_many("INSERT INTO words (words, rowid, tokens) VALUES ('delete', ?, ?)", rows)

    def erase(self) -> None:
        """Leave no word that stands in removed rows only: until parts are merged, those that lie there have them."""
        self._run("INSERT INTO words (words) VALUES ('optimize')")

    def scores(self, asked: "Sequence[str]", prefix: str, units: "Units") -> "Iterable[Score]":
        """Score the rows that have any of these tokens or pairs of tokens, or a word with this beginning."""
        words = " OR ".join([f'"{token}"' for token in asked] + ([f'"{prefix}" *'] if prefix else []))
        if not words:
            return []
        if units is None:
            return self._run(_SCORES, (words,))
        if isinstance(units, str):
            return self._run(_SCORES + _OF_SUBJECTS, (words, units))
        return self._run(_SCORES + _OF_UNITS, (words, numbers(units)))

    def sharing(self, asked: "Sequence[str]", others: "Sequence[str]") -> set[int]:
        """List the units with a token of the query and another token, of the query or of the others."""
        quoted = [f'"{token}"' for token in (*asked, *others)]
        partners = ((word, " OR ".join(quoted[at:])) for at, word in enumerate(quoted[: len(asked)], 1))
        pairs = (f"({word} AND ({any_of}))" for word, any_of in partners if any_of)
        words = " OR ".join(pairs)
        return {row >> PARTS for (row,) in self._run(_MATCHING, (words,)) if not row & PASSAGE} if words else set()

    def having(self, asked: "Iterable[str]") -> dict[str, int]:
        """Count the rows with each token; only of those that any row has."""
        tokens = b",".join(map(fastjson.text, asked)).decode()
        return dict(self._run(_HAVING, (f"[{tokens}]",)))

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        return [str(term) for (term,) in self._run(_BEGINNING, (prefix, f"{prefix}\U0010ffff", limit))]


class Scanned(_Table):
    """A plain table, read as a whole for every query."""

    def create(self) -> None:
        """Make the table."""
        self._run("CREATE TABLE words (id INTEGER PRIMARY KEY, words TEXT)")

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

    def scores(self, asked: "Sequence[str]", prefix: str, units: "Units") -> "Iterable[Score]":
        """Score the rows that have any of these tokens or pairs of tokens, or a word with this beginning."""
        if isinstance(units, str):
            units = {unit for (unit,) in self._run(_ABOUT, (units,))}
        rows = self._run("SELECT id, words FROM words ORDER BY id").fetchall()
        from eventlog.projections.search.ranking import scan

        found = scan([words for _, words in rows], asked, prefix)
        scores = ((rows[number][0], score) for number, score in found.items())
        return [(row, score) for row, score in scores if units is None or row >> PARTS in units]

    def sharing(self, asked: "Sequence[str]", others: "Sequence[str]") -> set[int]:
        """List the units with a token of the query and another token, of the query or of the others."""
        wanted, all_of_them = set(asked), {*asked, *others}
        rows = ((row, set(words.split())) for row, words in self._run("SELECT id, words FROM words"))
        return {row >> PARTS for row, words in rows if words & wanted and len(words & all_of_them) > 1}

    def having(self, asked: "Iterable[str]") -> dict[str, int]:
        """Count the rows with each token; only of those that any row has."""
        texts = [set(words.split()) for (words,) in self._run("SELECT words FROM words")]
        counts = {token: sum(token in text for text in texts) for token in asked}
        return {token: count for token, count in counts.items() if count}

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """List words that begin like that, the most frequent first."""
        counts: dict[str, int] = {}
        for (words,) in self._run("SELECT words FROM words"):
            for word in {word for word in words.split() if word.startswith(prefix)}:
                counts[word] = counts.get(word, 0) + 1
        return sorted(counts, key=lambda word: (-counts[word], word))[:limit]


KINDS: "dict[str, Callable[[Connection], WordTable]]" = {"fts5": FullText, "scan": Scanned}


def numbers(units: "Iterable[int]") -> str:
    """Write units as the list that `json_each` reads."""
    return f"[{','.join(map(str, units))}]"


def units_in(database: "Connection", where: str, *values: object) -> "list[Row]":
    """Read the units of an index that are so."""
    statement = f"SELECT id, subject, type, ts, coalesce(told, line) FROM units WHERE {where}"  # noqa: S608 - texts of this package
    return database.execute(statement, values).fetchall()
