"""A memory on two machines, over each kind of remote."""

import pytest

from tests.support.relays import MISSING, Relay
from tests.support.synced import Memory


@pytest.fixture(scope="session")
def relay(tmp_path_factory):
    """A server of NATS, where it is installed."""
    if MISSING:
        pytest.skip(MISSING)
    servers = Relay(tmp_path_factory.mktemp("relay"))
    yield servers
    servers.close()


@pytest.fixture(params=["folder", "git", "nats"])
def memory(request, tmp_path):
    relay = request.getfixturevalue("relay") if request.param == "nats" else None
    return Memory(tmp_path, by_git=request.param == "git", relay=relay)
