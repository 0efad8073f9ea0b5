"""Damage is moved aside byte for byte: nothing is dropped, no line that is read changes, twice is once."""

import base64
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.format.errors import Busy
from eventlog.log import verify as repairing
from eventlog.log.days import DAMAGED as SET_ASIDE
from eventlog.log.event_log import EventLog
from eventlog.log.verify import repair, verify
from tests.support.builders import DAY, NEXT_DAY, line, lines
from tests.support.command_line import call
from tests.support.effort import rounds, seed
from tests.support.golden import DAMAGED, copied

BAD = [
    b"",
    b" ",
    b"null",
    b"\xff\xfe",
    b"{'a':1}",
    b"{}",
    line(7)[:-1],
    line(8, day=NEXT_DAY),
    line(2, content="other"),
]


def bytes_of(log):
    """Count the bytes of day files and of what was set aside."""
    folder = Path(log.store.log)
    days = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
    pieces = [json.loads(one) for path in folder.glob("*.damaged") for one in path.read_bytes().splitlines()]
    return days + sum(len(piece_of(piece)) for piece in pieces)


def piece_of(piece):
    return piece["text"].encode() if "text" in piece else base64.b64decode(piece["base64"])


def written(folder, data):
    log = EventLog(folder, fsync=False)
    Path(log.store.log).mkdir(parents=True, exist_ok=True)
    Path(log.store.log, f"{DAY}.jsonl").write_bytes(data)
    return log


def test_every_kind_of_damage_is_moved_and_every_event_is_read_as_before(tmp_path):
    log = copied(DAMAGED, tmp_path)
    events, size, bad = list(log.read()), bytes_of(log), verify(log).damage
    done = repair(log)
    assert (events, size) == (list(log.read()), bytes_of(log))
    assert ([], []) == (done.left, verify(log).damage)
    assert not [path for path in verify(log).strangers if path.endswith(".damaged")]
    assert {one.kind for one in bad} - {"torn"} <= {one.kind for one in done.moved}


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.one_of(st.sampled_from(BAD), st.integers(0, 5).map(line)), max_size=8), st.booleans())
def test_rest_and_pieces_are_the_bytes_before_and_twice_is_once(tmp_path_factory, some, ends):
    data = b"\n".join([line(9), *some]) + (b"\n" if ends else b"")
    log = written(tmp_path_factory.mktemp("store"), data)
    events = list(log.read())
    repair(log)
    rest = Path(log.store.log, f"{DAY}.jsonl").read_bytes()
    aside = Path(log.store.log, DAY + SET_ASIDE)
    pieces = [json.loads(one) for one in aside.read_bytes().splitlines()] if aside.exists() else []
    for piece in sorted(pieces, key=lambda one: one["offset"]):
        rest = rest[: piece["offset"]] + piece_of(piece) + rest[piece["offset"] :]
    assert (data, events) == (rest, list(log.read()))
    again = {path: path.read_bytes() for path in Path(log.store.log).iterdir()}
    repair(log)
    assert again == {path: path.read_bytes() for path in Path(log.store.log).iterdir()}


WHOLE = lines(0, 1, 2)
DAMAGES = {
    "cut": lambda at, _: WHOLE[:at],
    "flipped": lambda at, bits: WHOLE[:at] + bytes([WHOLE[at] ^ (1 << bits % 8)]) + WHOLE[at + 1 :],
    "zeros": lambda at, bits: WHOLE[:at] + bytes(bits) + WHOLE[at + bits :],
    "foreign bytes": lambda at, bits: WHOLE[:at] + b"\xff\n{}\x00"[: 1 + bits % 5] + WHOLE[at:],
    "taken out": lambda at, bits: WHOLE[:at] + WHOLE[at + bits :],
    "another line of the id": lambda at, bits: WHOLE + line(at % 3, content=f"other {bits}") + b"\n",
}


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", DAMAGES)
def test_whatever_damage_is_repaired_the_sum_of_bytes_stays(tmp_path, kind):
    chance = random.Random(f"{seed()} {kind}")
    for number in range(rounds(fixed=25, fuzz=14_000 // len(DAMAGES) + 1)):
        data = DAMAGES[kind](chance.randrange(len(WHOLE)), chance.randrange(1, 80))
        log = written(tmp_path / f"{number % 50}", data)
        Path(log.store.log, DAY + SET_ASIDE).unlink(missing_ok=True)
        events = list(log.read())
        repair(log)
        assert len(data) == bytes_of(log)
        assert events == list(log.read())
        assert not [bad for bad in verify(log).damage if bad.kind != "torn"]


def test_of_two_lines_with_one_id_the_one_that_counts_stays(tmp_path):
    log = written(tmp_path, lines(0) + line(1) + b"\n" + line(1, content="other") + b"\n")
    [counts] = [event.content for event in log.read() if event.content != "fact 0"]
    done = repair(log)
    assert [counts] == [event.content for event in log.read() if event.content != "fact 0"]
    assert ["conflict"] == [one.kind for one in done.moved]


def test_killed_between_the_two_files_nothing_is_set_aside_twice(tmp_path, monkeypatch):
    data = lines(0) + b"null\n" + lines(1)
    log = written(tmp_path, data)
    monkeypatch.setattr(repairing, "rewrite", lambda path, make, _: make(Path(path).read_bytes()) and False)
    repair(log)  # as if killed before the rename
    monkeypatch.undo()
    repair(log)
    assert len(data) == bytes_of(log)
    assert [] == verify(log).damage


@pytest.mark.slow
def test_while_a_writer_holds_the_file_it_is_refused(tmp_path, monkeypatch):
    log = written(tmp_path, lines(0) + b"null\n")
    monkeypatch.setattr(repairing, "_PATIENCE", 0.05)
    script = f"import fcntl,sys; f=open({str(Path(log.store.log, f'{DAY}.jsonl'))!r},'a'); fcntl.flock(f,2); print(1,flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline()
        monkeypatch.setattr(repairing, "verify", lambda _: verify_of(DAY, log))
        with pytest.raises(Busy):
            repair(log)
        holder.stdin.close()
    assert not Path(log.store.log, DAY + SET_ASIDE).exists()


def verify_of(day, log):
    """Find the damage without the lock that a writer holds."""
    from eventlog.log import days
    from eventlog.log.verify import VerifyResult

    return VerifyResult(damage=[bad for one in days.list_days(log.store.log) for bad in one.entries()[1]])


def test_on_the_command_line_it_tells_what_was_moved(tmp_path):
    log = written(tmp_path, lines(0) + b"null\n")
    said = call("verify", "--repair", "--store", log.store.root)
    assert (0, True) == (said.code, "1 piece moved, 0 left" in said.out)
    assert 0 == call("verify", "--store", log.store.root).code
