"""Appending from Python: what safety costs, and what syncing after unlocking saves.

Writers that append together are measured against writers with one difference, the place of the sync: what an event
costs is the row before. They are up before a run and stay after it, as the end of so many processes takes as long as
hundreds of appends; and the two take turns within a second, as a disk has its moods. The last row is no bar: its
writers check, name and encode nothing, so that it tells less of the lock than of how slow the disk is at the time.
"""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from pathlib import Path
from unittest import mock

from bench.measure import Row, Run, compare
from eventlog import EventLog, Fact
from eventlog.format import codec
from eventlog.store.dayfile import DayFile

_TEXT = "the cart holds prices in cents; " * 8
_WORK = f"{_TEXT[:160]}in /home/ada/src/shop/cart/price.py since 4f6ec4c7e9f5e2b8d41c0aa77c1b2d3e4f506172"
_LINE = codec.encode(Fact(conversation_id="bench", content=f"fact 1234 {_TEXT}", id="x" * 36, ts="x" * 27)) + b"\n"
_PLAIN, _SYNCED, _WRITERS = 4000, 100, 8


def rows(scratch: Path) -> Iterator[Row]:
    """The bars of appends."""
    for what, text, goal in (("facts in prose", _TEXT, "≤ 6"), ("facts with a commit and a path", _WORK, "≤ 8")):
        yield compare(
            f"EventLog.append of {_PLAIN:,} {what}, not synced, processor time",
            _facts(EventLog(scratch / "append", fsync=False), text),
            "bare flock + write of the same lines on a held descriptor",
            lambda: _bare(str(scratch / "bare")),
            goal,
            rounds=25,
        )
    with ExitStack() as stack:
        ours, inside, lines = (stack.enter_context(_together(how, scratch)) for how in _WAYS)
        what = f"{_SYNCED} synced appends each by {_WRITERS} processes together"
        yield compare(what, ours, "the same, sync inside the lock", inside, "≤ 0.5", rounds=25)
        yield compare(what, ours, "bare flock + write + sync inside the lock", lines, "", rounds=25)


def _facts(log: EventLog, text: str) -> Run:
    """A run of appends; no two facts say the same, so that nothing is known of any of them before."""
    facts = _different_facts(text)

    def run() -> float:
        chosen = list(islice(facts, _PLAIN))
        begun = time.process_time()
        for fact in chosen:
            log.append(fact)
        return time.process_time() - begun

    return run


def _different_facts(text: str = _TEXT) -> Iterator[Fact]:
    return (Fact(conversation_id="bench", content=f"fact {number} {text}") for number in count())


def _bare(path: str) -> float:
    fd = _opened(path)
    begun = time.process_time()
    _write_lines(fd, _PLAIN, sync=False)
    os.close(fd)
    return time.process_time() - begun


def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _write_lines(fd: int, times: int, *, sync: bool) -> None:
    """The least that keeps lines of several writers apart."""
    for _ in range(times):
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.write(fd, _LINE)
        if sync:
            os.fdatasync(fd)
        fcntl.flock(fd, fcntl.LOCK_UN)


def _ours(store: str) -> Callable[[], None]:
    """Writes of a process, as the log appends."""
    log, facts = EventLog(store, fsync=True), _different_facts()

    def write() -> None:
        for fact in islice(facts, _SYNCED):
            log.append(fact)

    return write


def _inside(store: str) -> Callable[[], None]:
    """As the log would append if it synced before it unlocks."""
    mock.patch("eventlog.log.event_log.DayFile", _SyncedInside).start()
    return _ours(store)


def _lines(path: str) -> Callable[[], None]:
    fd = _opened(path)
    return lambda: _write_lines(fd, _SYNCED, sync=True)


class _SyncedInside(DayFile):
    """A day's file that is synced before the lock is released, which is held so long that the kernel waits for it."""

    def append(self, lines: bytes) -> None:
        super().append(lines)
        os.fdatasync(self._fd)

    def _is_added(self, line: bytes, ts: str) -> bool:
        added = super()._is_added(line, ts)
        os.fdatasync(self._fd)
        return added

    def _make_durable(self) -> None:
        """It is."""

    def _lock(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)


_WAYS: dict[str, Callable[[str], Callable[[], None]]] = {"ours": _ours, "inside": _inside, "lines": _lines}


def writer(how: str, path: str) -> None:
    """Append so many events for every line of input, and print one when they are on the disk."""
    write = _WAYS[how](path)
    print(flush=True)
    for _ in sys.stdin:
        write()
        print(flush=True)


@contextmanager
def _together(how: str, scratch: Path) -> Iterator[Run]:
    """Several writers to one file, started; a run takes from their common go to the end of the last append."""
    command = (sys.executable, "-c", f"from bench.append import writer; writer({how!r}, {str(scratch / how)!r})")
    with ExitStack() as stack:
        writers = [
            stack.enter_context(subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            for _ in range(_WRITERS)
        ]
        _hear(writers)

        def run() -> None:
            for writer in writers:
                print(file=writer.stdin, flush=True)
            _hear(writers)

        yield run


def _hear(writers: list[subprocess.Popen[str]]) -> None:
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline(), "a writer has ended"
