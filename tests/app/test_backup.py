"""A backup has every event that was saved before, and a store made of it decides nothing by itself."""

import io
import json
import os
import tarfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from eventlog.app.ask.brief import known
from eventlog.app.build.rebuild import replay_store
from eventlog.app.setup import backup
from eventlog.app.setup.backup import create_backup, restore_backup
from eventlog.app.setup.seal import seal_log, verify_sealed
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.app.write.undo import undo, undoable
from eventlog.format.errors import BadRequest, Busy
from eventlog.format.events import Fact, ProjectJoined
from eventlog.log.event_log import EventLog
from eventlog.log.seals import Chain
from eventlog.log.verify import verify
from eventlog.store import spool
from eventlog.store.dayfile import read_settled
from eventlog.store.files import make_dirs
from eventlog.store.replica import make_replica, replica_of
from tests.support.bases import REVIEWED, apply_all, planned, user_md, write_user
from tests.support.command_line import call
from tests.support.effort import rounds
from tests.support.machines import of_machine
from tests.support.use_cases import DEFAULTS, opened

pytestmark = pytest.mark.slow


def store_at(path, settings=DEFAULTS):
    return opened(EventLog(path, fsync=False), settings)


def backed_up(log, path, settings=DEFAULTS):
    return create_backup(opened(log, settings), path)


@pytest.fixture
def lived_in(log):
    """A store with entries applied, edited by hand and waiting, with a decision, and an event in the spool."""
    make_replica(log.store)
    log.append(Fact(conversation_id="s", project="/p/shop", content="The tea is green"))
    write_user("# Me\n\nmine\n")
    planned(log, "Work", "Backend.")
    apply_all(log)
    write_user(user_md().read_text().replace("Backend.", "Backend and more."))
    apply_all(log)
    planned(log, "Waiting", "later")
    apply_all(log, REVIEWED)
    log.put([{"type": "rejected", "conversation_id": "human", "agent": "human", "statement": "The sea is red"}])
    review = {"user": {"path": "~/.config/agents/USER.md", "review": True}}
    Path(log.store.config).write_text(json.dumps({"timezone": "Europe/Berlin", "knowledge_bases": review}))
    spool.leave(log.store, {"type": "fact", "conversation_id": "s", "content": "spooled"}, "k", None, log.now())
    return log


