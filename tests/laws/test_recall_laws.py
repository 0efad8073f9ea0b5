"""Whoever asks is told nothing that was withdrawn, replaced, is no text or another project's, in any order.

All ways to ask, of any history: facts, replacements under keys, revised summaries, retractions, rejections, restores,
quarantines, helpers, shared sessions, lines that come late; with a replay or without, before and after more is said.
"""

import itertools
import unicodedata
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.open_store import Machine
from eventlog.app.search import recall as recalling
from eventlog.app.search.recall import about_file
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.cli.mcp.tools import ToolCalls
from eventlog.fast import fastjson
from eventlog.format import SESSION_END, codec, ids, timestamps
from eventlog.format.events import ConversationText, Fact, StageSummary
from eventlog.format.retractions import Retractions
from eventlog.format.text import states_nothing
from eventlog.format.timestamps import order
from eventlog.projections.current.distinct_facts import distinct_facts
from eventlog.projections.current.fact_scopes import Statement
from eventlog.projections.search.ranking import Gate
from tests.support.histories import a_log
from tests.support.use_cases import opened

NOON = timestamps.to_ms("2026-02-21T12:00:00.000000Z") * 1_000_000
MINUTE = 60 * 10**9
WORDINGS = {  # what tells a statement apart, and ways to word it
    "heron": ("Herons nest in column seven", "herons  nest in column seven."),
    "otters": ("myOtters sign iReleases", "ＭＹＯＴＴＥＲＳ sign ireleases！"),
    "苍鹭": ("苍鹭在第七列筑巢", "苍鹭 在第七列筑巢。"),
    "port 8443": ("The API listens on port 8443", "阶段摘要：the api listens on PORT 8443"),
    "stork": ("Storks", "…storks"),
    "undefined": ("undefined", "[Undefined]"),  # of a summary no text
    "crane": ("Cranes lift the x-large/column_seven.py", "cranes lift the x-large/column_seven.py"),
}
_said = st.sampled_from([wording for wordings in WORDINGS.values() for wording in wordings])
_few = st.lists(_said, max_size=2)
_common: dict[str, st.SearchStrategy] = {
    "conversation_id": st.sampled_from(["a", "b"]),
    "project": st.sampled_from([None, "shop", "shop", "billing"]),
    "subagent": st.sampled_from([None, None, None, "helper"]),
    "late": st.booleans(),
}
_kinds: list[dict[str, st.SearchStrategy]] = [
    {"type": st.just("fact"), "content": _said, "key": st.sampled_from([None, "k", "K"]), "memory_type": st.sampled_from("WWBS"),
     "scope": st.sampled_from([None, None, "user", "project"])},
    {"type": st.just("stage_summary"), "scope": st.sampled_from(["stage", "session"]), "topic": st.just("") | _said, "summary": _said,
     "decisions": _few, "layer": st.sampled_from([None, 1, 3])},
    {"type": st.just("conversation_text"), "title": _said, "prompts": _few, "closing": st.just("") | _said},
    {"type": st.just("session_start"), "session_type": st.sampled_from(["main", "shared"])},
]  # fmt: skip
_SAYS = st.one_of([st.fixed_dictionaries({**_common, **kind}) for kind in (_kinds[0], *_kinds)])
_by = st.sampled_from(["retraction", "rejected", "restored"])
_aim = st.integers(0, 9).map(lambda number: {"target": number})
_whole = st.sampled_from("ab").map(lambda name: {"conversation": name})
_statement = _said.map(lambda text: {"statement": text})
WITHDRAWS = st.one_of(
    st.tuples(_by, _aim), st.tuples(st.sampled_from(["retraction", "rejected"]), _whole), st.tuples(st.just("rejected"), _statement)
).map(lambda told: {"type": told[0], "conversation_id": "by-hand", "late": False, **told[1]})  # fmt: skip
_STEPS = st.lists(st.one_of(_SAYS, _SAYS, WITHDRAWS, st.sampled_from(["replay", "ask"])), min_size=1, max_size=9)


