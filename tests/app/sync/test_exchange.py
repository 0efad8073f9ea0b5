"""What is said on a machine is known on the others: once, whole, whoever pushes first, whatever happens to the remote."""

import random
import threading
from pathlib import Path

import pytest

from eventlog.app.sync import exchange as exchanging
from eventlog.app.sync.remote import open_remote
from eventlog.app.sync.sync_state import SyncState
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.resolve import waiting
from eventlog.format.errors import BadRequest, Busy, EventLogError, UntrustedRemote
from eventlog.hooks import background
from eventlog.store import Store
from eventlog.store.locks import lock
from eventlog.store.replica import replica_of
from tests.support import faults
from tests.support.builders import DAY_NS
from tests.support.effort import rounds, seed
from tests.support.repositories import git
from tests.support.synced import Memory, Synced


def test_a_fact_of_one_machine_is_known_on_the_other_and_all_files_are_equal(memory):
    one, other = memory.machines
    one.says("The tea is green")
    other.says("The cups are blue")

    memory.settle()

    assert ["The cups are blue", "The tea is green"] == one.facts() == other.facts()
    assert one.knowledge() == other.knowledge()


@pytest.mark.slow
def test_a_day_that_cannot_be_read_here_stays_on_the_other_machine(memory):
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    [day] = Path(one.store.log).glob("2026-02-20.jsonl")
    away = day.rename(day.with_name("away"))
    day.symlink_to("a disk that is away")
    memory.now += DAY_NS
    one.says("The cups are blue")
    memory.settle()

    assert ["The cups are blue", "The tea is green"] == other.facts()
    assert one.knowledge() == other.knowledge()
    away.replace(day)
    one.says("The pots are red")
    memory.settle()
    assert ["The cups are blue", "The pots are red", "The tea is green"] == one.facts() == other.facts()
    assert one.knowledge() == other.knowledge()


@pytest.mark.slow
def test_a_withdrawal_reaches_the_other_machine(memory):
    one, other = memory.machines
    said = one.says("The tea is green")
    memory.settle()
    other.put(type="retraction", target=said.id, reason="wrong")

    memory.settle()

    assert one.knowledge() == other.knowledge()
    assert not any(b"green" in data for data in one.knowledge().values())


def test_a_second_exchange_writes_nothing(memory):
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    before = memory.blobs()

    reports = [machine.sync() for machine in (one, other)]

    assert before == memory.blobs()
    assert [0, 0] == [report.sent.total for report in reports]
    assert [{}, {}] == [report.arrived for report in reports]


def test_nothing_in_the_remote_can_be_read(memory):
    memory.machines[0].says("The tea is green", project="/src/secret-shop")
    memory.settle()

    assert not any(word in memory.blobs() for word in (b"green", b"fact", b"secret-shop", b"content"))


def test_names_in_a_folder_tell_machine_and_day_only(tmp_path):
    memory = Memory(tmp_path)
    memory.machines[0].says("The tea is green")
    memory.settle()
    names = {replica_of(machine.store) for machine in memory.machines}

    parts = {tuple(name.split("/")[:2]) for name in memory.files() if "/" in name}
    assert {part for part in parts if part[1] != "head.age"} == {(replica_of(memory.machines[0].store), "2026-02-20")}
    assert {part[0] for part in parts} == names


@pytest.mark.slow
def test_three_machines_that_push_at_once_lose_nothing(tmp_path):
    memory = Memory(tmp_path, count=3, by_git=True)
    errors = []

    def work(machine):
        try:
            for number in range(rounds(fixed=2, fuzz=8)):
                machine.says(f"{machine.name} {number}")
                machine.sync()
        except EventLogError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(machine,)) for machine in memory.machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.settle()

    assert [] == errors
    assert 3 * rounds(fixed=2, fuzz=8) == len(memory.machines[0].facts())
    assert memory.machines[0].knowledge() == memory.machines[1].knowledge() == memory.machines[2].knowledge()


