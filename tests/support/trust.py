"""Run the tests of each promise at full effort, and print what ran: `python -m tests.support.trust [--scale X] [--seeds N]`.

A row per promise: its tests, how many rounds they played, the result, the commit. `--write` puts the rows into the table
of docs/guarantees.md. Ends with 1 where a promise did not hold.
"""

import argparse
import os
import subprocess
import sys
import time
from functools import cache
from typing import NamedTuple

import pytest

from tests.support.tree import ROOT

PAGE = ROOT / "docs" / "guarantees.md"
BEGIN, END = "<!-- made by `make trust` -->", "<!-- until here -->"
PROMISES = {
    "Writers killed at any moment lose nothing they acknowledged": [
        "tests/log/test_crash.py", "tests/hooks/test_killed_write.py", "tests/log/test_retries.py",
    ],
    "Every verb may be killed, or its disk fail, at any write, also at its first use": ["tests/laws/test_crash_laws.py"],
    "Any system call of an append may fail: all of it, or none": ["tests/log/test_faults.py"],
    "A power cut costs nothing that was acknowledged, with two processes at work": [
        "tests/log/test_writers_power_cut.py", "tests/app/build/test_power_cut.py",
    ],
    "64 writers beside replay, forget, redact, seal and verify": [
        "tests/laws/test_all_at_once.py", "tests/log/test_concurrency.py",
    ],
    "Damage costs only itself": ["tests/log/test_damage.py", "tests/log/test_bad_logs.py"],
    "Damage is repaired, and the sum of bytes stays": ["tests/log/test_repair.py"],
    "What is altered is named, and nothing else is": ["tests/log/test_seals.py"],
    "What is redacted is in no file, in no spelling": ["tests/app/test_redact.py", "tests/app/test_erase_everywhere.py"],
    "A backup has every event, under writers, and is restored elsewhere": ["tests/app/test_backup.py"],
    "A replay is deterministic": [
        "tests/laws/test_replay_laws.py", "tests/laws/test_cache_laws.py", "tests/laws/test_fold_laws.py",
    ],
    "What a person wrote stays": [
        "tests/laws/test_people_text_laws.py", "tests/laws/test_apply_laws.py", "tests/app/test_apply_crash.py",
        "tests/laws/test_machines_laws.py",
    ],
    "What is forgotten stays away": [
        "tests/app/test_forget.py", "tests/laws/test_forgotten_words.py", "tests/laws/test_going_back_laws.py",
    ],
    "Machines that sync lose and double nothing, on a hostile remote too": [
        "tests/laws/test_sync_laws.py", "tests/laws/test_sync_hostile.py", "tests/app/sync",
    ],
    "No secret reaches the disk": ["tests/log/test_secrets.py", "tests/hooks/test_scrub.py"],
    "A hook never disturbs its host": ["tests/hooks/test_hostile_payloads.py", "tests/hooks/test_in_time.py"],
}  # fmt: skip
HISTORIES = "Whole histories of three machines keep every promise"


class Row(NamedTuple):
    """What a promise came to."""

    promise: str
    tests: str
    rounds: int
    result: str
    seconds: float

    def __str__(self) -> str:
        return f"| {self.promise} | {self.tests} | {self.rounds:,} | {self.result} | {_commit()} |"


class _Counter:
    """Counts the rounds that tests have played, and the tests that failed."""

    def __init__(self) -> None:
        self.rounds = self.passed = 0
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
            sys.stdout.write(f"{report.nodeid}\n{report.longreprtext}\n")
        elif report.when == "call" and report.passed:
            self.passed += 1
            self.rounds += sum(int(str(value)) for name, value in report.user_properties if name == "rounds")


def main(argv: list[str] | None = None) -> int:
    """Try every promise, print the table, and return 1 where one did not hold."""
    parser = argparse.ArgumentParser(prog="trust", description=__doc__)
    parser.add_argument("--scale", default="1", help="of the full effort, such as 0.1")
    parser.add_argument("--seeds", type=int, default=100_000, help="histories of the simulator")
    parser.add_argument("--only", default="", help="promises with these words in them")
    parser.add_argument("--write", action="store_true", help="write the table into docs/guarantees.md")
    options = parser.parse_args(argv)
    os.environ |= {"TEST_EFFORT": "fuzz", "TEST_SCALE": options.scale}
    wanted = [promise for promise in [*PROMISES, HISTORIES] if options.only.lower() in promise.lower()]
    rows = []
    for promise in wanted:
        row = _simulated(options.seeds) if promise == HISTORIES else _tested(promise, PROMISES[promise])
        rows.append(row)
        sys.stdout.write(f"{row} {row.seconds:.0f} s\n")
        sys.stdout.flush()
    if options.write:
        _write(rows)
    return int(any(row.result != "held" for row in rows))


def _tested(promise: str, files: list[str]) -> Row:
    counter, begun = _Counter(), time.monotonic()
    code = pytest.main(
        [*files, "-qq", "--no-header", "--no-summary", "-n", "auto", "--timeout=3600"], plugins=[counter]
    )
    named = ", ".join(f"`{file}`" for file in files)
    held = code == 0 and counter.passed > 0
    result = "held" if held else f"broken: {', '.join(counter.failed) or f'pytest ended with {code}'}"
    return Row(promise, named, counter.rounds, result, time.monotonic() - begun)


def _simulated(seeds: int) -> Row:
    begun = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.simulator", str(seeds)], capture_output=True, text=True, check=False
    )
    result = "held" if ended.returncode == 0 else f"broken: {ended.stdout.splitlines()[0]}"
    return Row(HISTORIES, "`tests/simulator/`", seeds, result, time.monotonic() - begun)


@cache
def _commit() -> str:
    said = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return said.stdout.strip() or "unknown"


def _write(rows: list[Row]) -> None:
    """Replace these rows of the page; those of promises that were not tried stay."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    there, _, after = rest.partition(END)
    lines = {line.split("|")[1].strip(): line for line in there.splitlines() if line.startswith("| ")}
    lines |= {row.promise: str(row) for row in rows}
    ordered = [lines[promise] for promise in [*PROMISES, HISTORIES] if promise in lines]
    table = "\n".join(["| promise | tests | rounds | result | commit |", "| --- | --- | --- | --- | --- |", *ordered])
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
