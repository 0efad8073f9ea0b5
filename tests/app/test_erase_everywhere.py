"""A redaction that is killed at any step is finished by the next program that opens the log."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine, open_log
from eventlog.app.write.erasing.erase_everywhere import Erasing, _erase_lines, begin, erase_in_files
from eventlog.app.write.erasing.erased_text import Needles
from eventlog.app.write.erasing.redact import redactable
from eventlog.format.events import Fact
from eventlog.log.verify import verify
from eventlog.store import Store
from tests.support.bases import apply_all, planned, user_md
from tests.support.effort import stride
from tests.support.faults import KILLED, killed
from tests.support.use_cases import opened

SECRET = "hunter2-Sommer2026"
DONE = 0


def _holding(root):
    return [str(path) for path in Path(root).rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's thread; nothing is shared
def test_killed_anywhere_the_next_program_finishes_it_and_all_other_events_are_whole(log, tmp_path):
    for day in ("19", "20"):
        log.append(Fact(conversation_id="s", content=f"It is {SECRET}", ts=f"2026-02-{day}T10:00:00Z"))
        log.append(Fact(conversation_id="s", content="The tea is green", ts=f"2026-02-{day}T11:00:00Z"))
    planned(log, "Access", f"Door: {SECRET}")
    apply_all(log)
    Path(log.store.knowledge).mkdir(exist_ok=True)
    Path(log.store.knowledge, "MEMORY.md.edited-1").write_text(f"- {SECRET}\n")
    erasing = redactable(opened(log), SECRET).erasing
    events = [event.id for event in log.read()]
    before, base = tmp_path / "before", user_md().read_bytes()
    shutil.copytree(log.store.root, before, symlinks=True)
    step, code = 0, KILLED
    begun = 0
    while code == KILLED:
        shutil.rmtree(log.store.root)
        shutil.copytree(before, log.store.root, symlinks=True)
        user_md().write_bytes(base)
        code = killed(lambda: begin(log.store, lambda: erasing) and DONE, step)
        is_begun = Path(log.store.redacting).exists() or Path(log.store.redactions).exists()
        again = open_log(Store(log.store.root), Machine.here())
        assert bool(_holding(log.store.root)) == (not is_begun)
        if is_begun:
            begun += 1
            assert SECRET.encode() not in user_md().read_bytes()
            assert [1] == [json.loads(line)["n"] for line in Path(log.store.redactions).read_bytes().splitlines()]
            assert not Path(log.store.redacting).exists()
        assert events == [event.id for event in again.read()]
        assert [] == verify(again).damage
        step += stride(4)
    assert DONE == code
    assert begun > 5


def test_while_one_redaction_is_at_work_others_do_not_wait_for_it(log):
    log.append(Fact(conversation_id="s", content=f"It is {SECRET}"))
    erasing = redactable(opened(log), SECRET).erasing
    Path(log.store.redacting).write_bytes(b"{}")  # as another process writes it
    from eventlog.store.locks import locked

    with locked(log.store, log.store.lock("replay")):
        open_log(log.store, Machine.here())
    assert _holding(log.store.root)
    Path(log.store.redacting).unlink()  # it is done
    begin(log.store, lambda: erasing)
    assert [] == _holding(log.store.root)


def test_what_a_kill_cut_off_meanwhile_is_finished_before_another_redaction_begins(log):
    log.append(Fact(conversation_id="s", content=f"It is {SECRET}"))
    log.append(Fact(conversation_id="s", content="The tea is green"))
    other, cut_off = redactable(opened(log), "The tea is green"), redactable(opened(log), SECRET).erasing
    Path(log.store.redacting).write_bytes(msgspec.json.encode(cut_off))

    begin(log.store, lambda: other.erasing)

    assert [] == _holding(log.store.root)


def test_a_damaged_line_loses_the_text_and_nothing_else():
    data = b'{"torn": "' + SECRET.encode() + b'\n\xff\xfe bytes\n{"v":1}\n'
    erasing = Erasing(number=3, ts="", what="text", key="k", texts=[SECRET])
    wanted = b'{"torn": "[redacted:3]\n\xff\xfe bytes\n{"v":1}\n'
    assert wanted == _erase_lines(data, erasing, Needles([SECRET], 3))


def test_a_link_to_itself_hides_no_file_from_a_redaction(log):
    log.append(Fact(conversation_id="s", content=f"It is {SECRET}"))
    Path(log.store.staging).mkdir()
    for name in "abcdefghij":
        Path(log.store.staging, name).write_text(SECRET)
    Path(log.store.staging, "loop").symlink_to("loop")

    begin(log.store, lambda: redactable(opened(log), SECRET).erasing)

    assert [] == _holding(log.store.root)


def test_a_file_that_another_program_takes_in_meanwhile_stays_away(log):
    Path(log.store.spool).mkdir(parents=True)
    waiting = Path(log.store.spool, "1-k.json")
    waiting.write_text(SECRET)

    def without(text):
        waiting.unlink(missing_ok=True)
        return text.replace(SECRET, "")

    erase_in_files(log.store, without, {})

    assert not waiting.exists()


@pytest.mark.parametrize("name", ["knowledge-old/MEMORY.md", "cache-old/notes.db"])
def test_only_what_a_replay_makes_again_is_removed(log, name):
    log.append(Fact(conversation_id="s", content=f"It is {SECRET}"))
    replay_store(opened(log))
    own = Path(log.store.root, name)
    own.parent.mkdir()
    own.write_bytes(Path(log.store.knowledge, "MEMORY.md").read_bytes())

    begin(log.store, lambda: redactable(opened(log), SECRET).erasing)

    assert SECRET not in own.read_text()
