"""What happens to the file, and to the clock, while an append waits for the lock."""

import fcntl
import os
import threading
from pathlib import Path

from eventlog.format import timestamps
from eventlog.store import dayfile
from tests.support.builders import DAY, NEXT_DAY, contents, lines, write

WAITED = {"type": "fact", "conversation_id": "c", "content": "waited"}


class Waiting:
    """An append in a thread of its own, which waits for a lock that is held here."""

    def __init__(self, log, file, monkeypatch):
        self.log, self.file = log, file
        self.arrived = threading.Event()
        wait_for = dayfile.wait_for
        self.thread = threading.Thread(target=log.append, args=[WAITED])

        def arrive(*lock):
            self.arrived.set()
            wait_for(*lock)

        monkeypatch.setattr(dayfile, "wait_for", arrive)

    def __enter__(self):
        self.held = os.open(self.file, os.O_RDWR | os.O_CREAT)
        fcntl.flock(self.held, fcntl.LOCK_EX)
        self.thread.start()
        assert self.arrived.wait(120)

    def __exit__(self, *_):
        os.close(self.held)
        self.thread.join(120)


def test_a_file_replaced_while_waiting_for_the_lock_gets_the_line(log, log_dir, monkeypatch):
    file = write(log_dir, lines(0))
    with Waiting(log, file, monkeypatch):
        Path(write(log_dir, lines(1), "replacement")).replace(file)

    assert {"fact 1", "waited"} == set(contents(log.read()))


def test_a_file_removed_while_waiting_for_the_lock_is_made_anew(log, log_dir, monkeypatch):
    file = write(log_dir, lines(0))
    with Waiting(log, file, monkeypatch):
        Path(file).unlink()

    assert ["waited"] == contents(log.read())


def test_an_event_that_waited_past_midnight_belongs_to_the_new_day(log, log_dir, clock, monkeypatch):
    file = write(log_dir, b"")
    with Waiting(log, file, monkeypatch):
        clock.now = timestamps.to_ms(f"{NEXT_DAY}T00:00:00.000000Z") * 1_000_000
    [event] = log.read()

    assert f"{NEXT_DAY}T00:00:00.000000Z" == event.ts
    assert [str(log_dir / f"{NEXT_DAY}.jsonl")] == [entry.file for entry in log.entries()]
    assert Path(file).name == f"{DAY}.jsonl"
    assert b"" == Path(file).read_bytes()
