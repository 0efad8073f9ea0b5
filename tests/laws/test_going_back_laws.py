"""One law for going back: `undo` right after a deed gives back every byte, and no way back lifts what was rejected.

Agents of several sessions say facts, facts under a key, summaries with decisions and to-dos, and plan entries, the same
things again and again; a person forgets in every way, undoes, names what to undo, restores files, decides about what
waits, and edits files by hand.
"""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine
from eventlog.app.search import recall as recalling
from eventlog.app.search.search import SearchQuery, search
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.app.write.correct import correctable, edit, move
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.plan import plan
from eventlog.app.write.resolve import decide, waiting
from eventlog.app.write.undo import restorable, undo, undoable
from eventlog.cli.mcp.tools import ToolCalls
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, EntryApplied, Fact, PlanEntry, Rejected, Restored, Retraction, StageSummary
from eventlog.format.retractions import statements_of
from eventlog.log.event_log import EventLog
from eventlog.projections.bases import section_edits
from tests.support.bases import user_md, write_user
from tests.support.effort import rounds
from tests.support.golden import tree
from tests.support.sections import delete
from tests.support.use_cases import opened

BIRDS = ("heron", "otter", "stork", "crane", "finch")
TASKS = ("lynx", "walrus")
LOOKS = ("quartz", "basalt")
PLANTS = ("fern", "moss", "ivy")
ALL = (*BIRDS, *TASKS, *LOOKS, *PLANTS)
_some = st.integers(0, 9)


def worded(word, wording):
    """Say it, in one of the wordings that are one statement."""
    return (f"The {word} nests in box {ALL.index(word)}", f"the {word}  NESTS in box {ALL.index(word)}.")[wording % 2]


def words_in(text):
    """Name what a text speaks of."""
    return {word for word in ALL if word in text.casefold()}


