"""The power goes at every step of a replay: what is not synced is torn, and the next replay makes it whole.

No torn file is taken for a person's edit, none is noted as published, and an edit that was there is recorded once.
"""

import os
from itertools import count
from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.app.build import cache
from eventlog.format.events import Fact
from eventlog.settings.schema import Settings
from eventlog.store import shared_files
from eventlog.store.replica import make_replica
from tests.support import builders
from tests.support.effort import rounds
from tests.support.golden import tree
from tests.support.use_cases import rebuild

TEARS = (lambda _: b"", lambda data: data[: len(data) // 2], lambda data: bytes(len(data)))
MINE = "- the tests run on Tuesdays\n"


class Disk:
    """What of a store is on the disk for good, and what is left of it where the power goes before each step."""

    def __init__(self, store, patch):
        self.cuts = []
        self.noted_too_early = []
        self._root = Path(store.root)
        self._durable = {}
        self._tear = count()
        self.sync()
        for name in ("replace", "link", "unlink", "mkdir"):
            patch.setattr(os, name, self._before(getattr(os, name)))
        patch.setattr(os, "fsync", self._before(self._sync_file))
        patch.setattr(shared_files, "_exchange", self._before(shared_files._exchange))
        patch.setattr(shared_files, "_sync_file_system", self._before(lambda _: self.sync() or True))
        save = cache.StoreCache.save
        patch.setattr(cache.StoreCache, "save", lambda rows: (self._check(), save(rows)))

    def sync(self):
        """All that was written stays."""
        self._durable = {path.stat().st_ino: path.read_bytes() for path in self._files("knowledge")}

    def _files(self, *rooms):
        return [path for room in rooms for path in (self._root / room).rglob("*") if path.is_file()]

    def _sync_file(self, fd):
        path = Path(f"/proc/self/fd/{fd}")
        if path.is_file():
            self._durable[os.fstat(fd).st_ino] = path.read_bytes()

    def _before(self, step):
        def call(*arguments, **options):
            self.cut()
            return step(*arguments, **options)

        return call

    def cut(self):
        """Note what is left if the power goes now: of the log everything, of the cache anything."""
        number = next(self._tear)
        left = {path: path.read_bytes() for path in self._files("log", *(["cache"] if number % 2 else []))}
        left[self._root / "replica"] = (self._root / "replica").read_bytes()
        for path in self._files("knowledge"):
            data = path.read_bytes()
            left[path] = TEARS[number % len(TEARS)](data) if self._is_torn(path) else data
        root = self._root
        self.cuts.append({path.relative_to(root): (data, path.stat().st_mtime_ns) for path, data in left.items()})

    def _check(self):
        """What is published must be on the disk when that is committed."""
        self.noted_too_early += [path.name for path in self._files("knowledge") if self._is_torn(path)]

    def _is_torn(self, path):
        return self._durable.get(path.stat().st_ino) != path.read_bytes()


def a_store(root):
    log = EventLog(root)
    make_replica(log.store)
    for number, project in enumerate(("/p/shop", "/p/blog")):
        some = (builders.fact(10 * number + fact, project=project, conversation_id=f"c{number}") for fact in range(3))
        log.append_many(list(some))
    return log


def more(log):
    """Something new, something withdrawn, and an edit by hand."""
    rebuild(log, Settings())
    first = next(event for event in log.read() if isinstance(event, Fact))
    log.append_many(
        [
            {"type": "retraction", "conversation_id": "c0", "target": first.id},
            {"type": "fact", "conversation_id": "c2", "project": "/p/shop", "content": "carts expire"},
        ]
    )
    file = next(Path(log.store.knowledge).glob("projects/shop-*/MEMORY.md"))
    file.write_text(file.read_text().replace("- ", f"{MINE}- ", 1))


@pytest.mark.parametrize("happens", [lambda _: None, more], ids=["first", "later"])
@pytest.mark.parametrize("few", [1, 99], ids=["at once", "one by one"])
@pytest.mark.usefixtures("clock")
def test_a_cut_at_any_step_leaves_what_the_next_replay_makes_whole(tmp_path, happens, few):
    log = a_store(tmp_path / "store")
    happens(log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_files, "_MANY", few)
        disk = Disk(log.store, patch)
        rebuild(log, Settings())
        disk.cut()
    expected = tree(Path(log.store.knowledge))
    chosen = disk.cuts[:: max(1, len(disk.cuts) // rounds(fixed=12, fuzz=len(disk.cuts)))]

    assert [] == disk.noted_too_early
    for number, cut in enumerate([*chosen, disk.cuts[-1]]):
        root = tmp_path / str(number)
        for name, (data, saved) in cut.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
            os.utime(root / name, ns=(saved, saved))
        after = EventLog(root)
        found = rebuild(after, Settings())

        assert [] == found.published.set_aside == found.published.left
        assert MINE.count("\n") * (happens is more) == sum(MINE[2:-1] == fact.content for fact in _facts(after))
        assert expected == tree(Path(after.store.knowledge))


def _facts(log):
    return [event for event in log.read() if isinstance(event, Fact)]


def test_files_that_are_not_on_the_disk_get_no_name(tmp_path, monkeypatch):
    log, named = a_store(tmp_path / "store"), []
    synced: list[str] = []

    def sync(path):
        synced.append(path)
        return True

    monkeypatch.setattr(shared_files, "_sync_file_system", sync)
    monkeypatch.setattr(shared_files, "_MANY", 1)
    replace = os.replace

    def noted(source, target):
        named.append((len(synced), str(target)))
        replace(source, target)

    monkeypatch.setattr(os, "replace", noted)
    rebuild(log, Settings())
    knowledge = [number for number, path in named if path.startswith(log.store.knowledge)]

    assert knowledge
    assert {1} == set(knowledge)
    assert shared_files._is_temporary(Path(synced[0]).name)
