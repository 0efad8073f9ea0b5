"""A day file is replaced under its lock: who waits to append writes into the new one, and no event is lost."""

import threading
from pathlib import Path

import pytest

from eventlog.log.event_log import EventLog
from eventlog.log.rewrite import rewrite
from tests.support.builders import lines, write


def test_a_file_that_is_not_to_change_stays_the_very_file(log_dir):
    file = write(log_dir, lines(0))
    assert not rewrite(str(file), lambda _: None)
    assert rewrite(str(file), lambda data: data + lines(1))
    assert lines(0) + lines(1) == Path(file).read_bytes()


@pytest.mark.slow
def test_what_is_appended_meanwhile_is_there_afterwards(tmp_path):
    log = EventLog(tmp_path, fsync=False)
    log.append({"type": "fact", "conversation_id": "s", "content": "first"})
    [file] = (tmp_path / "log").iterdir()
    writers = [threading.Thread(target=_append, args=(tmp_path, number)) for number in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(50):
        rewrite(str(file), lambda data: data)
    for writer in writers:
        writer.join()
    assert 1 + 4 * 50 == sum(1 for _ in log.read())


def _append(store, number):
    log = EventLog(store, fsync=False)
    for count in range(50):
        log.append({"type": "fact", "conversation_id": f"s{number}", "content": f"fact {count}"})
