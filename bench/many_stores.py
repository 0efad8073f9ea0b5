"""The stores of three users, replayed by two processes of a cluster, and one after the other in this process."""

from collections.abc import Iterator
from pathlib import Path

from bench.generate import generate
from bench.measure import Row, compare
from eventlog import EventLog, Settings, cluster
from eventlog.app.build.replay import replay

_SHARES = {"ada": 60, "bob": 30, "eve": 10}  # of the events, in per cent


def rows(scratch: Path, events: int) -> Iterator[Row]:
    """How much faster two workers are, their start left out."""
    stores = {user: scratch / "users" / user for user in _SHARES}
    for user, share in _SHARES.items():
        generate(stores[user] / "log", events * share // 100)

    def here() -> None:
        for store in stores.values():
            found = {one.path: one.data for one in replay(EventLog(store), Settings(), anew=True).documents}
            assert found

    with cluster.connected("local:2") as client:

        def there() -> None:
            done = list(cluster.replay_stores([str(store) for store in stores.values()], client))
            assert all(one.rendered for one in done)

        yield compare("replay of three users, 2 workers", there, "one process", here, "–", rounds=3)
