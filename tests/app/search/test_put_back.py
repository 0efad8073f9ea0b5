"""A day file that another program wrote into, and a person put back with `cp`, in place: a replay makes search follow."""

import os
from pathlib import Path

import pytest

from eventlog import Fact, Memory

BIRDS = ("heron", "otter", "stork")


@pytest.fixture
def memory(tmp_path):
    memory = Memory(tmp_path / "store")
    for bird in BIRDS:
        memory.log.append(Fact(conversation_id=bird, content=f"The {bird} nests", scope="user"))
    return memory


def put(memory, data):
    """Overwrite the day file in place, and let its time tell of that."""
    [file] = Path(memory.log.store.log).iterdir()
    before = file.stat()
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    assert before.st_ino == file.stat().st_ino


def found(memory):
    return [bird for bird in BIRDS if memory.search(bird)]


def lines(memory):
    [file] = Path(memory.log.store.log).iterdir()
    return file.read_bytes().splitlines(keepends=True)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"x", b""])
def test_what_was_damaged_is_found_again(memory, damage):
    good = lines(memory)
    put(memory, good[0] + damage * (len(good[1]) - 1) + b"\n" + good[2])
    assert ["heron", "stork"] == found(memory)
    put(memory, b"".join(good))
    memory.replay()

    assert list(BIRDS) == found(memory)


def test_what_grew_otherwise_than_by_lines_behind_the_others_is_read_anew(memory):
    good = lines(memory)
    put(memory, good[2])
    assert ["stork"] == found(memory)
    put(memory, b" " + b"".join(good))

    assert list(BIRDS) == found(memory)
