"""How times grow with the log: the same in stores of 10,000 events and ten times more each, and the exponent between.

A time that grows with the log has the exponent 1, one that does not 0.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import log10
from pathlib import Path

from bench import hook
from bench.generate import PROJECT, after_a_fact, conversation_id, generate
from bench.measure import processor
from eventlog.store import project_slug

_EVENTLOG = (sys.executable, "-m", "eventlog", "--store")
_SMALLEST, _ROUNDS = 10_000, 3


def lines(scratch: Path, most: int) -> Iterator[tuple[str, list[float], list[float]]]:
    """Yield what was timed, the seconds of processor time in each store, and the exponents between them."""
    sizes = [size for power in range(8) if (size := _SMALLEST * 10**power) <= most]
    found: dict[str, list[float]] = {}
    for size in sizes:
        store = scratch / f"growth-{size}"
        generate(store / "log", size)
        for what, run in _timed(store).items():
            found.setdefault(what, []).append(statistics.median(run() for _ in range(_ROUNDS)))
    for what, times in found.items():
        yield what, times, [log10(more / less) for less, more in pairwise(times)]


def _timed(store: Path) -> dict[str, Callable[[], float]]:
    """Return what is timed, in an order in which each finds what it needs."""
    memory = store / "knowledge" / "projects" / project_slug(PROJECT) / "MEMORY.md"
    verbs = {
        "replay --full": ("replay", "--full"),
        "verify": ("verify",),
        "stats": ("stats",),
        "sessions": ("sessions",),
        "why FILE:LINE": ("why", f"{memory}:6"),
        "query --session, raw lines": ("query", "--format", "jsonl", "--session", conversation_id(11)),
    }
    timed = {what: processor((*_EVENTLOG, str(store), *verb)) for what, verb in verbs.items()}
    timed["replay after one fact"] = after_a_fact(store, processor((*_EVENTLOG, str(store), "replay")))
    timed["turn end"] = processor(hook.hook(store, "Stop"), lambda: hook.stop("a-new-conversation-"))
    return timed  # type: ignore[return-value]  # each tells its time
