"""A memory on two machines, over each kind of remote."""

import pytest

from tests.support.effort import FUZZ
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


_BY_EVERY_KIND = {  # where a kind of remote may differ; by every kind at full effort: all
    "test_a_fact_of_one_machine_is_known_on_the_other_and_all_files_are_equal",
    "test_a_kill_at_any_step_loses_and_doubles_nothing",
    "test_a_remote_that_was_rolled_back_is_refused_until_the_machine_joins_again",
    "test_an_empty_machine_is_restored_also_when_the_old_ones_are_lost",
    "test_nothing_in_the_remote_can_be_read",
    "test_offline_is_part_of_the_report_and_what_waits_leaves_later",
    "test_past_days_are_compacted_on_the_way_and_what_was_removed_leaves_the_history",
}
_BY_PROGRAMS = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("git", "nats")]


def pytest_generate_tests(metafunc):
    """Ask every test of some kinds of remote."""
    if "kind" in metafunc.fixturenames:
        every = FUZZ or metafunc.function.__name__ in _BY_EVERY_KIND
        metafunc.parametrize("kind", ["folder", *_BY_PROGRAMS] if every else ["folder"])


@pytest.fixture
def memory(request, tmp_path, kind):
    """Two machines with a remote of this kind."""
    relay = request.getfixturevalue("relay") if kind == "nats" else None
    return Memory(tmp_path, by_git=kind == "git", relay=relay)
