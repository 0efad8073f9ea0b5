"""Whatever agents and people do in turn: applying settles, and nothing a person had in the file is ever lost."""

import tempfile
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog import EventLog, Retraction
from eventlog.app.plan import plan
from eventlog.projections.bases import section_edits, sections
from tests.support.bases import SETTINGS, rendered, user_md, write_user
from tests.support.builders import NOON
from tests.support.effort import rounds
from tests.support.use_cases import apply, decide, waiting

HEADINGS = st.sampled_from([("S", 2), ("C", 3), ("T", 2), ("T", 1)])
STEPS = st.lists(
    st.tuples(st.sampled_from(["plan", "plan", "delete", "edit", "edit", "remove", "apply", "apply", "withdraw", "resolve", "lose"]), HEADINGS),
    max_size=14,
)  # fmt: skip


class World:
    """A log, and USER.md."""

    def __init__(self, root):
        self.now = NOON
        self.log = EventLog(root, fsync=False, clock=self.tick)

    def tick(self):
        self.now += 10**9
        return self.now

    def there(self):
        return user_md().read_bytes() if user_md().exists() else b""

    def step(self, number, what, heading, level):  # noqa: C901 - one arm for each thing that can happen
        match what:
            case "plan":
                self.plan(heading, level, content=f"agent {number}")
            case "delete":
                self.plan(heading, level, operation="delete")
            case "edit":
                write_user(section_edits.update(self.there(), heading, level, f"human {number}"))
            case "remove":
                write_user(section_edits.delete(self.there(), heading, level, subsections=False))
            case "lose":
                user_md().unlink(missing_ok=True)
            case "withdraw":
                entries = [one for one in self.log.read() if one.type == "plan_entry"]
                if entries:
                    self.log.append(Retraction(conversation_id="human", target=entries[number % len(entries)].id))
            case "resolve":
                for staged in waiting(self.log, SETTINGS)[:1]:
                    self.settle()
                    decide(self.log, SETTINGS, staged, "apply" if number % 2 else "discard")
        if what == "apply":
            self.settle()

    def plan(self, heading, level, **change):
        """Plan a change; what a person has discarded is not planned again."""
        plan(self.log, {"path": "user", "heading": heading, "level": level, **change}, session="s")

    def settle(self):
        """Apply: what people had in the file is still there, or in the log; a second run finds nothing to do.

        A dry run tells the same beforehand.
        """
        before = {text for _, _, text in sections.Page(self.there()).outline() if text.startswith("human")}
        would = apply(self.log, SETTINGS, dry_run=True)
        first = apply(self.log, SETTINGS)
        again = apply(self.log, SETTINGS)
        after = {text for _, _, text in sections.Page(self.there()).outline()}
        said = {getattr(one, "content", None) for one in self.log.read()}

        assert before <= after | said
        assert would.files == first.files
        assert (0, [], [], []) == (again.stored, again.files, again.applied, first.pending)
        assert reasons(would) == reasons(first) == reasons(again)


def reasons(done):
    return [(staged.entry.id, staged.reason) for staged in done.staged]


@contextmanager
def world_after(steps):
    """A world of its own in which all this has happened, and been applied."""
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{root}/home")
        world = World(f"{root}/store")
        for number, (what, (heading, level)) in enumerate(steps):
            world.step(number, what, heading, level)
        world.settle()
        yield world


@settings(max_examples=rounds(fixed=30, fuzz=300))
@given(STEPS)
@example(
    [
        ("plan", ("S", 2)),
        ("plan", ("S", 2)),
        ("delete", ("C", 3)),
        ("edit", ("S", 2)),
        ("plan", ("C", 3)),
        ("plan", ("C", 3)),
        ("edit", ("S", 2)),
        ("apply", ("S", 2)),
        ("plan", ("C", 3)),
        ("remove", ("S", 2)),
        ("withdraw", ("S", 2)),
    ]
)
@example(
    [
        ("plan", ("C", 3)),
        ("plan", ("T", 1)),
        ("apply", ("T", 1)),
        ("delete", ("C", 3)),
        *[("apply", ("C", 3))] * 3,
        ("resolve", ("C", 3)),
        ("plan", ("C", 3)),
        ("edit", ("T", 1)),
        ("withdraw", ("C", 3)),
    ]
)
@example(
    [
        ("plan", ("C", 3)),
        ("delete", ("C", 3)),
        ("apply", ("S", 2)),
        ("withdraw", ("S", 2)),
        ("plan", ("C", 3)),
        ("edit", ("S", 2)),
    ]
)
@example(
    [
        ("plan", ("S", 2)),
        ("delete", ("S", 2)),
        ("plan", ("C", 3)),
        ("lose", ("S", 2)),
        ("plan", ("T", 2)),
        ("resolve", ("S", 2)),
        ("delete", ("S", 2)),
        ("plan", ("T", 1)),
        ("apply", ("S", 2)),
        ("apply", ("S", 2)),
        ("edit", ("S", 2)),
        ("plan", ("S", 2)),
        ("withdraw", ("S", 2)),
    ]
)
@example(
    [*[("plan", ("S", 2))] * 4, ("delete", ("T", 1)), ("edit", ("T", 1)), ("resolve", ("S", 2)), ("delete", ("T", 1))]
)
def test_applying_settles_and_nothing_a_person_had_in_the_file_is_lost(steps):
    with world_after(steps) as world:
        assert [] == apply(world.log, SETTINGS).edited


@settings(max_examples=rounds(fixed=15, fuzz=300))
@given(STEPS)
@example(
    [
        ("plan", ("T", 1)),
        ("edit", ("S", 2)),
        ("remove", ("S", 2)),
        *[("plan", ("S", 2))] * 3,
        ("apply", ("S", 2)),
        ("edit", ("S", 2)),
        ("withdraw", ("S", 2)),
    ]
)
@example([("plan", ("S", 2)), ("plan", ("T", 2)), ("delete", ("S", 2)), ("edit", ("S", 2))])
@example([("plan", ("C", 3)), ("plan", ("T", 2)), ("edit", ("T", 2)), ("edit", ("S", 2))])
@example([("plan", ("C", 3)), ("plan", ("T", 1)), ("delete", ("T", 2)), ("edit", ("T", 1))])
@example([("plan", ("S", 2)), ("apply", ("S", 2)), ("delete", ("S", 2)), ("plan", ("S", 2)), ("remove", ("S", 2))])
@example(
    [
        ("plan", ("T", 1)),
        ("delete", ("S", 2)),
        ("plan", ("S", 2)),
        *[("apply", ("S", 2))] * 3,
        ("withdraw", ("S", 2)),
    ]
)
def test_a_lost_file_is_rebuilt_as_the_log_renders_it(steps):
    with world_after(steps) as world:
        user_md().unlink(missing_ok=True)
        world.settle()

        # what waited only because of text that went with the file has come now, at the end and after one blank line
        assert _said(rendered(world.log).encode()) == _said(world.there())

        user_md().unlink(missing_ok=True)
        world.settle()

        assert rendered(world.log) == world.there().decode()


def _said(data):
    """What a page says, in whatever order, and whatever headings without a text stand above it."""
    return sorted(said for said in sections.Page(data).outline() if said[-1])
