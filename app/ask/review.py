"""List what a person should look at: entries that wait, lines that contradict, are old, or are repeated most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
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
from eventlog.projections.search.words import tokens
from eventlog.projections.views.memory import MEMORY

_STALE_DAYS = 60
_OFTEN, _MOST = 3, 5  # times, and how many that are said so often
_DAY_NS = 86_400 * 10**9
_FEWEST_SHARED, _SHARED_PART = 2, 0.4  # words of an older text in a newer: so many, and that part of all its words
_RARE, _RARE_PART = 4, 0.05  # texts that a word is in which tells what a text is about
_REPLACES = re.compile(
    r"\b(?:now|no longer|any ?more|instead of|rather than|(?:is|are) out|gone|replaced|dropped|removed|migrated|moved"
    r"|switched|jetzt|nicht mehr|statt|anstelle|ersetzt|abgelöst|abgeschaltet|umgestellt|(?:ist|sind) raus)\b"
    r"|不再|改[用为成由存到]|换成|迁移到|重写|替换|取代|代替|废弃|弃用",
    re.IGNORECASE,
)

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

    texts = [fact.first.text for fact in facts if not fact.first.key]
    against = _contradicted(texts)
    for fact in facts:
        if older := against.get(fact.first.text):
            yield line("contradicts", fact, filter(older.__contains__, texts))
    yield from (line("old", fact) for fact in reversed(facts) if fact.last_seen < stale)
    often = sorted(facts, key=lambda fact: len(fact.statements), reverse=True)
    yield from (line("repeated", fact) for fact in often[:_MOST] if len(fact.statements) >= _OFTEN)


def _contradicted(texts: Sequence[str]) -> dict[str, set[str]]:
    """Map texts to the older texts that they contradict, directly or through others; the newest comes first."""
    doubtful = differing_in_a_number(texts)
    numbered = combinations([text for text in texts if text in doubtful], 2)
    found: dict[str, set[str]] = {}
    for newer, older in chain(filter(differing_in_a_number, numbered), _replaced(texts)):
        found.setdefault(newer, set()).update({older}, found.get(older, ()))
    return found


def _replaced(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each text that speaks of a change, with an older text that shares many of its rarer words."""
    words = [frozenset(tokens(text)) for text in texts]
    frequency = Counter(chain.from_iterable(words))
    rare = {word for word, times in frequency.items() if times <= max(_RARE, _RARE_PART * len(texts))}
    older: dict[str, list[int]] = {}
    for at in reversed(range(len(texts))):
        if _REPLACES.search(texts[at]):
            changed = rare.intersection(tokens(_REPLACES.sub(" ", texts[at])))
            shared = Counter(chain.from_iterable(older.get(word, ()) for word in changed))
            for other, count in shared.items():
                if count >= max(_FEWEST_SHARED, _SHARED_PART * len(words[other])):
                    yield texts[at], texts[other]
        for word in words[at] & rare:
            older.setdefault(word, []).append(at)


def _places(replayed: ReplayResult, name: str) -> dict[tuple[str, ...], str]:
    """Map the events behind each line of a memory to the line."""
    return {
        line.sources: f"{document.path}:{number}"
        for document in replayed.rendered((MEMORY.name, name))
        for number, line in enumerate(document.lines, 1)
        if line.text.startswith("- ")
    }
