"""List what a person should look at: entries that wait, lines that contradict, are old, or are repeated most."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from eventlog.app.build.apply import apply
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.format import timestamps
from eventlog.format.text import differing_in_a_number
from eventlog.format.timestamps import order
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.search.opposed import opposed
from eventlog.projections.views.memory import MEMORY

_STALE_DAYS = 60
_OFTEN, _MAX = 3, 5  # times, and how many that are said so often
_DAY_NS = 86_400 * 10**9

_Concern = Literal["contradicts", "old", "repeated"]  # the first of them is told


class ReviewLine(NamedTuple):
    """A line of a memory, why to look at it, and the texts it contradicts, the newest first.

    `subject` is the name of its project, "" for the user; `place` is `FILE:LINE`, "" where the file has no room for it.
    """

    concern: _Concern
    subject: str
    place: str
    text: str
    times: int
    last: str
    against: tuple[str, ...] = ()


def review(opened: OpenStore, project: str | None = None) -> tuple[list[StagedEntry], list[ReviewLine]]:
    """Look through the memory of a project and of the user, or of all; writes nothing.

    Return the entries that wait, oldest first, and the lines to look at, each once.
    """
    replayed = replay(opened.log, opened.settings)
    here = KnownProjects(opened.store, replayed.identities).meant(project) if project else None
    names = [name for name in replayed.index.names(MEMORY.name) if here is None or name in (here, "")]
    stale = timestamps.from_ns(opened.machine.clock() - _STALE_DAYS * _DAY_NS)
    found: list[ReviewLine] = []
    shown: set[tuple[str, str]] = set()
    every = [line for name in names for line in _of_memory(replayed, name, stale)]
    for line in sorted(every, key=lambda line: get_args(_Concern).index(line.concern)):
        statements = {(line.subject, text) for text in (line.text, *line.against)}
        if shown.isdisjoint(statements):
            found.append(line)
            shown |= statements
    waiting = apply(opened, state=replayed.knowledge, dry_run=True).staged
    return sorted(waiting, key=lambda staged: order(staged.entry)), found


def _of_memory(replayed: ReplayResult, name: str, stale: str) -> Iterator[ReviewLine]:
    facts = sorted(replayed.fact_scope(name).facts, key=lambda fact: fact.last_seen, reverse=True)
    places = _places(replayed, name)

    def line(concern: _Concern, fact: DistinctFact, against: Iterable[str] = ()) -> ReviewLine:
        place = places.get(fact.sources, "")
        return ReviewLine(concern, name, place, fact.first.text, len(fact.statements), fact.last_seen, tuple(against))

    texts = [fact.first.text for fact in facts]
    unkeyed = [fact.first.text for fact in facts if not fact.first.key]  # of those with a key, the key decides
    against = opposed(texts, differing_in_a_number(texts))
    for fact in facts:
        older = against.get(fact.first.text, set()).intersection(unkeyed)
        if older:
            yield line("contradicts", fact, filter(older.__contains__, texts))
    yield from (line("old", fact) for fact in reversed(facts) if fact.last_seen < stale)
    often = sorted(facts, key=lambda fact: len(fact.statements), reverse=True)
    yield from (line("repeated", fact) for fact in often[:_MAX] if len(fact.statements) >= _OFTEN)


def _places(replayed: ReplayResult, name: str) -> dict[tuple[str, ...], str]:
    """Map the events behind each line of a memory to the line."""
    return {
        line.sources: f"{document.path}:{number}"
        for document in replayed.rendered((MEMORY.name, name))
        for number, line in enumerate(document.lines, 1)
        if line.text.startswith("- ")
    }
