"""What a session waits for before it begins: the start hook with the whole context, in stores of any size.

The stores end this minute, so the days a context reads are as full as all the others. What was said since the last
replay is read from the tail of the log: a fact, one under a key, and what another session at work leaves behind.
"""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import orjson

import eventlog
from bench.generate import PROJECT, after_a_fact, generate
from bench.measure import FLOOR, Row, Run, compare, processor
from eventlog import EventLog

_SCRIPT = str(Path(eventlog.__file__).parent / "hook.py")
_SMALLEST = 1000
_BUSY, _STARTS, _TOLD = 4, 100, b"Recorded earlier"
_DAYS = 365
_sessions = count()


def rows(scratch: Path, events: int) -> Iterator[Row]:
    """The bar of the session-start hook, for stores of 1,000 events and ten times more each, up to `events`."""
    smallest = _hook(_store(scratch, _SMALLEST))
    name = f"session-start hook with context, store of {_SMALLEST:,}"
    yield compare(name, smallest, "python -I -S -c pass", processor(FLOOR), "≤ 4", rounds=15)
    store = scratch / f"context-{_SMALLEST}"
    for what, goal, run in (
        ("right after another session's call", "≤ 5", _after(store, smallest, type="host_event", name="PostToolUse")),
        ("right after a fact", "≤ 6", after_a_fact(store, smallest)),
        ("right after a fact with a key", "≤ 6", _after(store, smallest, type="fact", content="again", key="bench")),
        ("without a cache", "≤ 8", _without_cache(store, smallest)),
    ):
        yield compare(f"the same, {what}", run, "python -I -S -c pass", processor(FLOOR), goal, rounds=15)
    config = store / "config.yaml"
    config.write_text("timezone: Europe/Berlin\n")
    _store(scratch, _SMALLEST)
    yield compare("the same, in Berlin", smallest, "python -I -S -c pass", processor(FLOOR), "≤ 4", rounds=15)
    config.unlink()
    _store(scratch, _SMALLEST)  # with a cache again, and in UTC
    size = _SMALLEST * 10
    while size <= events:
        yield compare(
            f"session-start hook with context, store of {size:,}, processor time",
            _hook(_store(scratch, size)),
            f"the same with {_SMALLEST:,}",
            smallest,
            "≤ 1.2",
            rounds=15,
        )
        size *= 10
    yield _beside_busy(scratch / f"context-{size // 10}", size // 10)


def _after(store: Path, run: Run, **fields: str) -> Run:
    """A run that finds one more event of another session in the log."""
    log = EventLog(store)

    def after() -> object:
        log.append({"conversation_id": "bench", "project": PROJECT, **fields})
        return run()

    return after


def _without_cache(store: Path, run: Run) -> Run:
    """A run that finds no cache."""

    def without() -> object:
        shutil.rmtree(store / "cache", ignore_errors=True)
        return run()

    return without


def _store(scratch: Path, events: int) -> Path:
    """A store of so many events in the last year, replayed."""
    store = scratch / f"context-{events}"
    generate(store / "log", events, _DAYS, datetime.now(UTC) - timedelta(days=_DAYS))
    for verb in (("replay",), ("search", "cart")):  # the latter leaves an index, as the end of a session does
        command = (sys.executable, "-m", "eventlog", "--store", str(store), *verb)
        subprocess.run(command, check=True, capture_output=True)
    return store


def _beside_busy(store: Path, events: int) -> Row:
    """The bar of starts that are told what is known while others take the processors; the ratio is their share."""
    alone = [_start(store) for _ in range(9)]
    busy = [subprocess.Popen((sys.executable, "-I", "-S", "-c", "while True: pass")) for _ in range(_BUSY)]
    try:
        starts = [_start(store) for _ in range(_STARTS)]
    finally:
        for process in busy:
            process.kill()
    seconds, quiet = (statistics.median(took for took, _ in runs) for runs in (starts, alone))
    told = sum(is_told for _, is_told in starts) / _STARTS
    what = f"{_STARTS} session starts beside {_BUSY} busy processes, store of {events:,}: share that is told"
    return Row(what, seconds, "alone", quiet, told, "≥ 1")


def _start(store: Path) -> tuple[float, bool]:
    begun = time.perf_counter()
    ran = subprocess.run(_command(store), input=_payload(), capture_output=True, check=True)
    return time.perf_counter() - begun, _TOLD in ran.stdout


def _hook(store: Path) -> Run:
    return processor(_command(store), _payload)


def _command(store: Path) -> tuple[str, ...]:
    return (*FLOOR[:3], _SCRIPT, "--agent", "claude", "--event", "SessionStart", "--store", str(store))


def _payload() -> bytes:
    return orjson.dumps(
        {
            "session_id": f"bench-{next(_sessions):06}",
            "cwd": PROJECT,
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
    )
