"""Replays of many stores on a Dask cluster; needs the extra `cluster`.

from eventlog import cluster
with cluster.connected("tcp://scheduler:8786") as client:
    for done in cluster.replay_stores(["s3://logs/ada", "/home/bob/.eventlog"], client):
        done.rendered.files   # path -> bytes, those of `eventlog replay --out`
"""

from eventlog.app.cluster.replay_stores import StoreReplay, connected, replay_stores, replay_stores_to

__all__ = ["StoreReplay", "connected", "replay_stores", "replay_stores_to"]
