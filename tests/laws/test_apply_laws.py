"""Whatever agents and people do in turn: applying settles, and nothing a person had in the file is ever lost."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog import EventLog, Retraction
from eventlog.app.write.plan import plan
from eventlog.format import codec, timestamps
from eventlog.format.events import EntryApplied, KnowledgeEdited, SectionKey
from eventlog.projections.bases import section_edits, sections
from tests.support.bases import SETTINGS, rendered, user_md, write_user
from tests.support.builders import NOON
from tests.support.effort import rounds
from tests.support.machines import KINDS, STORES, found_as, of_machine
from tests.support.sections import delete
from tests.support.use_cases import apply, decide, waiting

pytestmark = pytest.mark.slow

HEADINGS = st.sampled_from([("S", 2), ("C", 3), ("T", 2), ("T", 1)])
WHAT = ["plan", "plan", "say", "delete", "edit", "edit", "remove", "apply", "apply", "withdraw", "resolve", "lose"]
STEPS = st.lists(st.tuples(st.sampled_from(WHAT), HEADINGS), max_size=14)
MERGED = [*WHAT, "meet", "meet", *KINDS]
STEPS_OF_MACHINES = st.lists(st.tuples(st.sampled_from(MERGED), HEADINGS), max_size=14)


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

    def step(self, number, what, heading, level):  # noqa: C901, PLR0912 - one arm for each thing that can happen
        match what:
            case "plan":
                self.plan(heading, level, content=f"agent {number}")
            case "delete":
                self.plan(heading, level, operation="delete")
            case "edit":
                write_user(section_edits.update(self.there(), heading, level, f"human {number}"))
            case "remove":
                write_user(delete(self.there(), heading, level, subsections=False))
            case "lose":
                user_md().unlink(missing_ok=True)
            case "withdraw":
                entries = [one for one in self.log.read() if one.type == "plan_entry"]
                if entries:
                    self.log.append(Retraction(conversation_id="human", target=entries[number % len(entries)].id))
            case "say":
                self.log.append(self.entry(number, heading, level))
            case "meet":
                self.meet(number, heading, level)
            case "named" | "nameless" | "named elsewhere" | "copied":
                found_as(self.log.store, what)
            case "resolve":
                for staged in waiting(self.log, SETTINGS)[:1]:
                    self.settle()
                    decide(self.log, SETTINGS, staged, "apply" if number % 2 else "discard")
        if what == "apply":
            self.settle()

    def plan(self, heading, level, **change):
        """Plan a change; what a person has discarded is not planned again."""
        plan(self.log, {"path": "user", "heading": heading, "level": level, **change}, session="s")

    def entry(self, number, heading, level):
        """An entry with a time of its own, as `append --stdin` and `import` have them; it names no machine."""
        key = {"path": "user", "heading": heading, "level": level}
        said = {"type": "plan_entry", "conversation_id": "s", "key": key, "content": f"agent {number}"}
        return {**said, "ts": timestamps.from_ns(self.tick())}

    def meet(self, number, heading, level):
        """The log of another machine is merged, with an entry that was applied there, and changed by its person."""
        planned = codec.from_fields({**self.entry(number, heading, level), "replica": "desk"})
        planned = replace(planned, id=codec.content_id(planned))
        texts = {"agent": f"agent {number}", "human": f"human {number}"}
        arrived = EntryApplied(
            conversation_id="s", replica="desk", target=planned.id, path="~/.config/agents/USER.md", heading=heading, level=level, under=(),
            digest=sections.digest(texts["agent"]),
        )  # fmt: skip
        edited = KnowledgeEdited(
            conversation_id="s", replica="desk", agent="human", key=SectionKey(heading=heading, path="user", level=level, under=()), operation="update",
            content=texts["human"],
        )  # fmt: skip
        told = [replace(one, ts=timestamps.from_ns(self.tick())) for one in (arrived, edited)[: 1 + number % 2]]
        lines = [codec.encode(replace(one, id=one.id or codec.content_id(one))) for one in (planned, *told)]
        with Path(self.log.store.log, f"{planned.ts[:10]}.desk.jsonl").open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))

    def forged(self):
        """What the log says a person wrote, and an agent did."""
        edits = (event for event in self.log.read() if isinstance(event, KnowledgeEdited))
        return [event for event in edits if "agent" in (event.content or "")]

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
        assert [] == self.forged()
        assert would.files == first.files
        assert (0, [], [], []) == (again.stored, again.files, again.applied, first.pending)
        assert reasons(would) == reasons(first) == reasons(again)


def reasons(done):
    return [(staged.entry.id, staged.reason) for staged in done.staged]


@contextmanager
def world_after(steps, store="nameless"):
    """A world of its own in which all this has happened to such a store, and been applied."""
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{root}/home")
        of_machine(patch, root, 1)
        world = World(f"{root}/store")
        Path(world.log.store.log).mkdir(parents=True)
        found_as(world.log.store, store)
        for number, (what, (heading, level)) in enumerate(steps):
            world.step(number, what, heading, level)
        world.settle()
        yield world


@settings(max_examples=rounds(fixed=4, fuzz=300))
@given(STEPS_OF_MACHINES)
@example([("say", ("S", 2)), ("apply", ("S", 2))])
@example([("plan", ("S", 2)), ("apply", ("S", 2)), ("nameless", ("S", 2))])
@example([("plan", ("S", 2)), ("apply", ("S", 2)), ("copied", ("S", 2)), ("plan", ("S", 2))])
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


@settings(max_examples=rounds(fixed=3, fuzz=300))
@given(STEPS, STORES)
@example(
    [
        ("plan", ("T", 1)),
        ("edit", ("S", 2)),
        ("remove", ("S", 2)),
        *[("plan", ("S", 2))] * 3,
        ("apply", ("S", 2)),
        ("edit", ("S", 2)),
        ("withdraw", ("S", 2)),
    ],
    "nameless",
)
@example([("plan", ("S", 2)), ("plan", ("T", 2)), ("delete", ("S", 2)), ("edit", ("S", 2))], "nameless")
@example([("plan", ("C", 3)), ("plan", ("T", 2)), ("edit", ("T", 2)), ("edit", ("S", 2))], "nameless")
@example([("plan", ("C", 3)), ("plan", ("T", 1)), ("delete", ("T", 2)), ("edit", ("T", 1))], "nameless")
@example(
    [("plan", ("S", 2)), ("apply", ("S", 2)), ("delete", ("S", 2)), ("plan", ("S", 2)), ("remove", ("S", 2))],
    "nameless",
)
@example(
    [
        ("plan", ("T", 1)),
        ("delete", ("S", 2)),
        ("plan", ("S", 2)),
        *[("apply", ("S", 2))] * 3,
        ("withdraw", ("S", 2)),
    ],
    "nameless",
)
def test_a_lost_file_is_rebuilt_as_the_log_renders_it(steps, store):
    with world_after(steps, store) as world:
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
