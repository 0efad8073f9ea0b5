"""Run every property and every test that kills or races with fresh seeds until the time is up: `python -m tests.support.fuzz SECONDS`.

At least one whole round runs. What is found is told plainly, so that nobody takes it for the suite's result. Ends with
pytest's exit code of the first failing round; the counterexample stays in `.hypothesis/`, so that the next round of
anyone begins with it.
"""

import os
import re
import sys
import time

import pytest

ROUND = ("-qq", "--no-header", "--no-summary", "-n", "auto", "-m", "hypothesis or fuzz", "--timeout=1200")
_SAID = re.compile(r"^E   ?(.*)$", re.MULTILINE)  # what was raised, with the example that hypothesis notes


class Finder:
    """Tells of each failure which test it is and what was raised, when the round is over."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            said = _SAID.findall(report.longreprtext) or report.longreprtext.splitlines()
            self._found.append("\n".join([f"counterexample: {report.nodeid}", *(f"    {line}" for line in said)]))

    def pytest_unconfigure(self) -> None:
        sys.stdout.write("".join(f"\n{one}\n" for one in self._found))


def main(seconds: float) -> int:
    """Repeat rounds of all of them for `seconds`; return 0, or the code of the round that failed."""
    os.environ["TEST_EFFORT"] = "fuzz"
    begun = time.monotonic()
    code = rounds = 0
    while not code and (not rounds or time.monotonic() < begun + seconds):
        code = int(pytest.main(list(ROUND), plugins=[Finder()]))
        rounds += 1
    found = "something, see above" if code else "nothing"
    sys.stdout.write(f"\nfuzz: found {found} (rounds: {rounds}, seconds: {time.monotonic() - begun:.0f})\n")
    return code


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1])))
