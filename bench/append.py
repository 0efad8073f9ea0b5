"""Appending from Python: what safety costs, and what syncing after unlocking saves."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench.measure import Row, Run, compare
from eventlog import EventLog, Fact, codec

_TEXT = "the cart holds prices in cents; " * 8
_LINE = codec.encode(Fact(conversation_id="bench", content=f"fact 1234 {_TEXT}", id="x" * 36, ts="x" * 27)) + b"\n"
_PLAIN, _SYNCED, _WRITERS = 4000, 300, 8


def rows(scratch: Path) -> Iterator[Row]:
    """The bars of appends."""
    yield compare(
        f"EventLog.append of {_PLAIN:,} facts, not synced, processor time",
        _facts(EventLog(scratch / "append", fsync=False)),
        "bare flock + write of the same lines on a held descriptor",
        lambda: _bare(str(scratch / "bare")),
        "≤ 6",
        rounds=25,
    )
    yield compare(
        f"synced append, {_WRITERS} processes together",
        lambda: _together("safe", scratch),
        "the same, sync inside the lock",
        lambda: _together("bare", scratch),
        "≤ 0.5",
        rounds=11,
    )


def _facts(log: EventLog) -> Run:
    """A run of appends; no two facts say the same, so that nothing is known of any of them before."""
    numbers = count()

    def run() -> float:
        facts = [Fact(conversation_id="bench", content=f"fact {next(numbers)} {_TEXT}") for _ in range(_PLAIN)]
        begun = time.process_time()
        for fact in facts:
            log.append(fact)
        return time.process_time() - begun

    return run


def _bare(path: str) -> float:
    begun = time.process_time()
    bare(path, _PLAIN, sync=False)
    return time.process_time() - begun


def safe(store: str, times: int, *, sync: bool) -> None:
    """As the log appends."""
    log = EventLog(store, fsync=sync)
    for number in range(times):
        log.append(Fact(conversation_id="bench", content=f"fact {number} {_TEXT}"))


def bare(path: str, times: int, *, sync: bool) -> None:
    """The least that keeps lines of several writers apart."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for _ in range(times):
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.write(fd, _LINE)
        if sync:
            os.fdatasync(fd)
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def _together(how: str, scratch: Path) -> float:
    """Seconds from a common start, when all writers are up, to the end of the last."""
    path = str(scratch / f"{how}-synced")
    code = f"from bench.append import {how}; print(flush=True); input(); {how}({path!r}, {_SYNCED}, sync=True)"
    command = (sys.executable, "-c", code)
    running = [
        subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(_WRITERS)
    ]
    for one in running:
        assert one.stdout is not None
        one.stdout.readline()
    begun = time.perf_counter()
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in running:
        one.communicate()
    return time.perf_counter() - begun
