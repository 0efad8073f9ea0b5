"""Day files that came from other machines: what doctor tells of them, and what they say of this machine's files."""

import pytest

from eventlog import EventLog, Store
from eventlog.app.build import foreign_logs
from eventlog.app.build.rebuild import replay_store
from eventlog.app.setup import doctor
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.write.rejections import Rejections
from eventlog.app.write.undo import undoable
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact
from eventlog.store.files import make_dirs, read
from eventlog.store.replica import make_replica
from tests.support.builders import DAY, line, lines, write
from tests.support.command_line import call
from tests.support.machines import Network
from tests.support.use_cases import opened

THEIRS = f"{DAY}.bobs.local.jsonl"


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


@pytest.fixture
def log_dir(store, tmp_path):
    make_dirs(store.log)
    write(tmp_path / "store" / "log", lines(0))
    return tmp_path / "store" / "log"


@pytest.fixture
def told(store, tmp_path):
    """What doctor finds wrong with the store."""
    home = tmp_path / "home"
    home.mkdir()
    target = InstallTarget(store, home, tmp_path, {})
    return lambda: [problem.what for problem in doctor.doctor(target).problems]


def seen(store):
    replay_store(opened(EventLog(store)))


def test_a_conflict_copy_is_told_with_its_maker_and_read_as_nothing(store, log_dir, told):
    name = f"{DAY}.bobs.sync-conflict-20260221-080000-ABCDEFG.jsonl"
    copy = write(log_dir, lines(1), name)

    assert [f"{copy} is a copy Syncthing made where two versions met, and is never read"] == told()
    assert f"{copy}: a copy made by Syncthing, never read" in call("verify", "--store", store.root).out
    assert 1 == len(list(EventLog(store).read()))


def test_a_file_that_grows_has_lost_nothing(store, log_dir, told):
    for data in (lines(1), lines(1, 2), lines(1, 2)[:-5], lines(1, 2, 3)):
        write(log_dir, data, THEIRS)
        seen(store)

    assert [] == told()


@pytest.mark.slow
@pytest.mark.parametrize("data", [lines(1), lines(2, 1), lines(1, 3, 4), b""])
def test_a_file_that_lost_lines_is_told_until_they_are_back(store, log_dir, told, data):
    write(log_dir, lines(1, 2), THEIRS)
    seen(store)
    write(log_dir, data, THEIRS)
    seen(store)
    expected = f"{log_dir / THEIRS} was seen with 2 lines and has {len(data.splitlines())} now"

    assert [expected] == [what.partition(", and")[0] for what in told()]
    write(log_dir, lines(1, 2, 3), THEIRS)
    seen(store)
    assert [] == told()


def test_a_file_that_is_gone_is_told(store, log_dir, told):
    write(log_dir, lines(1), THEIRS)
    seen(store)
    (log_dir / THEIRS).unlink()

    assert [f"{log_dir / THEIRS} was seen with 1 line and is gone"] == told()


def test_a_file_that_was_not_saved_since_is_not_read_again(store, log_dir, monkeypatch):
    write(log_dir, lines(1), THEIRS)
    foreign_logs.remember(store)
    monkeypatch.setattr(foreign_logs, "read", lambda path: read(path) if "cache" in path else pytest.fail("read again"))

    foreign_logs.remember(store)


@pytest.mark.parametrize(("ours", "clone"), [(0, True), (1, False)])
def test_a_store_with_our_name_is_told_by_events_of_ours_that_we_lack(store, log_dir, told, ours, clone):
    name = make_replica(store)
    write(log_dir, line(ours, replica=name) + b"\n")
    write(log_dir, line(1, replica=name) + b"\n" + line(2, replica="bobs") + b"\n" + line(3, replica=name), THEIRS)

    assert [
        f"{log_dir / THEIRS} has events of {name}, the name of this store, that its own log lacks"
    ] * clone == told()


def test_a_file_that_holds_no_name_is_told(store, log_dir, told):
    (log_dir.parent / "replica").write_text("two words")

    assert [f"{store.replica} does not hold the name of a store"] == told()


def test_what_happened_to_another_machines_file_is_said_of_that_file_only(tmp_path):
    here, there = Network(tmp_path, count=2).machines
    here.plans("Tone", 2, "short")
    for machine in (here, there):
        machine.take(here)
        machine.replay()
    there.writes("Tone", 2, "long")
    there.replay()
    here.take(there)

    assert 0 == here.replay()
    assert (b"## Tone\n\nshort\n", b"## Tone\n\nlong\n") == (here.text, there.text)


def test_the_last_thing_done_here_is_nothing_that_was_done_on_another_machine(tmp_path):
    here, there = Network(tmp_path, count=2).machines
    decision = {"type": "rejected", "conversation_id": "human", "agent": "human"}
    [theirs] = there.log.put([{**decision, "statement": "The tea is red"}])
    here.take(there)
    with pytest.raises(BadRequest, match="nothing to take back"):
        undoable(here.opened)
    [mine] = here.log.put([{**decision, "statement": "The sea is red"}])
    there.log.put([{**decision, "statement": "The sky is red"}])
    here.take(there)

    assert mine.event.id == undoable(here.opened).event.id
    assert theirs.event.id == undoable(here.opened, theirs.event.id).event.id
    assert {mine.event.replica, theirs.event.replica} == {here.name, there.name}
    for statement in ("The tea is red", "The sky is red"):  # and all of them count here
        assert Rejections(here.log).of(Fact(conversation_id="s", content=statement))
