"""The files of a team from the segments of its members: those of a member, on one machine and by workers, also killed."""

import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from eventlog import cluster
from eventlog.app.build.rebuild import replay_elsewhere
from eventlog.app.cluster.replay_remote import replay_remote
from eventlog.app.cluster.replay_stores import StoreFiles
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format.errors import BadRequest, UntrustedRemote
from tests.support.command_line import call
from tests.support.effort import FUZZ, rounds
from tests.support.golden import tree
from tests.support.synced import Memory, Synced
from tests.support.users import FIRST, events_of

pytestmark = pytest.mark.slow

COUNT = rounds(fixed=60, fuzz=10_000)
DAYS = rounds(fixed=33, fuzz=200)  # more than a task takes


@pytest.fixture(scope="module", params=[False, True] if FUZZ else [False], ids=str)
def team(request, tmp_path_factory):
    """A team that nobody changes."""
    return another_team(tmp_path_factory.mktemp("team"), by_git=request.param)


def another_team(directory, **options):
    """Two machines that have sent all they know; some ids name another day than that of their lines."""
    memory = Memory(directory, now=int((FIRST + timedelta(days=DAYS)).timestamp()) * 10**9, **options)
    for machine in memory.machines:
        Path(machine.store.log).mkdir(parents=True, exist_ok=True)
        for ts, line in events_of(machine.name, COUNT, DAYS):
            if b'"plan_entry"' not in line and b'"host_event"' not in line:
                with Path(machine.store.log, f"{ts[:10]}.jsonl").open("ab") as file:
                    file.write(line + b"\n")
        machine.put(type="session_start", source="startup", project="/src/shop")
        machine.put(type="host_event", name="x", project="/src/shop")
        machine.put(type="plan_entry", key={"path": "user", "heading": "Tea"}, content="- green", project="/src/shop")
        machine.says(f"The tea of {machine.name} is green")
    for _ in range(3):  # replays apply plan entries, which travels, too
        for machine in memory.machines:
            machine.sync()
            machine.replay()
    return memory


def of_member(machine, directory):
    """What `replay --out` writes on a machine that has taken in everything."""
    replay_elsewhere(machine.opened, str(directory))
    return tree(directory)


def test_they_are_the_files_of_every_member(team, tmp_path):
    found = replay_remote(team.machines[0].opened)

    assert isinstance(found, StoreFiles)
    assert [] == found.damage
    for machine in team.machines:
        assert of_member(machine, tmp_path / f"out-{machine.name}") == found.files
    assert {"projects/shop-9a325a/MEMORY.md", "INDEX.md"} <= found.files.keys()


def test_a_worker_folds_the_same_bytes(team, client):
    assert replay_remote(team.machines[0].opened) == replay_remote(team.machines[1].opened, client)


def test_only_what_is_asked_for_is_rendered_and_nothing_is_written(team):
    one = team.machines[0]
    before = team.blobs(), tree(one.root)

    assert ["INDEX.md"] == [name for name in replay_remote(one.opened, projections=["index"]).files if "/" not in name]
    assert before == (team.blobs(), tree(one.root))


def test_what_was_redacted_is_in_no_file_also_where_its_writer_is_gone(tmp_path):
    team = another_team(tmp_path)
    one, other = team.machines
    redact(one.opened, redactable(one.opened, "The tea of m1 is green"))
    one.sync()  # and `other` never again

    found = replay_remote(one.opened)

    assert not any(b"tea of m1" in data for data in found.files.values())
    assert any(b"tea of m0" in data for data in found.files.values())
    assert "The tea of m1 is green" in other.facts()


def test_a_segment_that_is_not_whole_is_named_and_costs_only_itself_and_an_emptied_remote_is_refused(tmp_path):
    team = another_team(tmp_path)
    name, path = next((name, path) for name, path in team.files().items() if "/2025-03-" in name)
    path.write_bytes(path.read_bytes()[:-9])

    found = replay_remote(team.machines[0].opened)

    assert [name] == [damage.file for damage in found.damage]
    assert DAYS // 2 < found.days

    for path in team.files().values():
        path.unlink()
    with pytest.raises(UntrustedRemote, match="emptied"):
        replay_remote(team.machines[0].opened)


@pytest.mark.fuzz
@pytest.mark.skipif(not FUZZ, reason="starts processes: under `make fuzz`")
def test_workers_fold_the_same_bytes_also_when_one_is_killed(team):
    killed: list[int] = []
    alone = replay_remote(team.machines[0].opened)

    with cluster.connected("local:2") as workers:
        undisturbed = replay_remote(team.machines[1].opened, workers)

        def kill(_done, _all):
            if not killed:
                killed.append(min(workers.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        found = replay_remote(team.machines[0].opened, workers, progress=kill)
        left = workers.run(os.getpid)

    assert killed[0] not in left.values()
    assert alone == found == undisturbed


# ------------------------------------------------------------------------------------------------ the verb


def test_the_verb_writes_them_into_the_directory_and_says_how_many(team, tmp_path):
    one, out = team.machines[0], tmp_path / "out"

    first = call("replay", "--out", out, team.address, "--store", one.store.root)
    again = call("replay", "--out", out, team.address, "--store", one.store.root)

    assert (0, 0) == (first.code, again.code)
    assert of_member(one, tmp_path / "member") == tree(out)
    assert first.out.startswith("team: ")
    assert " 0 files changed" in again.out


@pytest.mark.parametrize("said", ["dir:/nowhere", "ssh://example.org/memory"])
def test_a_remote_this_store_has_not_joined_is_refused(team, tmp_path, said):
    ran = call("replay", "--out", tmp_path / "out", said, "--store", team.machines[0].store.root)

    assert 2 == ran.code
    assert "has not joined" in ran.err
    assert not Path(tmp_path, "out").exists()


def test_without_a_directory_or_a_store_that_syncs_it_is_refused(team, tmp_path):
    assert "needs --out" in call("replay", team.address, "--store", team.machines[0].store.root).err
    with pytest.raises(BadRequest, match="does not sync"):
        replay_remote(Synced(team, "alone").opened)
