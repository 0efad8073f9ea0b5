"""`python -m tests.realhosts`: the real command-line agents with our hooks, offline, against a model of our own.

Exit codes: 0 all as expected, 1 something fails that is not in `expected.json`, 2 usage. Where the hosts cannot be had it says why and
ends with 0: a machine without npm is no regression.
"""

import argparse
import asyncio
import itertools
import os
import signal
import sys
import time
from pathlib import Path

from tests.realhosts import fence, leftovers, matrix, npm, page, subject
from tests.realhosts.expected import Expected
from tests.realhosts.hosts import HOSTS
from tests.realhosts.outcome import Outcome, Skipped
from tests.realhosts.runner import Stage
from tests.realhosts.scenarios import HEADLESS, TIMED
from tests.realhosts.terminal import TERMINAL

_ENDED = 128 + signal.SIGTERM
_MINUTES = 60  # all of it takes half as long on two cores that others use, too
_MAX = 4  # scenarios side by side, where there are so many cores: a host takes one, and half a gigabyte


def main() -> int:
    """Play what is asked for and print the matrix; return the exit code."""
    options = _options()
    begun = time.monotonic()
    latest = os.environ.get("HOSTS") == "latest"
    try:
        at = page.commit() if options.docs else ""
        _say("installing the hosts and the wheel of this checkout")
        modules, python = npm.install(latest=latest), subject.install()
    except Skipped as skipped:
        for name in options.host:
            _say(f"{name:8} skipped: {skipped}")
        return 0
    leftovers.adopt()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_ENDED))  # so that what was started is ended, too
    fenced, why_not = fence.find()
    if why_not:
        _say(f"without namespaces: {why_not}; the hosts could reach the network, and are told not to")
    expected = Expected.read()
    try:
        outcomes = asyncio.run(play(Stage(modules, python, fenced), options, expected))
    finally:
        leftovers.end_all()
    versions = {name: f"{HOSTS[name].title} {HOSTS[name].version(modules)}" for name in options.host}
    table = matrix.render(outcomes, versions, expected)
    sys.stdout.write(f"\n{table}\n")
    if options.out:
        options.out.write_text(f"{table}\n")
    if at:
        page.PAGE.write_text(
            page.with_table(page.PAGE.read_text(), table, at, f"{time.strftime('%Y-%m-%d', time.gmtime())}")
        )
    _say(f"\n{len(outcomes)} scenarios in {time.monotonic() - begun:.0f} s")
    return _judge(outcomes, expected)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.realhosts", description=__doc__)
    parser.add_argument("--host", action="append", choices=HOSTS, help="only this host (repeatable)")
    parser.add_argument("--scenario", action="append", choices=[*HEADLESS, *TERMINAL], help="only this (repeatable)")
    parser.add_argument("--terminal", action="store_true", help="the scenarios in a terminal, instead of those without")
    parser.add_argument("--minutes", type=float, default=_MINUTES, help="begin no scenario after so many")
    parser.add_argument("--jobs", type=int, help="so many scenarios side by side, but what is timed, or in a terminal")
    parser.add_argument("--out", type=Path, help="write the matrix to this file, too")
    parser.add_argument(
        "--docs", action="store_true", help="write these rows of the matrix to docs/hosts.md, with the commit"
    )
    options = parser.parse_args()
    if options.docs and options.host:
        parser.error("--docs is for a run of all hosts")
    options.host = options.host or list(HOSTS)
    options.jobs = options.jobs or (1 if options.terminal else min(_MAX, os.cpu_count() or 1))
    options.scenario = options.scenario or list(TERMINAL if options.terminal else HEADLESS)
    return options


async def play(stage: Stage, options: argparse.Namespace, expected: Expected) -> list[Outcome]:
    """Play all that is asked for, as long as there is time: side by side, but what is timed alone, at the end."""
    end = time.monotonic() + 60 * options.minutes
    seats = asyncio.Semaphore(options.jobs)

    async def seated(scenario: str, host: str) -> Outcome:
        async with seats:
            if time.monotonic() > end:
                outcome = Outcome(host, scenario, "skipped", f"{options.minutes:g} minutes were over")
            else:
                outcome = await _play_twice(stage, host, scenario, expected)
        _say(f"{host:8} {scenario:20} {outcome.verdict:8} {outcome.seconds:5.1f} s  {outcome.note}")
        return outcome

    others = [scenario for scenario in options.scenario if scenario not in TIMED]
    outcomes = await asyncio.gather(*itertools.starmap(seated, itertools.product(others, options.host)))
    timed = [scenario for scenario in options.scenario if scenario in TIMED]
    return [*outcomes, *[await seated(*each) for each in itertools.product(timed, options.host)]]


async def _play_twice(stage: Stage, host: str, scenario: str, expected: Expected) -> Outcome:
    """What fails unexpectedly gets a second chance, which the outcome tells of."""
    outcome = await stage.play(host, scenario)
    if not expected.is_regression(outcome):
        return outcome
    _say(f"{host:8} {scenario:20} fails, once more: {outcome.note}")
    return (await stage.play(host, scenario))._replace(failed_first=outcome.note or "without a word")


def _judge(outcomes: list[Outcome], expected: Expected) -> int:
    """Say what differs from `expected.json`; 1 where something is worse."""
    worse = [outcome for outcome in outcomes if expected.is_regression(outcome)]
    for outcome in worse:
        _say(f"REGRESSION {outcome.host} {outcome.scenario}: {outcome.note}")
    for outcome in outcomes:
        if expected.is_mended(outcome):
            _say(f"better than expected, take the line out of expected.json: {outcome.scenario} {outcome.host}")
    return 1 if worse else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