def test_offline_is_part_of_the_report_and_what_waits_leaves_later(memory):
    one, other = memory.machines
    one.says("The tea is green")
    with memory.out_of_reach():
        assert one.sync().offline

    assert not one.sync().offline
    other.sync()
    assert ["The tea is green"] == other.facts()


@pytest.mark.slow
@pytest.mark.parametrize("step", ["save", "publish", "take_in"])
def test_a_kill_at_any_step_loses_and_doubles_nothing(memory, step, monkeypatch):
    one, other = memory.machines
    other.says("The cups are blue")
    other.sync()
    one.says("The tea is green")
    calls = 0

    class Killed(BaseException):
        pass

    def killed(real, when):
        def step(*args, **options):
            nonlocal calls
            calls += 1
            if calls == when:
                raise Killed
            done = real(*args, **options)
            if calls == when + 100:
                raise Killed
            return done

        return step

    for when in (1, 2, 3):
        for after in (0, 100):
            calls = after
            with monkeypatch.context() as patch:
                if step == "publish":
                    remote = type(open_remote(memory.address, one.store, one.opened.machine))
                    patch.setattr(remote, "publish", killed(remote.publish, when))
                elif step == "save":
                    patch.setattr(SyncState, "save", killed(SyncState.save, when))
                else:
                    patch.setattr(exchanging, step, killed(getattr(exchanging, step), when))
                try:
                    one.says(f"{when} {after}")
                    one.sync()
                except Killed:
                    pass
    memory.settle()

    wanted = sorted(["The cups are blue", "The tea is green", *(f"{w} {a}" for w in (1, 2, 3) for a in (0, 100))])
    assert wanted == one.facts() == other.facts()
    assert one.knowledge() == other.knowledge()


