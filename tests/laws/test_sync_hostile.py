"""Machines that sync through everything that happens to them and their remote lose and double nothing.

`make trust ONLY=sync` plays three machines of 5,000 lifelike events each through 1,000 hostile steps.
"""

import pytest

from tests.support.effort import FUZZ, rounds, seed
from tests.support.hostile_sync import HostileHistory

pytestmark = pytest.mark.slow


@pytest.mark.fuzz
@pytest.mark.parametrize("by_git", [False, True] if FUZZ else [False], ids=str)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's thread; nothing is shared
def test_machines_lose_and_double_nothing_whatever_happens_to_them_and_their_remote(tmp_path, by_git):
    events, steps = rounds(fixed=15, fuzz=5000), rounds(fixed=20, fuzz=1000)
    HostileHistory(tmp_path, seed(), events, steps, by_git=by_git).play()