class World:
    """A log, two projects, and what was appended so far."""

    def __init__(self, log):
        self.log, self.events, self.asked = log, [], 0
        self.root = Path(log.store.root).parent
        for name in ("shop", "billing"):
            (self.root / name / ".git").mkdir(parents=True)

    def place(self, name):
        return str(self.root / name)

    def take_all(self, steps, ask=lambda: None):
        """Take the steps in turn; some replay, some ask."""
        for step in steps:
            if step == "replay":
                Memory(self.log.store).replay()
            elif step == "ask":
                ask()
            else:
                self.take(step)

    def take(self, step):
        """Append a line as another program or machine would: to the end of its day, or of a day long over."""
        number, fields = len(self.events), {name: value for name, value in step.items() if value is not None}
        late = fields.pop("late")
        ts = timestamps.from_ns(NOON + (number - 30 if late else number) * MINUTE - 30 * MINUTE)
        if "project" in fields:
            fields["project"] = self.place(fields["project"])
        if "target" in fields:
            fields["target"] = self._id(fields["target"])
        line = {"v": 1, "id": self._id(number), "ts": ts, **fields}
        file = Path(self.log.store.log) / f"{ts[:10]}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as opened_file:
            opened_file.write(fastjson.dumps(line) + b"\n")
        self.events.append(codec.decode(fastjson.dumps(line)))

    @staticmethod
    def _id(number):
        return ids.derived(timestamps.to_ms("2026-02-21T11:00:00.000000Z"), str(number))

    def may_be_told(self, project, *, shared, own_sessions=False):
        """What holds there, by the events alone; with `own_sessions` also what they said of another project."""
        withdrawn = Retractions(event for event in self.events if event.type in ("retraction", "rejected", "restored"))
        valid = [event for event in self.events if not event.subagent and not withdrawn.hides(event)]
        facts = self._facts(valid, project, shared=shared, own_sessions=own_sessions)
        texts = [*facts, *self._summaries(valid, withdrawn, project, shared=shared)]
        return {name for text in texts if not withdrawn.rejects(text) for name in named(text)}

    def _facts(self, valid, project, *, shared, own_sessions):
        by_subject: dict[str, list[Fact]] = {}
        for fact in (event for event in valid if isinstance(event, Fact)):
            by_subject.setdefault(fact.subject, []).append(fact)
        for subject, facts in by_subject.items():
            for group in distinct_facts(map(Statement.of, facts)):
                at_home = own_sessions and any(self.home(one.conversation_id) == project for one in group.statements)
                if subject == project or (not shared and (subject == "" or at_home)):
                    yield group.first.text

    def _summaries(self, valid, withdrawn, project, *, shared):
        for event in valid:
            homes = {event.project, self.home(event.conversation_id)} - {None}  # its own, and its conversation's
            if isinstance(event, StageSummary | ConversationText) and (project in homes or not (homes or shared)):
                yield from self._texts(event, valid, withdrawn)

    def _texts(self, event, valid, withdrawn):
        """What it says, and where it was revised the decisions only: those of all revisions stand."""
        if isinstance(event, ConversationText):
            texts = (one for one in valid if isinstance(one, ConversationText))
            others = [one for one in texts if not all(map(withdrawn.rejects, filter(None, self._words(one))))]
            if not self._is_revised(event, others):
                yield from self._words(event)
            return
        yield from (text for text in event.decisions if not states_nothing(text))
        written = [one for one in valid if isinstance(one, StageSummary) and one.scope == "session"]
        worded = [one for one in written if not (withdrawn.rejects(one.summary) or states_nothing(one.summary))]
        revisions = [one for one in worded if one.layer != SESSION_END]
        if event.scope == "stage" or not self._is_revised(event, revisions):
            yield from (text for text in (event.topic, event.summary) if not states_nothing(text))

    @staticmethod
    def _words(text):
        return text.title, *text.prompts, text.closing

    @staticmethod
    def _is_revised(event, others):
        return any(one.conversation_id == event.conversation_id and order(one) > order(event) for one in others)

    def home(self, conversation):
        named_first = sorted(
            (one for one in self.events if one.conversation_id == conversation and not one.subagent), key=order
        )
        return next((one.project for one in named_first if one.project), None)

    # ------------------------------------------------------------------------------------------------------- asking

    def answers(self, project, *, shared):
        """Everything one may be told there, by who tells it."""
        self.asked += 1
        memory = Memory(self.log.store)
        every = " ".join(wording for wordings in WORDINGS.values() for wording in wordings)
        if not shared:
            yield "search", "\n".join(hit.text for hit in memory.search(every, project=project, limit=50))
        asked = recalling.RecallRequest(every, project, f"new {self.asked}", shared=shared)
        yield "recall", recalling.recall_text(recalling.recall(self.log.store, asked, 99), "en").partition("\n")[2]
        asked = recalling.RecallRequest("src/x-large/column_seven.py", project, f"new {self.asked}", shared=shared)
        yield "file", recalling.recall_text(about_file(self.log.store, asked, 99), "en").partition("\n")[2]
        there = opened(self.log)._replace(machine=Machine.here()._replace(clock=lambda: NOON))
        request = request_of(there, project, session_type="shared" if shared else "main")
        yield "context", session_context(there, request).context.text
        tools = ToolCalls(self.log.store, "claude-code", shared=shared)
        tools.root = Path(project).as_uri()
        yield "tool recall", tools.call("recall", {"query": every, "limit": 20}, {})[0]
        for word in ("e", "在"):
            yield "tool why", tools.call("why", {"ref": word}, {})[0]


