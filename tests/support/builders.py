"""Makers of events, lines and day files, and a clock."""

import os
import subprocess
import sys
from pathlib import Path

from eventlog.fast import fastjson
from eventlog.format import ids, timestamps
from eventlog.log import days
from tests.support import tree
from tests.support.tree import IMPORT_PATH

ROOT = tree.ROOT
DAY = "2026-02-20"
NEXT_DAY = "2026-02-21"
NOON = timestamps.to_ms(f"{DAY}T12:00:00.000000Z") * 1_000_000
DAY_NS = 86_400 * 10**9


class Clock:
    """Nanoseconds since the epoch, as set; it does not move by itself."""

    def __init__(self, now=NOON):
        self.now = now

    def __call__(self):
        return self.now


def replay(log, settings, *, save=True, **options):
    """Replay, and save the cache."""
    from eventlog.app.build.replay import replay

    done = replay(log, settings, writes=save, **options)
    done.save()
    return done


def at(number, day=DAY):
    return f"{day}T12:{number // 60:02d}:{number % 60:02d}.000000Z"


def fact(number=0, *, day=DAY, **fields):
    """The fields of a fact that happened `number` seconds after noon."""
    ts = at(number, day)
    event_id = ids.derived(timestamps.to_ms(ts), str(number))
    common = {"v": 1, "id": event_id, "ts": ts, "type": "fact", "conversation_id": "c"}
    return {**common, "content": f"fact {number}", **fields}


def line(number=0, **fields):
    return fastjson.dumps(fact(number, **fields))


def lines(*numbers):
    return b"".join(line(number) + b"\n" for number in numbers)


def write(log_dir, data, name=f"{DAY}.jsonl"):
    """A file of the log's directory with these bytes; its path as text."""
    path = Path(log_dir) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def day_of(*files):
    return days.Day(DAY, files)


def contents(events):
    return [event.content for event in events]


def kinds(damage):
    return [one.kind for one in damage]


def spawn(*args, **options):
    """A Python process that imports the code under test and these tests; `args` as on the command line of `python`."""
    environ = {**os.environ, "PYTHONPATH": f"{IMPORT_PATH}:{ROOT}"}
    return subprocess.Popen([sys.executable, *map(str, args)], env=environ, **{"stdout": subprocess.PIPE, **options})


def writer(store, name, count, *, size=0, pause=0, **options):
    """A process that appends `count` facts and acknowledges the id of each on its stdout."""
    return spawn(ROOT / "tests" / "support" / "writer.py", store, name, count, size, pause, **options)