def test_a_segment_that_is_gone_or_torn_is_named_and_sent_again(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    one.sync()
    name, path = next((name, path) for name, path in memory.files().items() if "2026-02-20" in name)
    path.write_bytes(path.read_bytes()[:-9])

    assert [name] == other.sync().damaged
    assert [] == other.facts()
    other.sync()  # says so to the first
    one.sync()
    other.sync()
    assert ["The tea is green"] == other.facts()

    for path in [path for name, path in memory.files().items() if "2026-02-20" in name]:
        path.unlink()
    one.sync()
    assert ["The tea is green"] == memory.another("m2").facts()


def test_an_emptied_directory_is_refused_and_nothing_here_is_deleted(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    for path in memory.files().values():
        path.unlink()

    for machine in (one, other):
        with pytest.raises(UntrustedRemote, match="emptied"):
            machine.sync()
        assert ["The tea is green"] == machine.facts()


def test_a_foreign_directory_is_refused(tmp_path):
    memory = Memory(tmp_path / "one")
    (tmp_path / "two").mkdir()
    foreign = Memory(tmp_path / "two", count=1)
    for path in memory.files().values():
        path.unlink()
    (memory.hub / "eventlog-sync.json").write_bytes((foreign.hub / "eventlog-sync.json").read_bytes())

    with pytest.raises(UntrustedRemote, match="another memory"):
        memory.machines[0].sync()


@pytest.mark.slow
def test_a_remote_that_was_rolled_back_is_refused_until_the_machine_joins_again(memory):
    one, other = memory.machines
    memory.move_on()
    memory.roll_back()

    for machine in (one, other):
        with pytest.raises(UntrustedRemote, match="rolled back"):
            machine.sync()
    for machine in (one, other):
        machine.join()
    memory.settle()

    assert ["The cups are blue", "The tea is green"] == one.facts() == other.facts() == memory.another("m2").facts()
    assert one.knowledge() == other.knowledge()


def test_a_lost_marker_alone_is_made_again(tmp_path):
    memory = Memory(tmp_path)
    (memory.hub / "eventlog-sync.json").unlink()
    memory.machines[0].says("The tea is green")

    memory.settle()

    assert ["The tea is green"] == memory.machines[1].facts() == memory.another("m2").facts()


@pytest.mark.slow
def test_a_store_that_was_copied_whole_goes_on_under_a_name_of_its_own(memory):
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    copy = one.copy_to("copy")
    assert replica_of(copy.store) == replica_of(one.store)
    one.says("said by the first")
    copy.says("said by the copy")

    memory.settle()

    assert replica_of(copy.store) != replica_of(one.store)
    wanted = ["The tea is green", "said by the copy", "said by the first"]
    assert wanted == one.facts() == other.facts() == copy.facts()
    assert one.knowledge() == other.knowledge() == copy.knowledge()


@pytest.mark.slow
def test_what_a_store_sends_while_its_copy_publishes_by_the_same_name_is_not_lost(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    copy = one.copy_to("copy")
    head = memory.hub / replica_of(one.store) / "head.age"
    before = head.read_bytes()
    one.says("said by the first")
    one.sync()
    head.write_bytes(before)  # as the copy has read it: a directory cannot refuse who is second
    copy.says("said by the copy")
    copy.sync()

    memory.settle()

    assert replica_of(copy.store) != replica_of(one.store)
    wanted = ["The tea is green", "said by the copy", "said by the first"]
    assert wanted == one.facts() == other.facts() == copy.facts()


@pytest.mark.slow
def test_a_store_that_lost_its_state_keeps_its_name_and_sends_nothing_twice(memory):
    one, other = memory.machines
    one.says("The tea is green")
    memory.settle()
    name = replica_of(one.store)
    Path(one.store.sync, "state.json").unlink()
    one.says("The cups are blue")
    found = one.sync()
    memory.settle()

    assert ("", name) == (found.renamed, replica_of(one.store))
    assert ["The cups are blue", "The tea is green"] == one.facts() == other.facts()
    assert one.knowledge() == other.knowledge()
    assert not [*one.sync().arrived, *other.sync().arrived]


@pytest.mark.slow
def test_what_is_redacted_after_a_store_lost_its_state_is_the_same_bytes_everywhere(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    one.says("The cups are blue", conversation_id="c2")
    memory.settle()
    Path(one.store.sync, "state.json").unlink()

    redact(one.opened, redactable(one.opened, "The tea is green"))
    memory.settle()

    assert ["The cups are blue"] == one.facts() == other.facts()
    assert one.knowledge() == other.knowledge()


@pytest.mark.slow
@pytest.mark.parametrize("by_text", [True, False], ids=["by its text", "by its event alone"])
def test_what_is_redacted_elsewhere_is_in_no_file_of_a_store_whose_memory_a_person_has_edited(tmp_path, by_text):
    memory = Memory(tmp_path)
    one, other = memory.machines
    said = one.says("The tea is green and quiet")
    one.says("The cups are blue", conversation_id="c2")
    memory.settle()
    [edited] = Path(other.store.knowledge).rglob("MEMORY.md")
    lines = edited.read_text().split("\n")
    edited.write_text("\n".join("- The pots are red" if "blue" in line else line for line in lines))

    redact(one.opened, redactable(one.opened, said.content if by_text else said.id))
    if not by_text:
        Path(one.store.root, "redactions.keys").unlink()
    memory.settle()

    assert one.knowledge() == other.knowledge()
    assert b"pots are red" in edited.read_bytes()
    assert b"blue" not in edited.read_bytes()
    files = [path for path in Path(other.store.root).rglob("*") if path.is_file()]
    assert not [path.name for path in files if b"green and quiet" in path.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("is_writer_lost", [False, True], ids=["its writer is there", "its writer is lost"])
def test_what_is_forgotten_and_then_redacted_is_told_nowhere_whatever_was_redacted_elsewhere(tmp_path, is_writer_lost):
    memory = Memory(tmp_path, count=3)
    writer, other, third = memory.machines
    writer.says("The tea is green and quiet")
    third.says("The pots are loud and red")
    memory.settle()
    if is_writer_lost:
        memory.machines.remove(writer)
    redact(third.opened, redactable(third.opened, "loud"))
    forget(other.opened, forgettable(other.opened, "The tea is green and quiet"))
    redact(other.opened, redactable(other.opened, "quiet"))

    for machine in (third, writer, other):  # each counts the redactions in another order
        if machine in memory.machines:
            machine.sync()
    memory.settle()
    memory.another("late")
    memory.settle()

    first, *others = [machine.knowledge() for machine in memory.machines]
    assert [first] * len(others) == others
    rendered = b"".join(first.values())
    assert b"The pots are [redacted:1] and red" in rendered
    assert b"tea is green" not in rendered


@pytest.mark.slow
def test_what_is_redacted_elsewhere_goes_from_what_an_agent_wrote_into_a_knowledge_base_here(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.put(type="plan_entry", key={"path": "user", "heading": "Tea"}, content="- The tea is green and quiet")
    memory.settle()
    memory.settle()  # each knows what the other has applied
    user_md = other.home / ".config" / "agents" / "USER.md"
    assert "green and quiet" in user_md.read_text()

    redact(one.opened, redactable(one.opened, "quiet"))
    memory.settle()

    assert [] == waiting(other.opened)
    assert "green and [redacted:1]" in user_md.read_text()
    memory.settle()
    for machine in memory.machines:
        files = [path for path in machine.root.rglob("*") if path.is_file()]
        assert not [path.name for path in files if b"green and quiet" in path.read_bytes()]


@pytest.mark.slow
def test_what_is_redacted_elsewhere_is_not_staged_from_a_persons_own_file(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green and quiet")
    user_md = other.home / ".config" / "agents" / "USER.md"
    user_md.parent.mkdir(parents=True)
    user_md.write_text("## Tea\n\n- My tea is green and quiet\n")
    redact(one.opened, redactable(one.opened, "quiet"))
    one.put(type="plan_entry", key={"path": "user", "heading": "Tea"}, content="- The tea is black")
    memory.settle()

    [staged] = Path(other.store.staging).iterdir()
    assert "would remove 1 line you wrote: - My tea is green and [redacted:1]" in staged.read_text()
    assert "quiet" in user_md.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_text_that_was_erased_meanwhile_goes_also_where_a_machine_has_lost_its_marks(tmp_path, lost):
    memory = Memory(tmp_path, count=3)
    *two, away = memory.machines
    two[0].says("The tea is green and quiet")
    memory.settle()
    away.says("They say the tea is green and quiet")
    redact(two[0].opened, redactable(two[0].opened, "The tea is green and quiet"))
    for machine in two:
        machine.sync()
    Path(two[lost].store.root, "redactions.keys").unlink()
    for machine in two:
        machine.sync()
    memory.settle()

    files = [path for machine in memory.machines for path in machine.root.rglob("*") if path.is_file()]
    assert not [path for path in files if b"green and quiet" in path.read_bytes()]


def test_past_days_are_compacted_on_the_way_and_what_was_removed_leaves_the_history(memory):
    one, other = memory.machines
    for number in range(3):
        one.says(f"fact {number}")
        one.sync()
    other.sync()
    memory.now += 86_400 * 10**9

    report = one.sync()

    assert 3 == report.sent.total  # as one segment
    if memory.hub.name.endswith(".git"):
        assert "1" == git(memory.hub, "rev-list", "--count", "eventlog")
    assert {} == other.sync().arrived
    assert ["fact 0", "fact 1", "fact 2"] == memory.another("m2").facts()


def segments(memory, machine):
    """The segments of a machine in the remote."""
    names = open_remote(memory.address, machine.store, machine.opened.machine).names()
    own = [name for name in names if name.startswith(f"{replica_of(machine.store)}/")]
    return [name for name in own if not name.endswith("head.age")]


@pytest.mark.slow
@pytest.mark.parametrize("by_git", [False, True], ids=["folder", "git"])
def test_compacting_leaves_a_segment_a_day_and_every_machine_gets_everything(tmp_path, by_git):
    memory = Memory(tmp_path, by_git=by_git)
    one, other = memory.machines
    late = memory.another("late")
    for number in range(3):
        one.says(f"fact {number}")
        one.sync()
        if number < 2:
            other.sync()  # has some of it; the late machine has nothing
    assert 3 == len(segments(memory, one))

    one.sync(compact=True)

    assert 1 == len(segments(memory, one))
    assert {replica_of(one.store): 1} == other.sync().arrived
    assert {replica_of(one.store): 3} == late.sync().arrived
    memory.settle()
    assert ["fact 0", "fact 1", "fact 2"] == other.facts() == late.facts() == memory.another("new").facts()
    assert one.knowledge() == other.knowledge() == late.knowledge()


def test_compacting_what_is_compact_changes_nothing(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    one.sync(compact=True)
    other.sync(compact=True)
    one.sync()
    before = memory.blobs()

    one.sync(compact=True)

    assert before == memory.blobs()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's thread; nothing is shared
def test_killed_while_compacting_it_loses_nothing_and_compacts_the_next_time(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    chance, calls = random.Random(seed()), 24
    said = []
    for number in sorted(chance.sample(range(calls), rounds(fixed=3, fuzz=calls))):
        for part in range(2):
            said.append(one.says(f"fact {number} {part}").content)
            one.sync()
        assert faults.killed(lambda: one.sync(compact=True) and 0, number) in (0, faults.KILLED)
        assert sorted(said) == one.facts()
        other.sync()
        one.sync(compact=True)
        assert 1 == len(segments(memory, one))
    memory.settle()

    assert sorted(said) == one.facts() == other.facts() == memory.another("new").facts()
    assert one.knowledge() == other.knowledge()


def test_a_machine_with_a_wrong_clock_is_named(memory):
    one, other = memory.machines
    memory.now += 3600 * 10**9
    one.says("from the future")
    one.sync()
    memory.now -= 3600 * 10**9

    assert [replica_of(one.store)] == other.sync().ahead


def test_two_exchanges_of_a_store_do_not_run_at_once(memory):
    with lock(memory.machines[0].store.lock("sync")), pytest.raises(Busy):
        memory.machines[0].sync(patience=0)


def test_a_store_that_does_not_sync_says_what_to_do(tmp_path):
    Path(tmp_path, "x").mkdir()
    alone = Synced(type("M", (), {"directory": tmp_path, "tick": lambda _: 0, "now": 0})(), "alone")
    with pytest.raises(BadRequest) as told:
        exchanging.exchange(alone.opened)
    assert "sync start" in told.value.hint
    assert not Path(Store(str(tmp_path / "alone" / "store")).sync).exists()


def test_what_a_sync_replays_is_what_arrived_and_what_that_adds_leaves_in_the_same_sync(tmp_path):
    memory = Memory(tmp_path)
    one, other = memory.machines
    one.says("The tea is green")
    one.sync()

    def replay(report):
        assert {replica_of(one.store): 1} == report.arrived
        other.says("A plan was applied")

    other.sync(replay=replay)

    one.sync()
    assert ["A plan was applied", "The tea is green"] == one.facts()


def test_a_sync_replays_also_where_the_remote_is_out_of_reach(tmp_path):
    memory = Memory(tmp_path)
    one = memory.machines[0]
    called: list[object] = []
    with memory.out_of_reach():
        assert one.sync(replay=called.append).offline

    assert called


def test_the_indexes_of_a_memory_that_arrives_whole_are_made_in_the_background(tmp_path, monkeypatch):
    started: list[str] = []
    monkeypatch.setattr(background, "start_finalize", lambda store: started.append(store.root))
    monkeypatch.setattr(exchanging, "_WHOLE", 1)
    memory = Memory(tmp_path)
    one, other = memory.machines
    for text in ("The tea is green", "The cups are blue"):
        one.says(text)
    one.sync()
    found = exchanging.sync_store(other.opened)

    assert {replica_of(one.store): 2} == found.arrived
    assert [other.store.root] == started
    assert Path(other.store.knowledge, "sessions.jsonl").exists()
    assert not Path(other.store.cached("search.sqlite")).exists()
