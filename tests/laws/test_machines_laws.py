"""Machines that exchange day files settle on the same bytes, and nobody is said to have edited what they did not."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.app.build.rebuild import rebuild
from eventlog.projections.bases import sections
from tests.support.effort import rounds
from tests.support.machines import Network

pytestmark = pytest.mark.slow

WHAT = [
    "plan",
    "plan",
    "delete",
    "edit",
    "edit",
    "remove",
    "replay",
    "replay",
    "copy",
    "torn",
    "lose",
    "resolve",
    "withdraw",
]
SECTIONS = st.sampled_from([("S", 2), ("C", 3), ("T", 2), ("T", 1)])
STEPS = st.lists(
    st.tuples(st.sampled_from(WHAT), st.integers(0, 2), SECTIONS, st.sampled_from([0.3, 0.7, 0.95])), max_size=16
)


def happen(network, steps):  # noqa: C901 - one arm for each thing that can happen
    for number, (what, at, (heading, level), whole) in enumerate(steps):
        machine, other = network.machines[at], network.machines[(at + 1 + number % 2) % 3]
        match what:
            case "plan":
                machine.plans(heading, level, f"agent {number}")
            case "delete":
                machine.plans(heading, level, None, operation="delete")
            case "edit":
                machine.writes(heading, level, f"human {number}")
            case "remove":
                machine.writes(heading, level, None)
            case "replay":
                machine.replay()
            case "copy" | "torn":
                machine.take(other, 1.0 if what == "copy" else whole)
            case "resolve":
                machine.resolves("apply" if number % 2 else "discard")
            case "withdraw":
                machine.withdraws(number)
            case "lose":
                machine.loses()


def never_done(machine):
    """What the log says a person did here to USER.md, and nobody did."""
    texts = (event for event in machine.log.read() if event.type == "knowledge_edited")
    edits = [event for event in texts if event.replica == machine.name]
    told = {(edit.key.heading, edit.key.level, None if edit.operation == "delete" else edit.content) for edit in edits}
    return told - machine.acts


@settings(max_examples=rounds(fixed=4, fuzz=300))
@given(STEPS)
@example([("plan", 0, ("S", 2), 1), ("edit", 1, ("T", 2), 1), ("replay", 0, ("S", 2), 1), ("copy", 1, ("S", 2), 1)])
@example([("edit", 1, ("S", 2), 1), ("plan", 0, ("S", 2), 1), ("replay", 0, ("S", 2), 1)])
@example([("plan", 0, ("S", 2), 1), ("replay", 0, ("S", 2), 1), ("plan", 1, ("S", 2), 1), ("replay", 1, ("S", 2), 1)])
def test_machines_settle_on_the_same_bytes_and_nobody_did_what_no_person_did(steps):
    with tempfile.TemporaryDirectory() as directory:
        network = Network(directory)
        happen(network, steps)
        network.exchange()

        assert [set(), set(), set()] == [never_done(machine) for machine in network.machines]
        first, *others = [machine.rendered() for machine in network.machines]
        assert [first, first] == others


def news_of(machine):
    """What a replay tells the log here; a second one tells nothing."""
    before = {event.id for event in machine.log.read()}
    assert [] == rebuild(machine.opened).applied.pending
    told = [event for event in machine.log.read() if event.id not in before]
    assert 0 == machine.replay()
    return told


@settings(max_examples=rounds(fixed=4, fuzz=300))
@given(STEPS, st.booleans())
@example([("plan", 0, ("S", 2), 1)], False)
@example([("plan", 0, ("S", 2), 1), ("replay", 0, ("S", 2), 1), ("edit", 0, ("S", 2), 1)], True)
@example(
    [("plan", 0, ("S", 2), 1), ("plan", 0, ("T", 2), 1), ("replay", 0, ("S", 2), 1), ("remove", 0, ("S", 2), 1)], True
)
def test_a_log_copied_to_a_nameless_store_replays_as_on_a_named_one(steps, at_home):
    with tempfile.TemporaryDirectory() as directory:
        network = Network(directory)
        happen(network, steps)
        network.exchange()
        old = network.machines[0]
        named = old.copied(Path(directory, "named"), named=True, at_home=at_home)
        nameless = old.copied(Path(directory, "nameless"), named=False, at_home=at_home)
        told, in_full = news_of(named), news_of(nameless)

        def shape(events):
            arrivals = (event for event in events if event.type == "entry_applied")
            return [(event.target, event.heading, event.level, event.content) for event in arrivals]

        assert {"entry_applied"} >= {event.type for event in (*told, *in_full)}
        assert shape(told) == shape(in_full)
        assert len(shape(told)) == len(set(shape(told)))
        assert named.text == nameless.text
        if at_home and sections.Page(old.text).sections:  # an empty file could be of any machine
            assert old.text == nameless.text
