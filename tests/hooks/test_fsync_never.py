"""`fsync: never` holds for everything a hook writes: events, receipts, requests, what waits in the spool."""

import os
from pathlib import Path

import pytest

from tests.support.host_calls import Session, alone, events


@pytest.fixture
def store(tmp_path):
    store = alone(tmp_path / "store")
    Path(store, "log").mkdir()
    Path(store, "config.yaml").write_text("fsync: never\n")
    return store


def test_a_session_with_all_its_nets_syncs_nothing(store, monkeypatch):
    synced = []
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").readlink()))
    monkeypatch.setattr("eventlog.store.dayfile._sync", os.fdatasync)
    session = Session(store)
    session.hook("SessionStart", source="startup")
    session.turns(4)
    session.hook("SessionEnd")

    assert 1 == len(events(store, "context_injected")) == len(events(store, "save_requested"))
    assert [] == [path for path in synced if path.is_relative_to(store)]  # people's own files are synced all the same
