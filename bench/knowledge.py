"""Rebuilding and asking: replay against a plain decode of every line, a session against ripgrep."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path

import msgspec

from bench.generate import PROJECT, call_tools, conversation_id
from bench.hook import on_a_busy_day
from bench.measure import FLOOR, Row, Run, compare, peak, process, processor
from eventlog.format.events import Event, Retraction, TurnEnd
from eventlog.log.event_log import EventLog
from eventlog.store import Store, project_slug
from eventlog.store.locks import locked

_EVENTLOG = (sys.executable, "-m", "eventlog")
_CALLS, _PATIENCE = 150_000, 3600
_QUERY = (*_EVENTLOG, "query", "--format", "jsonl", "--session")


def first_use(store: Path, small: Path, events: int) -> Iterator[Row]:
    """What the first one waits for after an update, or without a cache; and what a store takes on the disk."""
    decode = processor((sys.executable, "-m", "bench.decode", str(store / "log")))
    name = f"first settling of {events:,} events without a cache, processor time"
    settle = (*_EVENTLOG, "--store", str(store), "settle")

    def anew() -> object:
        shutil.rmtree(store / "cache", ignore_errors=True)
        return processor(settle)()

    process((*_EVENTLOG, "--store", str(small), "settle"))()
    yield compare(name, anew, "untyped decode of every line", decode, "≤ 4", rounds=3)
    shutil.rmtree(store / "cache", ignore_errors=True)
    yield _memory("peak memory of that settling, MiB", peak(settle), store)
    log, everything = (_bytes_in(place) / events for place in (store / "log", store))
    yield Row("disk per event, bytes: all of a store", everything, "its log", log, everything / log, "")
    number = count()
    for what, facts in (("a new one", (f"prices are in cents {one}" for one in number)), ("said before", repeat("so"))):

        def fact(facts: Iterator[str] = facts) -> object:
            return processor(_fact(store, next(facts)))()

        name = f"eventlog fact, {what}, processor time"
        goal = "≤ 4" if what == "a new one" else ""
        yield compare(name, fact, "python -I -S -c pass", processor(FLOOR), goal, rounds=15)


def _bytes_in(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def rows(store: Path, small: Path, events: int) -> Iterator[Row]:
    """The bars of replay and query, in a store of that many events and one of 1,000."""
    replay = process((*_EVENTLOG, "--store", str(store), "replay"))
    command = (*_EVENTLOG, "--store", str(store), "replay", "--full")
    full = _alone(process(command), store)
    decode = process((sys.executable, "-m", "bench.decode", str(store / "log")))
    if shutil.which("taskset"):
        alone = _alone(process(("taskset", "-c", "0", *command)), store)
        name = f"full replay of {events:,} events, by one process"
        yield compare(name, alone, "untyped decode of every line", decode, "≤ 3.5", rounds=3)
    name = f"full replay of {events:,} events"
    yield compare(name, full, "untyped decode of every line", decode, "≤ 2.5", rounds=3)
    taken: list[float] = []
    _alone(lambda: taken.append(peak(command)), store)()
    yield _memory("peak memory of that, MiB", taken[0], store)
    log, settle = EventLog(store), processor((*_EVENTLOG, "--store", str(store), "settle"))
    yield from _after_one_event(log, replay, full, events)

    def settle_a_turn() -> object:
        log.append(TurnEnd(conversation_id="bench"))
        return settle()

    settle_a_turn()
    name = f"settling after one turn, in {events:,}, processor time"
    yield compare(
        name, settle_a_turn, "python -I -c pass", processor((sys.executable, "-I", "-c", "pass")), "", rounds=5
    )
    yield from _on_a_busy_day(store, small)
    yield from _flat(store, small, events)
    verify = process((*_EVENTLOG, "--store", str(store), "verify"))
    yield compare(f"verify {events:,} events", verify, "untyped decode of every line", decode, "≤ 3", rounds=3)
    yield from _redact(small.parent / "redact")
    yield from asking(store, small, events)


def _fact(store: Path, text: str) -> tuple[str, ...]:
    """The command by which an agent saves a fact."""
    return (*_EVENTLOG, "--store", str(store), "fact", "--session", "bench", text)


def _memory(what: str, taken: float, store: Path) -> Row:
    """The bar of what a run takes in memory, beside the largest day file."""
    largest = max(file.stat().st_size for file in (store / "log").iterdir()) / 2**20
    return Row(what, taken, "largest day file, MiB", largest, taken / largest, "≤ 250 MiB")


def _alone(run: Run, store: Path) -> Run:
    """A run after which nothing of it is at work: a full replay of a long log leaves its indexes to a process."""

    def alone() -> float:
        begun = time.perf_counter()
        run()
        took = time.perf_counter() - begun
        wait_for_settle(store)
        return took

    return alone


def wait_for_settle(store: Path) -> None:
    """Wait until no process settles a store in the background."""
    while (store / "cache" / "settle.starting").exists():
        time.sleep(0.1)
    with locked(Store(str(store)), str(store / "cache" / "settle.lock"), _PATIENCE):
        return


def _redact(directory: Path) -> Iterator[Row]:
    """The bar of erasing a text from 10,000 events, with the rebuild."""
    log = EventLog(directory, fsync=False)
    told = (
        {"type": "fact", "conversation_id": f"c{one % 100}", "content": f"fact {one} " + "word " * 40}
        for one in range(10_000)
    )
    log.append_many(told)
    number = count()

    def erase() -> None:
        erased = f"secret-{next(number)}-{time.time_ns()}"
        log.append({"type": "fact", "conversation_id": "c1", "content": f"it is {erased}"})
        process((*_EVENTLOG, "--store", str(directory), "redact", erased, "--yes"))()

    plain = process((sys.executable, "-I", "-c", "pass"))
    yield compare("redact a text, in 10,000 events", erase, "python -I -c pass", plain, "≤ 2 s", rounds=3)


def _after_one_event(log: EventLog, replay: Run, full: Run, events: int) -> Iterator[Row]:
    """The bars of a replay after something has happened, in a process of its own."""
    number = count()

    def fact(**fields: object) -> Event:
        told = f"{next(number)} {time.time_ns()}"
        common = {"type": "fact", "conversation_id": f"bench-{told}", "project": PROJECT, "content": told}
        return log.append({**common, **fields})

    happen: dict[str, Callable[[], object]] = {
        "turn": lambda: log.append(TurnEnd(conversation_id="bench")),
        "fact": fact,
        "late fact": lambda: fact(ts="2025-03-03T10:00:00Z"),
        "retraction": lambda: log.append(Retraction(conversation_id="bench", target=fact().id)),
    }
    plain = process((sys.executable, "-I", "-c", "pass"))
    for what, one in happen.items():

        def after(one: Callable[[], object] = one) -> None:
            one()
            replay()

        name = f"replay after one {what}, in {events:,}"
        yield compare(name, after, "python -I -c pass", plain, "≤ 25", rounds=5)
        if what == "fact":
            yield compare(name, after, "full replay", full, "", rounds=3)


def _on_a_busy_day(store: Path, small: Path) -> Iterator[Row]:
    """The bar of a replay after a turn where 150,000 tools were called today, beside a day on which none was."""
    busy, quiet = (store.parent / name for name in ("busy", "quiet"))
    runs = []
    for where, calls in ((busy, _CALLS), (quiet, 0)):
        shutil.copytree(small / "log", where / "log")
        call_tools(where / "log", calls)
        log, replay = EventLog(where), processor((*_EVENTLOG, "--store", str(where), "replay"))

        def after(log: EventLog = log, replay: Run = replay) -> object:
            log.append(TurnEnd(conversation_id="bench"))
            return replay()

        after()
        runs.append(after)
    name = f"replay after one turn on a day of {_CALLS:,} events, processor time"
    yield compare(name, runs[0], "the same on a quiet day", runs[1], "≤ 1.3", rounds=5)
    wait_for_settle(busy)
    yield from on_a_busy_day(busy, quiet, _CALLS)
    number = count()
    facts = [lambda where=where: processor(_fact(where, f"so {next(number)}"))() for where in (busy, quiet)]
    name = f"eventlog fact on a day of {_CALLS:,} events, processor time"
    yield compare(name, facts[0], "the same on a quiet day", facts[1], "≤ 1.3", rounds=15)


def _flat(store: Path, small: Path, events: int) -> Iterator[Row]:
    """The bars of verbs that ask what replays keep."""
    line = str(Path("knowledge", "projects", f"{project_slug(PROJECT)}", "MEMORY.md:6"))
    process((*_EVENTLOG, "--store", str(small), "replay"))()
    for verb in (("why", line), ("stats",), ("sessions",)):
        asked = [
            process((*_EVENTLOG, verb[0], *(str(where / word) for word in verb[1:]), "--store", str(where)))
            for where in (store, small)
        ]
        yield compare(f"{verb[0]}, in {events:,}", asked[0], "the same in 1,000", asked[1], "≤ 1.5")


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
