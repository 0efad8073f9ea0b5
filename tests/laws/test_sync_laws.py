"""Machines that sync settle on the same bytes, whatever happens to the files between them; nothing here is ever deleted.

Facts, withdrawals, redactions, days that pass; exchanges that are killed; files of the remote that are torn, deleted,
duplicated, renamed and rolled back; a machine that joins late; a store that was copied whole.
"""

import tempfile
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.app.sync import exchange as exchanging
from eventlog.app.sync.sync_state import SyncState
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format.errors import BadRequest
from tests.support.effort import rounds
from tests.support.synced import Memory

WHAT = ["say", "say", "say", "home", "withdraw", "redact", "sync", "sync", "sync", "kill", "tear", "delete", "duplicate",
        "rename", "roll back", "day", "copy", "join"]  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(WHAT), st.integers(0, 2), st.integers(0, 40)), max_size=18)


class _Killed(BaseException):
    pass


@contextmanager
def killed_at(number):
    """Functions of an exchange that end the program at the call of that number."""
    calls = 0

    def wrap(real):
        def step(*args, **options):
            nonlocal calls
            calls += 1
            if calls == number:
                raise _Killed
            return real(*args, **options)

        return step

    names = ("take_in", "take_over", "pack_lines", "look")
    wrapped = {name: wrap(getattr(exchanging, name)) for name in names}
    with mock.patch.object(SyncState, "save", wrap(SyncState.save)), mock.patch.multiple(exchanging, **wrapped):
        yield


def damage(memory, what, number, older):
    """Do something to a file of the remote."""
    found = [(name, path) for name, path in memory.files().items() if "/" in name]
    if not found:
        return
    name, path = found[number % len(found)]
    match what:
        case "tear":
            path.write_bytes(path.read_bytes()[: -1 - number])
        case "delete":
            path.unlink()
        case "duplicate":
            path.with_name(f"{path.stem} (conflicted copy).age").write_bytes(path.read_bytes())
        case "rename":
            path.rename(path.with_name(f"{path.stem} 2.age"))
        case "roll back" if name in older:
            path.write_bytes(older[name])


def happen(memory, steps):  # noqa: C901 - one arm for each thing that can happen
    """Let all steps happen, and return the ids that somebody said; no id leaves a machine that has it."""
    said: dict[str, Any] = {}
    older: dict[str, bytes] = {}
    present: dict[str, set[str]] = {}
    for number, (what, at, how) in enumerate(steps):
        machine = memory.machines[at % len(memory.machines)]
        match what:
            case "say":
                event = machine.says(f"fact number {number} of green tea", category=("decision", None)[how % 2])
                said[event.id] = event
            case "home":
                event = machine.put(type="host_event", name="x", payload={"a": "stays-home"}, project="/src/shop")
                said[event.id] = event
            case "withdraw" if facts := [event for event in said.values() if event.type == "fact"]:
                event = machine.put(type="retraction", target=facts[how % len(facts)].id)
                said[event.id] = event
            case "redact":
                with suppress(BadRequest):
                    redact(machine.opened, redactable(machine.opened, f"fact number {how % (number + 1)} of green tea"))
            case "sync":
                machine.sync_or_start()
            case "kill":
                with suppress(_Killed), killed_at(1 + how % 5):
                    machine.sync_or_start()
            case "day":
                memory.now += 86_400 * 10**9
            case "copy" if len(memory.machines) < 4:
                machine.copy_to("copy")
            case "join" if "late" not in {one.name for one in memory.machines}:
                memory.another("late")
            case _:
                damage(memory, what, how, older)
        older |= {name: path.read_bytes() for name, path in memory.files().items() if number % 3 == 0}
        for one in memory.machines:
            ids = one.ids()
            assert present.get(one.name, set()) <= ids
            present[one.name] = ids
    return set(said)


@pytest.mark.slow
@given(STEPS)
@example([("say", 0, 0), ("sync", 0, 0), ("tear", 0, 1), ("sync", 1, 0), ("say", 0, 1), ("sync", 0, 0)])
@example([("say", 0, 0), ("sync", 0, 0), ("sync", 1, 0), ("redact", 1, 0), ("sync", 1, 0), ("sync", 0, 0)])
@example([("say", 0, 0), ("kill", 0, 1), ("kill", 0, 2), ("kill", 1, 3), ("copy", 0, 0), ("say", 0, 0), ("say", 3, 0)])
@example([("say", 0, 0), ("sync", 0, 0), ("say", 0, 0), ("sync", 0, 0), ("roll back", 0, 0), ("sync", 1, 0)])
@settings(max_examples=rounds(fixed=2, fuzz=200))
def test_machines_settle_on_the_same_bytes_and_lose_and_double_nothing(steps):
    with tempfile.TemporaryDirectory() as directory:
        memory = Memory(directory, count=3)
        for machine in memory.machines:
            machine.put(type="session_start", source="startup", project="/src/shop")
        said = happen(memory, steps)

        memory.settle()

        machines = memory.machines
        for machine in machines:
            listed = [event.id for event in machine.log.read()]
            assert len(listed) == len(set(listed))
            assert said <= set(listed)
        assert 1 == len({frozenset(machine.ids()) for machine in machines})
        first, *others = [machine.knowledge() for machine in machines]
        assert [first] * len(others) == others
        assert b"stays-home" not in memory.blobs()