def named(text):
    """The statements a text holds, whatever its wording."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return {name for name in WORDINGS if name in plain}


@contextmanager
def an_open_world():
    """A store of which every line that is found bears on what is asked."""
    with a_log() as log, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gate, "bears_on", lambda *_: True)
        patch.setattr(recalling, "_LOOKED_AT", 99)
        yield World(log)


def check(world):
    for name, shared in itertools.product(("shop", "billing"), (False, True)):
        project = world.place(name)
        for who, told in world.answers(project, shared=shared):
            may = world.may_be_told(project, shared=shared, own_sessions=who == "context")
            assert named(told) <= may, (who, name, shared, told)


_SAID_ONCE = {
    "type": "fact", "conversation_id": "a", "project": None, "subagent": None, "late": False, "key": None, "memory_type": "W",
    "scope": None,
}  # fmt: skip


def _takes_back(target):
    return {"type": "retraction", "conversation_id": "by-hand", "late": False, "target": target}


_DECIDED = {
    "type": "stage_summary", "conversation_id": "a", "project": None, "subagent": None, "late": False, "scope": "session",
    "topic": "", "summary": "Storks", "decisions": ["Herons nest in column seven"], "layer": None,
}  # fmt: skip


def _starts(project, *, late=False):
    common = {"conversation_id": "a", "subagent": None, "session_type": "main"}
    return {"type": "session_start", "project": project, "late": late, **common}


@pytest.mark.slow
@example([_DECIDED, "replay", _starts("shop")])  # the user's when it was filed, and the project's since
@example([_DECIDED, _starts("shop"), "replay", _starts("billing", late=True)])  # filed in a project it was not begun in
@example([_starts("billing"), {**_DECIDED, "project": "shop"}, "replay", _starts("shop", late=True)])
@example(
    [{**_DECIDED, "project": "shop", "topic": "undefined", "decisions": ["[Undefined]", "Storks"]}, "replay", "ask"]
)
@example([{**_DECIDED, "project": "shop", "summary": "undefined", "decisions": []}, "ask", "replay"])
@example([{**_DECIDED, "project": "shop"}, {**_DECIDED, "summary": "Cranes lift the x-large/column_seven.py"}])
@example(
    [{**_DECIDED, "project": "shop"}, {**_DECIDED, "project": "billing", "summary": "Cranes lift", "decisions": []}]
)
@example(
    [_starts("shop"), {**_DECIDED, "project": "billing", "summary": "Cranes lift"}, {**_DECIDED, "project": "shop"}]
)
@example(  # withdrawn, restored, read by a replay, and withdrawn again by taking back what restored it
    [{**_SAID_ONCE, "content": "Herons nest in column seven"}, _takes_back(0), _takes_back(1), "replay", _takes_back(2)]
)
@given(_STEPS)
def test_nothing_is_told_that_was_withdrawn_replaced_or_is_of_another_project(steps):
    with an_open_world() as world:
        world.take_all(steps, lambda: check(world))
        check(world)
