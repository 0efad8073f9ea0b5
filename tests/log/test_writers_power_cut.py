"""The power goes while two processes write: whatever the disk had not made durable is torn, and what was acknowledged is there.

A trace of all that two writers do to files, and in which order, is cut at every step; of what was not synced then, any
part may be on the disk. Threads stand for processes: locks belong to open files, and each has its own.
"""

import os
import random
import threading
from pathlib import Path

import pytest

from eventlog.app.setup.seal import seal_log
from eventlog.format.errors import NotStored
from eventlog.log.event_log import EventLog
from eventlog.log.seals import check_seals
from eventlog.store import Store, dayfile
from tests.support.effort import rounds, seed

TEARS = (lambda tail: b"", lambda tail: tail[: len(tail) // 2], lambda tail: bytes(len(tail)), lambda tail: tail)


class Disk:
    """Every step of every writer, with what is on the disk for good after it."""

    def __init__(self, root, patch):
        self.root, self.states, self.acknowledged = Path(root), [], []
        self._durable, self._named, self._lock = {}, set(), threading.RLock()
        for module, name in ((os, "write"), (os, "replace"), (os, "unlink"), (os, "ftruncate"), (os, "truncate")):
            patch.setattr(module, name, self._seen(getattr(module, name)))
        patch.setattr(os, "fsync", self._synced)
        patch.setattr(dayfile, "_sync", self._synced)

    def _seen(self, real):
        def call(*args, **options):
            with self._lock:
                self._note()
                return real(*args, **options)

        return call

    def _synced(self, fd):
        with self._lock:
            self._note()
            path = Path(f"/proc/self/fd/{fd}").resolve()
            if path.is_dir():
                self._named |= set(path.iterdir())
            elif path.exists():
                self._durable[path.stat().st_ino] = path.read_bytes()

    def acknowledge(self, event):
        with self._lock:
            self.acknowledged.append((len(self.states), event.id))

    def _note(self):
        """Note each file: what is durable of it, and the rest; None for a name that is not durable."""
        files = {}
        for path in self.root.rglob("*"):
            if path.is_file() and "cache" not in path.parts:
                data, durable = path.read_bytes(), self._durable.get(path.stat().st_ino, b"")
                files[path.relative_to(self.root)] = (data, durable, path in self._named)
        self.states.append(files)

    def left(self, number, tear, target):
        """Write what is left if the power goes at a step."""
        for name, (data, durable, is_named) in self.states[number].items():
            common = durable if data.startswith(durable) else b""
            if is_named or tear(b"x"):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(common + tear(data[len(common) :]))


def appends(disk, root, number, count):
    log = EventLog(root, fsync=True)
    for one in range(count):
        disk.acknowledge(log.append({"type": "fact", "conversation_id": str(number), "content": f"{number} {one}"}))


def seals(disk, root, number, count):
    del disk, number
    log = EventLog(root, fsync=True)
    for _ in range(count):
        try:
            seal_log(log)
        except NotStored:
            continue


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("others", [appends, seals], ids=["two writers", "a writer and a seal"])
def test_wherever_the_power_is_cut_what_was_acknowledged_is_there(tmp_path, others):
    root = tmp_path / "store"
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(root, patch)
        count = rounds(fixed=6, fuzz=60)
        both = [
            threading.Thread(target=does, args=(disk, root, number, count))
            for number, does in enumerate((appends, others))
        ]
        for one in both:
            one.start()
        for one in both:
            one.join()
        disk._note()
    chance = random.Random(seed())
    chosen = sorted(
        chance.sample(range(len(disk.states)), min(len(disk.states), rounds(fixed=25, fuzz=len(disk.states))))
    )
    assert len(disk.acknowledged) in (count, 2 * count)
    for number in [*chosen, len(disk.states) - 1]:
        for kind, tear in enumerate(TEARS):
            target = tmp_path / f"{number}-{kind}"
            disk.left(number, tear, target)
            there = [event.id for event in EventLog(target).read()]
            promised = [event_id for step, event_id in disk.acknowledged if step <= number]
            assert set(promised) <= set(there), f"cut at {number}, torn like {kind}"
            assert len(set(there)) == len(there)
            assert [] == check_seals(Store(str(target))).damage