def test_a_restored_store_has_every_event_a_name_of_its_own_and_decides_nothing(lived_in, tmp_path):
    file, manifest = backed_up(lived_in, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    before = {event.id: event for event in lived_in.read()}
    base = user_md().read_bytes()

    done = restore_backup(other, file)

    after = {event.id: event for event in other.log.read()}
    assert before == {event_id: after[event_id] for event_id in before}
    decisions = ("knowledge_edited", "rejected", "restored", "entry_resolved")
    assert [] == [after[one] for one in after.keys() - before.keys() if after[one].type in decisions]
    assert replica_of(lived_in.store) == manifest.replica != done.replica == replica_of(other.store)
    assert ([], []) == (done.verified.damage, done.existing)
    assert "Europe/Berlin" in Path(other.store.config).read_text()
    assert base == user_md().read_bytes()
    count = len(after)
    replay_store(other._replace(settings=REVIEWED))
    assert count == sum(1 for _ in other.log.read())
    assert Path(other.store.knowledge, "projects").is_dir()
    assert 1 == len(spool.waiting(other.store))


def test_every_event_acknowledged_before_is_in_it_while_others_write(tmp_path):
    log = EventLog(tmp_path / "store", fsync=False)
    stop, wanted, saved = threading.Event(), threading.Event(), []

    def write(number):
        own = EventLog(tmp_path / "store", fsync=False)
        while wanted.wait() and not stop.is_set():
            saved.append(own.append({"type": "fact", "conversation_id": f"s{number}", "content": "x" * 50}).id)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    try:
        for number in range(rounds(fixed=3, fuzz=100)):
            wanted.set()
            count = len(saved) + len(writers)
            while len(saved) < count:
                stop.wait(0.001)
            acknowledged = set(saved)
            file, _ = backed_up(log, tmp_path / f"{number}.tar")
            wanted.clear()  # they write again beside the next: what a hundred copies hold is bounded
            other = store_at(tmp_path / f"other{number}")
            assert [] == restore_backup(other, file).verified.damage
            assert acknowledged <= {event.id for event in other.log.read()}
    finally:
        stop.set()
        wanted.set()
        for writer in writers:
            writer.join()


def test_what_waited_and_is_appended_beside_a_backup_is_in_it(log, tmp_path, monkeypatch):
    log.append(Fact(conversation_id="s", content="The tea is green"))
    spool.leave(log.store, {"type": "fact", "conversation_id": "s", "content": "spooled"}, "k", None, log.now())

    def read_before_it_is_appended(path):
        data = read_settled(path)
        spool.take_in(log.store)
        return data

    monkeypatch.setattr(backup, "read_settled", read_before_it_is_appended)
    file, _ = backed_up(log, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    restore_backup(other, file)
    spool.take_in(other.store)

    assert {"The tea is green", "spooled"} == {event.content for event in other.log.read()}


def test_a_restored_store_goes_on_with_the_chain_of_its_seals_under_its_new_name(lived_in, tmp_path):
    head = seal_log(lived_in).head
    file, _ = backed_up(lived_in, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    assert [] == restore_backup(other, file).verified.damage
    other.log.append(Fact(conversation_id="s", content="said there"))
    seal_log(other.log)
    chain = Chain.read(other.store)
    assert [replica_of(lived_in.store), replica_of(other.store)] == [one.replica for one in chain.seals if one]
    found, seals = verify_sealed(other.log, head)
    assert ([], chain.seals[0]) == (found.damage, seals.noted)


def test_what_is_erased_or_moved_beside_a_backup_is_in_it_once_and_as_it_was_sealed(tmp_path):
    log = EventLog(tmp_path / "store", fsync=False)
    stop = threading.Event()

    def rewrites():
        number = 0
        while not stop.is_set():
            number += 1
            log.append(Fact(conversation_id="s", content=f"The code is {number:06d}-x"))
            with suppress(Busy, BadRequest):
                there = opened(EventLog(tmp_path / "store", fsync=False))
                redact(there, redactable(there, f"{number:06d}-x"))
                seal_log(log)

    writer = threading.Thread(target=rewrites)
    writer.start()
    try:
        while not Path(log.store.seals).exists():
            stop.wait(0.01)
        for number in range(rounds(fixed=2, fuzz=50)):
            file, _ = backed_up(log, tmp_path / f"{number}.tar")
            assert [] == restore_backup(store_at(tmp_path / f"other{number}"), file).verified.damage
    finally:
        stop.set()
        writer.join()


def test_a_store_with_events_is_not_overwritten(lived_in, tmp_path):
    file, _ = backed_up(lived_in, tmp_path / "a.tar")
    events = list(lived_in.read())
    with pytest.raises(BadRequest, match="has events already"):
        restore_backup(opened(lived_in), file)
    with pytest.raises(BadRequest, match="exists already"):
        backed_up(lived_in, file)
    assert events == list(lived_in.read())


def test_settings_that_are_there_stay(lived_in, tmp_path):
    file, _ = backed_up(lived_in, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    Path(other.store.root).mkdir()
    Path(other.store.config).write_text("locale: zh\n")
    assert ["config.yaml"] == restore_backup(other, file).existing
    assert "locale: zh\n" == Path(other.store.config).read_text()


def test_a_backup_of_a_store_that_has_nothing_yet_is_restored(log, tmp_path):
    make_dirs(log.store.log)  # as a program leaves it that is killed before its first event

    file, manifest = backed_up(log, tmp_path / "a.tar")
    done = restore_backup(store_at(tmp_path / "other"), file)

    assert (manifest.files, done.verified.events, done.existing) == ({}, 0, [])


def test_damage_is_carried_along_and_told(log, tmp_path):
    log.append(Fact(conversation_id="s", content="whole"))
    [day] = Path(log.store.log).iterdir()
    day.write_bytes(day.read_bytes() + b"null\nhalf")
    file, _ = backed_up(log, tmp_path / "a.tar")
    said = call("backup", "restore", file, "--store", tmp_path / "other")
    assert (4, True) == (said.code, "1 damaged line: eventlog verify" in said.out)


def _changed(file, path, change):
    with tarfile.open(file) as old, tarfile.open(path, "w") as new:
        for member in old.getmembers():
            opened_member = old.extractfile(member)
            assert opened_member
            data = opened_member.read()
            name, data = change(member.name, data)
            if name:
                member.name, member.size = name, len(data)
                new.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda name, data: (name, data.replace(b"green", b"white")),
        lambda name, data: (None if name.startswith("log/") else name, data),
        lambda name, data: (None if name == "manifest.json" else name, data),
        lambda name, data: (name, data.replace(b"config.yaml", b"../evil.yml")),
        lambda name, data: (name, b"{}" if name == "manifest.json" else data),
        lambda name, data: (name, data.replace(b'"format":1', b'"format":9')),
    ],
)
def test_a_backup_that_is_not_as_it_was_written_is_refused_and_nothing_is_there(lived_in, tmp_path, change):
    file, _ = backed_up(lived_in, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    with pytest.raises(BadRequest):
        restore_backup(other, _changed(file, tmp_path / "b.tar", change))
    assert not os.path.lexists(other.store.log)
    assert not (tmp_path / "evil.yml").exists()


def test_what_is_no_backup_is_told(tmp_path):
    (tmp_path / "x.tar").write_bytes(b"no tar")
    said = call("backup", "restore", tmp_path / "x.tar", "--store", tmp_path / "other")
    assert (2, True) == (said.code, "is no backup" in said.err)
    said = call("backup", "restore", tmp_path / "y.tar", "--store", tmp_path / "other")
    assert 2 <= said.code <= 3
    assert "y.tar" in said.err


@pytest.mark.parametrize("name", ["a.tar", "./a.tar", "."])
def test_a_backup_is_written_where_the_person_is(lived_in, tmp_path, monkeypatch, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    said = call("backup", "create", name, "--store", lived_in.store.root)
    assert said.code == 0, said
    assert [tarfile.is_tarfile(path) for path in Path().iterdir()] == [True]


def test_on_the_command_line_there_and_back(lived_in, tmp_path):
    said = call("backup", "create", tmp_path, "--json", "--store", lived_in.store.root)
    made = json.loads(said.out)
    assert (0, 0o600) == (said.code, Path(made["path"]).stat().st_mode & 0o777)
    said = call("backup", "restore", made["path"], "--store", tmp_path / "other")
    assert (0, True) == (said.code, "it was " in said.out)
    assert verify(lived_in).events <= verify(EventLog(tmp_path / "other")).events


def test_projects_without_an_address_go_on_in_a_restored_store_and_in_one_restored_from_that(
    log, tmp_path, monkeypatch
):
    """A new laptop, and years later the next: also of what nobody touched on the one between."""
    of_machine(monkeypatch, tmp_path, 1)
    shop, old = str(tmp_path / "shop"), str(tmp_path / "old")
    for path in (shop, old):
        Path(path).mkdir()
        there = make_replica(log.store)
        log.append(Fact(conversation_id="s", project=path, content=f"{Path(path).name} is green", replica=there))
    replay_store(opened(log, DEFAULTS))
    stores = [opened(log, DEFAULTS)]
    for number in (1, 2):
        file, _ = create_backup(stores[-1], tmp_path / f"{number}.tar")
        stores.append(store_at(tmp_path / f"laptop {number}"))
        restore_backup(stores[-1], file)
        here = Fact(
            conversation_id=f"t{number}",
            project=shop,
            content=f"shop has {number}",
            replica=replica_of(stores[-1].store),
        )
        stores[-1].log.append(here)
        replay_store(stores[-1])

    last = stores[-1]
    known = {path: page_of(last, path) for path in (shop, old)}
    assert {shop: {"shop is green", "shop has 1", "shop has 2"}, old: {"old is green"}} == known
    count = len(list(last.log.read()))
    replay_store(last)
    assert count == len(list(last.log.read()))
    with pytest.raises(BadRequest, match="nothing to take back"):
        undoable(last)


def test_what_a_restored_store_joined_is_apart_once_a_person_says_so(log, tmp_path, monkeypatch):
    of_machine(monkeypatch, tmp_path, 1)
    path = str(tmp_path)
    log.append(Fact(conversation_id="s", project=path, content="The tea is green", replica=make_replica(log.store)))
    replay_store(opened(log, DEFAULTS))
    file, _ = backed_up(log, tmp_path / "a.tar")
    other = store_at(tmp_path / "other")
    restore_backup(other, file)
    [joined] = [event for event in other.log.read() if isinstance(event, ProjectJoined)]
    assert {"The tea is green"} == page_of(other, path)

    undo(other, undoable(other, joined.id))
    for _ in range(2):
        other.log.append(Fact(conversation_id="t", project=path, content="It is cold", replica=replica_of(other.store)))
        replay_store(other)

    assert {"It is cold"} == page_of(other, path)


def page_of(opened, path):
    return {
        line.partition("] ")[2] for page in known(opened, path)[:1] for line in page.lines if line.startswith("- [")
    }


def test_beside_a_file_that_cannot_be_read_all_others_are_saved_and_it_is_named(lived_in, tmp_path):
    before = {event.id for event in lived_in.read()}
    lost = Path(lived_in.store.log, "2025-05-05.jsonl")
    lost.symlink_to("a disk that is away")
    Path(lived_in.store.root, "redactions.keys").mkdir()
    said = call("backup", "create", tmp_path / "a.tar", "--json", "--store", lived_in.store.root)
    found = json.loads(said.out)

    assert (4, "incomplete") == (said.code, found["status"])
    assert ["log/2025-05-05.jsonl", "redactions.keys"] == sorted(found["missing"])
    said = call("backup", "restore", tmp_path / "a.tar", "--store", tmp_path / "other")
    assert (4, 2) == (said.code, said.out.count("not in it: "))
    assert before <= {event.id for event in EventLog(tmp_path / "other").read()}


def test_what_a_hook_records_while_a_backup_is_restored_stays(lived_in, tmp_path, monkeypatch):
    file, _ = backed_up(lived_in, tmp_path / "a.tar")
    before, other = {event.id: event.ts for event in lived_in.read()}, store_at(tmp_path / "other")
    saved: set[str] = set()
    check = backup._check

    def beside(*args):
        for ts in {ts[:10]: ts for ts in before.values()}.values():
            saved.add(other.log.append(Fact(conversation_id="s", content="beside", ts=ts)).id)
        return check(*args)

    monkeypatch.setattr(backup, "_check", beside)
    done = restore_backup(other, file)

    assert {*before, *saved} <= {event.id for event in other.log.read()}
    assert [] == done.verified.damage
    assert [] == [path for path in tmp_path.iterdir() if ".restoring-" in path.name]


def _killed_at(number, function):
    steps = iter(range(number))

    def killed(*args):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        function(*args)

    return killed


def test_a_restore_that_was_killed_between_two_files_is_finished_by_the_next(lived_in, tmp_path, monkeypatch):
    file, manifest = backed_up(lived_in, tmp_path / "a.tar")
    before = {event.id for event in lived_in.read()}
    for kept in range(len(manifest.files)):
        other = store_at(tmp_path / f"other {kept}")
        with monkeypatch.context() as patch:
            patch.setattr(backup, "make_dirs", _killed_at(1 + len(manifest.files) + kept, make_dirs))
            with pytest.raises(KeyboardInterrupt):
                restore_backup(other, file)
        if kept == len(manifest.files) - 1:
            other.log.append(Fact(conversation_id="s", content="recorded in between"))
        done = restore_backup(other, file)
        assert ([], []) == (done.existing, done.verified.damage)
        assert before <= {event.id for event in other.log.read()}
        with pytest.raises(BadRequest, match="has events already"):
            restore_backup(other, file)
    assert not [*tmp_path.glob("*.restoring*")]
