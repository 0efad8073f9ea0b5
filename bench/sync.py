"""Two machines with one memory: joining, a fact on its way to the other machine, and how large the remote is."""

import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from shutil import rmtree

import orjson

from bench.generate import PROJECT, generate
from bench.hook import hook
from bench.knowledge import wait_for_settle
from bench.measure import FLOOR, Row, Run, compare, processor

_BARE = "python -I -S -c pass"
_facts = count()


def rows(scratch: Path, events: int) -> Iterator[Row]:
    """The bars of a sync, through a directory: what git takes beside it is not in them."""
    one, remote = scratch / "one", f"dir:{scratch / 'hub'}"
    generate(one / "log", events)
    code = orjson.loads(_run(one, "sync", "start", remote, "--json"))["code"]
    other = scratch / "other"
    _run(other, "sync", "join", remote, code)

    yield compare(
        f"joining with an empty store, {events:,}, processor time",
        _joining(scratch / "new", remote, code),
        "replay --full",
        processor(_command(one, "replay", "--full")),
        "≤ 2",
        rounds=3,
    )
    floor = processor(FLOOR)
    sent, taken = _on_its_way(one, other)
    for what, run in (("sent", sent), ("taken in", taken)):
        yield compare(f"a fact is {what}, in {events:,}, processor time", run, _BARE, floor, "≤ 25", rounds=5)
    wall = _fastest(one, other)
    yield Row(f"a fact here is known there, in {events:,}", wall, "one second", 1, wall, "≤ 5")
    yield _size(one, scratch / "hub")
    alone = scratch / "alone"
    generate(alone / "log", events)
    (one / "config.yaml").write_text("sync: {auto: true}\n")
    (alone / "config.yaml").write_text("sync: {auto: false}\n")
    for store in (one, alone):
        _run(store, "replay")
    tool = b'{"hook_event_name":"PostToolUse","session_id":"at-work","cwd":"/nowhere","tool_name":"Bash"}'
    hooks = (processor(hook(store, "PostToolUse"), lambda: tool) for store in (one, alone))
    yield compare("tool call, processor time", next(hooks), "in a store that does not sync", next(hooks), "≤ 1.05", 61)


def _joining(store: Path, remote: str, code: str) -> Run:
    def run() -> float:
        rmtree(store, ignore_errors=True)
        found = processor(_command(store, "sync", "join", remote, code))()
        assert isinstance(found, float)
        wait_for_settle(store)
        return found

    return run


def _on_its_way(one: Path, other: Path) -> tuple[Run, Run]:
    """Runs of a sync after a fact: on the machine where it was said, and on the other after that."""

    def sent() -> object:
        _say(one)
        return processor(_command(one, "sync"))()

    def taken() -> object:
        _say(one)
        _run(one, "sync")
        return processor(_command(other, "sync"))()

    return sent, taken


def _size(store: Path, hub: Path) -> Row:
    """Compare the remote after compaction with the log of this machine, each day compressed as a whole."""
    _run(store, "sync", "--compact")
    own = [path for path in hub.rglob("*.age") if path.name != "head.age"]
    remote = sum(path.stat().st_size for path in own) / 1024**2
    log = sum(len(zlib.compress(path.read_bytes(), 6)) for path in (store / "log").glob("????-??-??.jsonl")) / 1024**2
    return Row("segments in the remote, MiB", remote, "the compressed log", log, remote / log, "≤ 1.2")


def _say(store: Path) -> None:
    _run(store, "fact", f"The measured tea is green {next(_facts)}", "--session", "bench", "--project", PROJECT)


def _fastest(one: Path, other: Path, rounds: int = 3) -> float:
    """The shortest time in which a fact was known on the other machine."""
    times = []
    for _ in range(rounds):
        _say(one)
        begun = time.perf_counter()
        _run(one, "sync")
        _run(other, "sync")
        times.append(time.perf_counter() - begun)
    return min(times)


def _command(store: Path, *words: str) -> tuple[str, ...]:
    verb, *rest = words
    return (sys.executable, "-m", "eventlog", verb, *rest, "--store", str(store))


def _run(store: Path, *words: str) -> bytes:
    return subprocess.run(_command(store, *words), env=os.environ, stdout=subprocess.PIPE, check=True).stdout
