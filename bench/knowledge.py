"""Rebuilding and asking: replay against a plain decode of every line, a session against ripgrep."""

import os
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.generate import conversation_id
from bench.measure import FLOOR, Row, compare, process
from eventlog.events import TurnEnd
from eventlog.log import EventLog

_EVENTLOG = (sys.executable, "-m", "eventlog")
_QUERY = (*_EVENTLOG, "query", "--format", "jsonl", "--session")


def rows(store: Path, small: Path, events: int) -> Iterator[Row]:
    """The bars of replay and query, in a store of that many events and one of 1,000."""
    replay = process((*_EVENTLOG, "--store", str(store), "replay"))
    full = process((*_EVENTLOG, "--store", str(store), "replay", "--full"))
    decode = process((sys.executable, "-m", "bench.decode", str(store / "log")))
    yield compare(f"full replay of {events:,} events", full, "untyped decode of every line", decode, "≤ 2.0", rounds=3)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    largest = max(file.stat().st_size for file in (store / "log").iterdir()) / 2**20
    yield Row("peak memory of that, MiB", peak, "largest day file, MiB", largest, peak / largest, "≤ 250 MiB")
    log = EventLog(store)

    def incremental() -> None:
        log.append(TurnEnd(conversation_id="bench"))
        replay()

    yield compare("replay after one new event", incremental, "full replay", full, "≤ 0.05", rounds=3)
    yield from asking(store, small, events)


def asking(store: Path, small: Path, events: int) -> Iterator[Row]:
    """The bars of a session's lines as they stand, asked by a new process."""
    cold, same = (process((*_QUERY, conversation_id(11), "--store", str(where))) for where in (store, small))
    name = f"query --session, raw lines, in {events:,}"
    yield compare(name, cold, "python -I -S -c pass", process(FLOOR), "≤ 2.5", rounds=15)
    yield compare(name, cold, "the same in 1,000", same, "≤ 1.2", rounds=15)
    if shutil.which("rg"):
        search = process(("rg", "--no-filename", "--", conversation_id(11), str(store / "log")), env=dict(os.environ))
        yield compare(name, cold, "rg over the log", search, "≤ 1.0")


def decode_all(log_dir: Path) -> int:
    """The reference: every line decoded into plain objects, nothing kept."""
    decoder = msgspec.json.Decoder()
    count = 0
    for file in sorted(log_dir.iterdir()):
        for line in file.read_bytes().splitlines():
            decoder.decode(line)
            count += 1
    return count
