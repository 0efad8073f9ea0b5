import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eventlog import Store
from eventlog.errors import NotStored
from eventlog.replica import make_replica, replica_of


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def test_a_store_has_no_name_until_one_is_needed(store):
    assert ("", False) == (replica_of(store), Path(store.root).exists())


def test_a_name_is_made_once_for_its_owner_only(store):
    name = make_replica(store)

    assert re.fullmatch(r"[a-z0-9-]{1,33}-[0-9a-f]{6}", name)
    assert [name, name] == [make_replica(store), replica_of(store)]
    assert 0o600 == Path(store.replica).stat().st_mode & 0o777
    assert [Path(store.replica)] == list(Path(store.root).iterdir())


@pytest.mark.parametrize("links", [True, False])
def test_of_several_at_once_one_makes_the_name(store, monkeypatch, links):
    def refuse(*_):
        raise PermissionError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: make_replica(store), range(8)))

    assert {replica_of(store)} == names


@pytest.mark.parametrize(
    ("host", "slug"), [("Bob's Mac.local", "bob-s-mac"), ("箱", "machine"), ("conflict-box", "machine")]
)
def test_a_name_begins_with_the_host_as_far_as_that_can_be_written(store, monkeypatch, host, slug):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("", host, "", "", "")))

    assert slug == make_replica(store).rpartition("-")[0]


@pytest.mark.parametrize("held", [b"", b"two words\n", b"a.b\n", b"x" * 41, b"\xff\n", b"sync-conflict-1\n"])
def test_what_is_no_name_counts_for_none_and_is_never_replaced(store, held):
    Path(store.root).mkdir()
    Path(store.replica).write_bytes(held)

    assert "" == replica_of(store)
    with pytest.raises(NotStored, match="does not hold"):
        make_replica(store)
    assert held == Path(store.replica).read_bytes()
