"""Many writers, and beside them everything that reads, rewrites or checks the log: no event is lost, no alarm raised."""

import json
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from eventlog.log.event_log import EventLog
from tests.support.builders import writer
from tests.support.command_line import call
from tests.support.effort import FUZZ, rounds, tried

pytestmark = pytest.mark.slow

WRITERS, SECONDS = 64 if FUZZ else 6, rounds(fixed=1, fuzz=300)
PAUSE = WRITERS / 30  # seconds between two events of a writer: what runs beside them has to come to its end
MAY_BE = {"pending"}  # a line that is being written


@pytest.mark.fuzz
def test_writers_beside_replay_forget_redact_seal_and_verify_lose_nothing(tmp_path):
    store = tmp_path / "store"
    log = EventLog(store, fsync=False)
    log.append({"type": "fact", "conversation_id": "s", "content": "The tea is green"})
    until, number = time.monotonic() + SECONDS, 0

    def beside(*args):
        ran = call(*args, "--store", store)
        assert "Traceback" not in ran.err
        assert 0 == ran.code, args
        return ran

    told = [tmp_path / f"told-{name}" for name in range(WRITERS)]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in told]
        started = [writer(store, name, 10**9, pause=PAUSE, stdout=file) for name, file in enumerate(files)]
        running = [stack.enter_context(process) for process in started]
        while time.monotonic() < until or not all(path.stat().st_size for path in told):
            number += 1
            log.append({"type": "fact", "conversation_id": "s", "content": f"The key {number} is hunter2-{number:06d}"})
            log.append({"type": "fact", "conversation_id": "s", "content": f"The wind {number} is low"})
            beside("replay")
            beside("forget", f"The wind {number} is low", "--yes")
            beside("redact", f"hunter2-{number:06d}", "--yes")
            beside("seal")
            damage = json.loads(beside("verify", "--json").out)["damage"]
            assert [] == [bad for bad in damage if bad["kind"] not in MAY_BE]
        for process in running:
            process.terminate()
    tried(number)
    promised = [one for path in told for one in path.read_text().split()]
    there = Counter(event.id for event in log.read())
    assert {} == {one: there[one] for one in promised if len(one) == 36 and there[one] != 1}
    data = b"".join(path.read_bytes() for path in Path(log.store.root).rglob("*") if path.is_file())
    assert [] == [one for one in range(1, number + 1) if f"hunter2-{one:06d}".encode() in data]