class GoingBack(RuleBasedStateMachine):
    """One store, one project and one person; every deed begins and ends with nothing left to do."""

    @initialize()
    def begin(self):
        self.root = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("HOME", f"{self.root}/home")
        self.now = 1_771_588_800 * 10**9
        self.log = EventLog(self.root / "store", fsync=False, clock=self.tick)
        self.project = str(self.root / "shop")
        Path(self.project, ".git").mkdir(parents=True)
        self.forgotten: dict[str, set[str]] = {}  # by the decision: what is not to be told
        self.silenced: dict[str, str] = {}  # by the decision: the session, or the event, that is not to be heard
        self.before: list[dict[str, bytes]] = []  # the files before each deed, as far as nothing else happened

    def teardown(self):
        if hasattr(self, "patch"):
            self.nothing_rejected_is_told_to_anybody()
            self.patch.undo()
            shutil.rmtree(self.root)

    def tick(self):
        self.now += 10**9
        return self.now

    @property
    def opened(self):
        return opened(self.log)._replace(machine=Machine.here()._replace(clock=self.tick))

    # ------------------------------------------------------------------------------------------------- agents speak

    def said(self, event):
        self.before.clear()
        self.log.append(event)

    @rule(
        session=st.sampled_from("abc"),
        bird=st.sampled_from(BIRDS),
        wording=_some,
        key=st.sampled_from([None, None, "k"]),
    )
    def say(self, session, bird, wording, key):
        self.said(
            Fact(conversation_id=session, project=self.project, agent="codex", content=worded(bird, wording), key=key)
        )

    @rule(
        session=st.sampled_from("abc"),
        decided=st.sampled_from(BIRDS),
        todo=st.sampled_from(TASKS),
        look=st.sampled_from(LOOKS),
        wording=_some,
    )
    def sum_up(self, session, decided, todo, look, wording):
        told = StageSummary(
            conversation_id=session, project=self.project, agent="codex", summary=f"Looked at {look}",
            decisions=[worded(decided, wording)], todos=[worded(todo, wording)],
        )  # fmt: skip
        self.said(told)

    @rule(
        session=st.sampled_from("abc"),
        plants=st.lists(st.sampled_from(PLANTS), min_size=1, max_size=2),
        heading=st.sampled_from(["Tea", "Work"]),
        back=st.booleans(),
    )
    def an_entry_is_applied(self, session, plants, heading, back):
        self.settle()
        content = "\n".join(f"- {plant}" for plant in plants)
        before = self.files()["USER.md"]
        planned = plan(self.log, {"path": "user", "heading": heading, "content": content}, session=session)
        self.settle()
        self.before.clear()
        arrived = [event.target for event in self.log.read() if isinstance(event, EntryApplied)]
        if [one for one in planned if one.id in arrived]:
            self.done(self.files() | {"USER.md": before}, back=back)  # that its session was at work is no deed

    @rule(number=_some)
    def an_agent_withdraws(self, number):
        facts = [event for event in self.log.read() if isinstance(event, Fact) and event.agent != HUMAN]
        if facts:
            self.said(Retraction(conversation_id="a", agent="codex", target=facts[number % len(facts)].id))

    # ------------------------------------------------------------------------------------------------- a person acts

    @rule(text=st.sampled_from((*BIRDS, *TASKS)), wording=_some, back=st.booleans())
    def forget_a_text(self, text, wording, back):
        self.forget(lambda: forgettable(self.opened, worded(text, wording)), back=back)

    @rule(number=_some, back=st.booleans())
    def forget_by_id(self, number, back):
        said = [
            event
            for event in self.log.read()
            if isinstance(event, Fact | StageSummary | PlanEntry) and event.agent != HUMAN
        ]
        if said:
            self.forget(lambda: forgettable(self.opened, said[number % len(said)].id), back=back)

    @rule(file=_some, line=_some, back=st.booleans())
    def forget_a_line(self, file, line, back):
        self.settle()
        found = [path for path in (*self.memories(), user_md()) if path.exists()]
        if found:
            path = found[file % len(found)]
            bullets = [number for number, text in enumerate(path.read_text().split("\n"), 1) if text.startswith("- ")]
            if bullets:
                named = f"{path}:{bullets[line % len(bullets)]}"
                self.forget(lambda: forgettable(self.opened, named), back=back)

    @rule(session=st.sampled_from("abc"), back=st.booleans())
    def forget_a_session(self, session, back):
        self.forget(lambda: forgettable(self.opened, session=session), back=back)

    @rule(one=st.sampled_from(BIRDS), other=st.sampled_from(BIRDS), back=st.booleans())
    def forget_several(self, one, other, back):
        if one != other:
            self.forget(
                lambda: [chosen for bird in (one, other) for chosen in forgettable(self.opened, worded(bird, 0))],
                back=back,
            )

    @rule(part=st.sampled_from(["nests in box", "box 1", "heron"]), back=st.booleans())
    def forget_all_matching(self, part, back):
        self.forget(lambda: forgettable(self.opened, matching=part), back=back)

    @rule(bird=st.sampled_from(BIRDS), other=st.sampled_from(BIRDS), wording=_some, back=st.booleans())
    def say_in_other_words(self, bird, other, wording, back):
        """Edit a statement; in other words it may be one that a person had rejected."""
        self.correct(bird, lambda found: edit(self.opened, found, worded(other, wording)), back=back)

    @rule(bird=st.sampled_from(BIRDS), project=st.sampled_from([None, "shop", "barn"]), back=st.booleans())
    def move_a_statement(self, bird, project, back):
        place = project and str(self.root / project)
        self.correct(bird, lambda found: move(self.opened, found, place), back=back)

    @rule()
    @precondition(lambda self: self.before)
    def undo_once_more(self):
        self.undo_the_last()

    @rule(number=_some, back=st.booleans())
    def undo_by_id(self, number, back):
        self.settle()
        events = [event.id for event in self.log.read() if not isinstance(event, EntryApplied)]
        if events:
            try:
                found = undoable(self.opened, events[-1 - number % len(events)])
            except BadRequest:
                return
            before = self.files()
            undo(self.opened, found)
            if found.is_step:
                self.before = self.before[:-1]
            else:
                self.done(before, back=back)

    @rule(base=st.booleans(), number=st.integers(0, 30), back=st.booleans())
    def restore(self, base, number, back):
        self.settle()
        times = sorted({event.ts for event in self.log.read()})
        file = "user" if base else str(next(iter(self.memories()), "MEMORY.md"))
        try:
            found = restorable(self.opened, file, times[number % len(times)] if times else "2026")
        except BadRequest:
            return
        before, in_force = self.files(), self.in_force()
        undo(self.opened, found)
        assert in_force <= self.in_force()
        self.done(before, back=back)

    @rule(choice=st.sampled_from(["apply", "discard", "edited"]), back=st.booleans())
    def resolve(self, choice, back):
        self.settle()
        staged = waiting(self.opened)
        if staged:
            before = self.files()
            try:
                decide(self.opened, staged[0], choice, "- a hand\n- moss" if choice == "edited" else None)
            except BadRequest:
                return
            self.settle()
            self.done(before, back=back)

    @rule(file=_some, line=_some, bird=st.sampled_from([None, *BIRDS]), strike=st.booleans(), back=st.booleans())
    def edit_a_memory(self, file, line, bird, strike, back):
        """Strike a line, add one, or both: what a person writes again is rejected no more."""
        self.settle()
        found = self.memories()
        if found:
            path = found[file % len(found)]
            lines = path.read_text().split("\n")
            bullets = [number for number, text in enumerate(lines) if text.startswith("- ")]
            if not bullets:
                return
            before, at = self.files(), bullets[line % len(bullets)]
            lines[at : at + strike] = [f"- {worded(bird, 0)}"] if bird else []
            path.write_text("\n".join(lines))
            self.saved(before, back=back)

    @rule(
        heading=st.sampled_from(["Tea", "Work"]), how=st.sampled_from(["add", "replace", "remove"]), back=st.booleans()
    )
    def edit_a_base(self, heading, how, back):
        self.settle()
        if user_md().exists():
            before, data = self.files(), user_md().read_bytes()
            own = f"- my own {self.now % 7}"
            if how == "add":
                write_user(data.replace(f"## {heading}\n\n".encode(), f"## {heading}\n\n{own}\n".encode(), 1))
            elif how == "replace":
                write_user(section_edits.update(data, heading, 2, own))
            else:
                write_user(delete(data, heading, 2, subsections=False))
            self.saved(before, back=back)

    # ------------------------------------------------------------------------------------------------- what holds

    @invariant()
    def nothing_rejected_is_in_a_file(self):
        if not hasattr(self, "log"):
            return
        self.settle()
        hidden = self.hidden()
        for path, data in self.files().items():
            assert not words_in(data.decode()) & hidden, path

    @rule()
    def nothing_rejected_is_told_to_anybody(self):
        hidden = self.hidden()
        every = " ".join(worded(word, 0) for word in ALL)
        hits = search(self.opened, SearchQuery(every, everywhere=True, limit=50)).hits
        assert not words_in("\n".join(hit.text for hit in hits)) & hidden
        asked = recalling.RecallRequest(every, self.project, f"new {self.now}")
        assert not words_in(recalling.recall_text(recalling.recall(self.log.store, asked, 99), "en")) & hidden
        self.before.clear()  # whoever asks for a context first has a USER.md made
        request = request_of(self.opened, self.project, session="new", source="startup", agent="", budget=None)
        assert not words_in(session_context(self.opened, request).context.text) & hidden
        tools = ToolCalls(self.log.store, "claude-code")
        tools.root = Path(self.project).as_uri()
        assert not words_in(tools.call("recall", {"query": every, "limit": 20}, {})[0]) & hidden

    # ------------------------------------------------------------------------------------------------- helpers

    def settle(self):
        replay_store(self.opened)

    def files(self):
        """The knowledge files as they lie on disk, without their stamps, and USER.md."""
        on_disk = tree(self.log.store.knowledge)
        unstamped = {
            path: data.rpartition(b"\n<!--")[0] or data for path, data in on_disk.items() if ".edited" not in path
        }
        return unstamped | {"USER.md": user_md().read_bytes() if user_md().exists() else b""}

    def memories(self):
        return sorted(path for path in Path(self.log.store.knowledge).rglob("MEMORY.md"))

    def forget(self, meant, *, back):
        self.settle()
        before = self.files()
        try:
            chosen = meant()
            done = forget(self.opened, chosen)
        except BadRequest:  # nothing of it is there, or it is withdrawn already
            assert before == self.files()
            return
        for event, one in zip(done.events, chosen, strict=True):
            assert isinstance(event, Rejected)
            if silenced := event.conversation or event.target:
                self.silenced[event.id] = silenced
            else:
                self.forgotten[event.id] = words_in(one.text)
        self.done(before, back=back)

    def correct(self, bird, how, *, back):
        self.settle()
        before = self.files()
        try:
            how(correctable(self.opened, worded(bird, 0)))
        except BadRequest:
            return
        self.done(before, back=back)

    def saved(self, before, *, back):
        known = {event.id for event in self.log.read()}
        self.settle()
        new = [event for event in self.log.read() if event.id not in known]
        if new and not any(isinstance(event, EntryApplied) for event in new):  # an entry that had waited for it
            self.done(before, back=back)
        else:
            self.before.clear()

    def done(self, before, *, back):
        """Note a deed, and take it back."""
        self.before.append(before)
        if back:
            self.undo_the_last()

    def undo_the_last(self):
        before = self.before.pop()
        undo(self.opened, undoable(self.opened))
        now = self.files()
        different = [path for path in now | before if now.get(path) != before.get(path)]
        assert not different, [(path, now.get(path), before.get(path)) for path in different]
        again = replay_store(self.opened)
        assert (again.published.changes, again.applied.stored) == (0, 0)

    def in_force(self):
        """The rejections that nobody has taken back, by what was taken back by whom."""
        taking = [event for event in self.log.read() if isinstance(event, Restored)]
        back: set[str] = set()
        for event in reversed(taking):
            if event.id not in back:
                back.add(event.target)
        return {one for one in (*self.forgotten, *self.silenced) if one not in back}

    def hidden(self):
        """What a person does not want told, and what only sessions and events say that they do not want to hear."""
        in_force = self.in_force()
        silenced = {self.silenced[one] for one in in_force if one in self.silenced}
        heard: set[str] = set()
        unheard: set[str] = set()
        for event in self.log.read():
            content = (
                getattr(event, "content", None)
                if event.type in ("knowledge_edited", "entry_applied", "entry_resolved")
                else None
            )
            told = words_in(" ".join([*statements_of(event), content or ""]))
            if not silenced.isdisjoint({event.id, event.conversation_id}):
                unheard |= told
            else:
                heard |= told
        rejected = {word for one in in_force for word in self.forgotten.get(one, ())}
        return rejected | (unheard - heard)


@pytest.mark.slow
@pytest.mark.fuzz
def test_every_undo_is_exact_and_no_way_back_lifts_what_was_rejected():
    effort = settings(max_examples=rounds(fixed=2, fuzz=200), stateful_step_count=rounds(fixed=12, fuzz=50))
    run_state_machine_as_test(GoingBack, settings=effort)
