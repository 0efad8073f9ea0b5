"""Stores replayed by two processes of a cluster, and one after the other in this process: three large, many small."""

import resource
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.generate import generate
from bench.measure import Row, compare
from eventlog import EventLog, Settings, cluster
from eventlog.app.build.replay import replay

_SHARES = {"ada": 60, "bob": 30, "eve": 10}  # of the events, in per cent


_STORES, _EVENTS = 30, 2000  # small stores


def rows(scratch: Path, events: int) -> Iterator[Row]:
    """How much faster two workers are, their start left out, and what processor time that takes."""
    stores = [scratch / "users" / user for user in _SHARES]
    for store, share in zip(stores, _SHARES.values(), strict=True):
        generate(store / "log", events * share // 100)
    with cluster.connected("local:2") as client:
        yield compare(
            "replay of three users, 2 workers",
            lambda: _there(stores, client),
            "one process",
            lambda: _here(stores),
            "–",
            rounds=3,
        )
    many = [scratch / "many" / str(number) for number in range(_STORES)]
    for store in many:
        generate(store / "log", _EVENTS)
    alone, idle = _processor_time(lambda: _here(many)), _processor_time(lambda: _in_cluster(many[:1]))
    taken = _processor_time(lambda: _in_cluster(many)) - idle
    name = f"replay of {_STORES} stores of {_EVENTS:,} events, 2 workers and client, processor time"
    yield Row(name, taken, "one process", alone, taken / alone, "–")


def _here(stores: Sequence[Path]) -> None:
    for store in stores:
        found = {one.path: one.data for one in replay(EventLog(store), Settings(), anew=True).documents}
        assert found


def _in_cluster(stores: Sequence[Path]) -> None:
    with cluster.connected("local:2") as client:
        _there(stores, client)


def _there(stores: Sequence[Path], client: object) -> None:
    done = list(cluster.replay_stores([str(store) for store in stores], client))
    assert all(one.rendered for one in done)


def _processor_time(do: Callable[[], object]) -> float:
    """Measure the processor time of this process and of those that end meanwhile."""
    begun = _used()
    do()
    return _used() - begun


def _used() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
