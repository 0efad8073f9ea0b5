"""Run every property and every test that kills or races with fresh seeds until the time is up: `python -m tests.support.fuzz SECONDS`.

At least one whole round runs. Ends with pytest's exit code of the first failing round; the
counterexample stays in `.hypothesis/`, so that the next round of anyone begins with it.
"""

import os
import sys
import time

import pytest

ROUND = ("-q", "-n", "auto", "-m", "hypothesis or fuzz", "--timeout=1200")


def main(seconds: float) -> int:
    """Repeat rounds of all of them for `seconds`; return 0, or the code of the round that failed."""
    os.environ["TEST_EFFORT"] = "fuzz"
    end = time.monotonic() + seconds
    while True:
        if code := pytest.main(list(ROUND)):
            return int(code)
        if time.monotonic() >= end:
            return 0


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1])))
