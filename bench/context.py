"""What a session waits for before it begins: the start hook with the whole context, in stores of any size.

The stores end this minute, so the days a context reads are as full as all the others. The first start after a replay
makes the context anew, as does one after something was said; the others find it ready, as does who starts once the
session before has ended.
"""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import orjson

import eventlog
from bench.generate import PROJECT, after_a_fact, generate
from bench.measure import FLOOR, Row, Run, compare, processor

_SCRIPT = str(Path(eventlog.__file__).parent / "hook.py")
_SMALLEST = 1000
_DAYS = 365
_sessions = count()


def rows(scratch: Path, events: int) -> Iterator[Row]:
    """The bar of the session-start hook, for stores of 1,000 events and ten times more each, up to `events`."""
    smallest = _hook(_store(scratch, _SMALLEST))
    name = f"session-start hook with context, store of {_SMALLEST:,}"
    yield compare(name, smallest, "python -I -S -c pass", processor(FLOOR), "≤ 4", rounds=15)
    anew = after_a_fact(scratch / f"context-{_SMALLEST}", smallest)
    yield compare(
        "the same, right after something was said", anew, "python -I -S -c pass", processor(FLOOR), "", rounds=15
    )
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


def _store(scratch: Path, events: int) -> Path:
    """A store of so many events in the last year, replayed."""
    store = scratch / f"context-{events}"
    generate(store / "log", events, _DAYS, datetime.now(UTC) - timedelta(days=_DAYS))
    subprocess.run((sys.executable, "-m", "eventlog", "--store", str(store), "replay"), check=True, capture_output=True)
    return store


def _hook(store: Path) -> Run:
    command = (
        sys.executable,
        "-I",
        "-S",
        _SCRIPT,
        "--agent",
        "claude",
        "--event",
        "SessionStart",
        "--store",
        str(store),
    )
    return processor(command, _payload)


def _payload() -> bytes:
    return orjson.dumps(
        {
            "session_id": f"bench-{next(_sessions):06}",
            "cwd": PROJECT,
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
    )
