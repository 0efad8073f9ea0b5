"""Who answers: the arms of the benchmark, and what each has to offer.

An arm that pushes without asking whether it should gives the first three of its ranking to every prompt.
"""

import re
import sqlite3
import sys
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import eventlog
from bench.measure import Run, process
from bench.memory.world import Haystack, Query, Unit
from eventlog import Machine, Memory
from eventlog.app.open_store import open_store
from eventlog.app.search.search import SearchQuery, search

DEPTH = 10  # as far as any figure looks
PUSHED = 3  # lines at a prompt, as many as the hook may give
_WORD = re.compile(r"\w+")


class Line(NamedTuple):
    """One line given to a prompt, and the unit it comes from."""

    unit: str
    text: str


class Arm(Protocol):
    """One way to remember; `index` comes first, and again for another haystack."""

    def index(self, haystack: Haystack) -> None:
        """Take in everything said, also what was withdrawn since: that is for the arm to know."""

    def rank(self, query: Query) -> list[str]:
        """Give up to ten ids of units, best first."""

    def answer(self, query: Query) -> list[Line]:
        """Give what the prompt is told, which may be nothing."""

    def cold(self, query: Query) -> Run | None:
        """Give the same as a whole process, where there is one."""


class Pusher:
    """An arm without a gate, in one process."""

    units: dict[str, Unit]

    def index(self, haystack: Haystack) -> None:
        self.units = {unit.id: unit for unit in haystack.units}

    def rank(self, query: Query) -> list[str]:
        raise NotImplementedError

    def answer(self, query: Query) -> list[Line]:
        return [Line(unit, self.units[unit].line) for unit in self.rank(query)[:PUSHED]]

    def cold(self, query: Query) -> Run | None:  # noqa: ARG002
        return None

    def around(self, query: Query) -> list[Unit]:
        """The units of the query's project and about the user, newest first."""
        near = (unit for unit in self.units.values() if unit.project in ("", query.project))
        return sorted(near, key=lambda unit: (unit.ts, unit.id), reverse=True)


class Empty(Pusher):
    """The control: it knows nothing, and every figure has to show it."""

    def rank(self, query: Query) -> list[str]:  # noqa: ARG002
        return []


class Newest(Pusher):
    """What came last, whatever is asked: what a session's start gives."""

    def rank(self, query: Query) -> list[str]:
        return [unit.id for unit in self.around(query)[:DEPTH]]


class Grep(Pusher):
    """As many words of the query as possible, the newest first among equals."""

    def rank(self, query: Query) -> list[str]:
        asked = _words(query.text)
        shared = {unit.id: len(asked & _words(unit.text)) for unit in self.around(query)}
        found = sorted((unit for unit in shared if shared[unit]), key=lambda unit: -shared[unit])
        return found[:DEPTH]


class Fts(Pusher):
    """SQLite's full-text search as it comes: unicode61 with the Porter stemmer, any word, BM25."""

    _SELECT = "SELECT id FROM t WHERE t MATCH ? AND {} ORDER BY bm25(t), id LIMIT ?"
    _COLD = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute({!r}, {!r}).fetchall())"
    where = "project IN ('', ?)"

    def index(self, haystack: Haystack) -> None:
        super().index(haystack)
        self.path = haystack.store.parent / f"{haystack.store.name}.fts5"
        self.path.unlink(missing_ok=True)
        self.connection = sqlite3.connect(self.path)
        weakref.finalize(self, self.connection.close)
        self.connection.execute(
            "CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, project UNINDEXED, text, tokenize='porter unicode61')"
        )
        said = ((unit.id, unit.project, unit.text) for unit in haystack.units)
        self.connection.executemany("INSERT INTO t VALUES (?, ?, ?)", said)
        self.connection.commit()

    def rank(self, query: Query) -> list[str]:
        return [unit for (unit,) in self.connection.execute(*self._asked(query))]

    def cold(self, query: Query) -> Run:
        code = self._COLD.format(*self._asked(query))
        return process((sys.executable, "-I", "-S", "-c", code, str(self.path)))

    def _asked(self, query: Query) -> tuple[str, tuple[object, ...]]:
        words = " OR ".join(f'"{word}"' for word in sorted(_words(query.text))) or '""'
        return self._SELECT.format(self.where), (words, *self._limits(query), DEPTH)

    def _limits(self, query: Query) -> tuple[str, ...]:
        return (query.project,)


class FtsEverywhere(Fts):
    """The same over all projects, as one search over the whole log would be."""

    where = "TRUE"

    def _limits(self, query: Query) -> tuple[str, ...]:  # noqa: ARG002
        return ()


class UngatedSearch(Pusher):
    """The product's search, and its first three answers to every prompt."""

    def index(self, haystack: Haystack) -> None:
        super().index(haystack)
        self.owners = haystack.owners
        self.memory = Memory(haystack.store)

    def rank(self, query: Query) -> list[str]:
        asked = SearchQuery(query.text, query.project, limit=2 * DEPTH)
        found = search(open_store(self.memory.log.store, Machine.here()), asked).hits
        units = dict.fromkeys(self.owners[hit.id] for hit in found if hit.id in self.owners)
        return [*units][:DEPTH]


class Recalled(UngatedSearch):
    """The product's search, and what its hook tells with a prompt."""

    _SHORT = 8  # digits of the id in a line

    def index(self, haystack: Haystack) -> None:
        super().index(haystack)
        self.short = {event[-self._SHORT :]: unit for event, unit in haystack.owners.items()}

    def answer(self, query: Query) -> list[Line]:
        told = self.memory.recall(
            query.text, project=query.project, conversation=query.conversation, shared=query.shared
        ).splitlines()[1:-1]  # between the words of the fence
        return [Line(self._unit(line), line) for line in told]

    def _unit(self, line: str) -> str:
        """The unit of the id that a line begins with, "" for none of ours."""
        return next((self.short[word] for word in _WORD.findall(line.partition("]")[0]) if word in self.short), "")

    def cold(self, query: Query) -> Run:
        store, asked = str(self.memory.log.store.root), f"{query.text!r}, {query.project!r}, ''"
        code = "from eventlog import Store\nfrom eventlog.app.search import recall\n"
        code += f"recall.recall(Store({store!r}), recall.RecallRequest({asked}), 3)"
        root = str(Path(eventlog.__file__).parents[1])
        return process((sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r})\n{code}"))


ARMS: dict[str, Callable[[], Arm]] = {
    "empty": Empty,
    "newest": Newest,
    "grep": Grep,
    "fts5": Fts,
    "fts5 everywhere": FtsEverywhere,
    "ours": Recalled,
    "ours without gate": UngatedSearch,
}
PLANNED: Sequence[str] = ()  # what the product will offer: each moves up when the verb it asks exists


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
