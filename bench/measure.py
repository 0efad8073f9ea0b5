"""Time as a ratio: two things measured in turn, A B A B …, in the same minute on the same machine."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Run = Callable[[], object]
FLOOR = (sys.executable, "-I", "-S", "-c", "pass")
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


class Row(NamedTuple):
    """One line of the table."""

    what: str
    seconds: float
    reference: str
    reference_seconds: float
    ratio: float
    goal: str

    @property
    def missed(self) -> bool:
        """Tell whether the goal, `≤ 2.5`, `≤ 250 MiB` or `≤ 2 s`, is missed."""
        sign, _, limit = self.goal.partition(" ")
        measured = self.seconds if limit.endswith(("MiB", " s")) else self.ratio
        return bool(limit) and (
            measured > float(limit.split()[0]) if sign == "≤" else measured < float(limit.split()[0])
        )


def compare(what: str, run: Run, reference: str, other: Run, goal: str, rounds: int = 9) -> Row:
    """Medians of both over so many rounds after a warm-up, and the median of the ratios pair by pair."""
    run()
    other()
    pairs = [(_seconds(run), _seconds(other)) for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(what, ours, reference, theirs, statistics.median(one / two for one, two in pairs), goal)


def process(command: Sequence[str], stdin: Callable[[], bytes] = bytes, env: dict[str, str] | None = None) -> Run:
    """A run of a whole process, from its start to its end; its output is read and thrown away."""

    def run() -> None:
        subprocess.run(command, input=stdin(), env=env, stdout=subprocess.PIPE, check=True)

    return run


def processor(command: Sequence[str], stdin: Callable[[], bytes] = bytes) -> Run:
    """A run of a whole process, as the processor time it takes: what a busy machine does not stretch."""

    def run() -> float:
        begun = _children()
        subprocess.run(command, input=stdin(), stdout=subprocess.PIPE, check=True)
        return _children() - begun

    return run


def peak(command: Sequence[str]) -> float:
    """Run a process, and return the most memory that it or any process it waits for has had, in MiB."""
    found = subprocess.run((sys.executable, "-c", _PEAK, *command), capture_output=True, check=True)
    return int(found.stdout) / 1024


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _seconds(run: Run) -> float:
    """How long it took; a run that has to prepare something says so itself."""
    begun = time.perf_counter()
    measured = run()
    return measured if isinstance(measured, float) else time.perf_counter() - begun
