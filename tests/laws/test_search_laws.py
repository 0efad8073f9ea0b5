"""What the files say holds is what everybody else takes for it: search, recall, tools, forget, why --not, a repetition.

Of any history: repeated saves, stages, keys, spellings, withdrawals, late lines, other machines; with a replay or
before it, from an index that grew with the log.
"""

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog import Memory
from eventlog.app.ask.why_not import why_not
from eventlog.app.search import recall as recalling
from eventlog.app.write.current_statements import current_statements, matching
from eventlog.app.write.forget import forgettable
from eventlog.app.write.record_once import _find_repeated
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact
from eventlog.format.retractions import Retractions
from eventlog.format.text import key_of, statement_of
from eventlog.projections.current.fact_scopes import fact_scope
from eventlog.projections.search.findable import text_in
from eventlog.projections.search.words import tokens
from eventlog.store import project_slug
from tests.laws.test_recall_laws import WITHDRAWS, World, an_open_world
from tests.support.builders import replay
from tests.support.effort import rounds
from tests.support.histories import a_log
from tests.support.replaced import is_over
from tests.support.use_cases import DEFAULTS, opened

pytestmark = pytest.mark.slow

WORDINGS = [
    "Herons nest in column seven", "herons  nest in column seven.", "Ｈerons nest in COLUMN seven！", "her\u200bons nest in column seven",
    "苍鹭在第七列筑巢", "苍鹭 在第七列 筑巢。", "Otters sign releases", "otters sign releases?", "Storks", "阶段摘要：storks",
]  # fmt: skip
_said = st.sampled_from(WORDINGS)
_few = st.lists(_said, max_size=2)
_common: dict[str, st.SearchStrategy] = {
    "conversation_id": st.sampled_from(["a", "b"]),
    "project": st.sampled_from([None, "shop", "shop", "billing"]),
    "replica": st.sampled_from([None, None, None, "laptop"]),
    "subagent": st.sampled_from([None, None, None, "helper"]),
    "late": st.booleans(),
}
_fact: dict[str, st.SearchStrategy] = {
    "type": st.just("fact"), "content": _said, "key": st.sampled_from([None, "k", "K", "l"]), "memory_type": st.sampled_from("WB"),
    "scope": st.sampled_from([None, None, "user", "project"]),
}  # fmt: skip
_save: dict[str, st.SearchStrategy] = {
    "type": st.just("stage_summary"), "scope": st.sampled_from(["stage", "session"]), "topic": st.sampled_from(["", "Birds"]),
    "summary": _said, "decisions": _few, "todos": _few, "done": _few, "layer": st.sampled_from([None, 1, 3]),
}  # fmt: skip
_start: dict[str, st.SearchStrategy] = {"type": st.just("session_start")}
_SAYS = st.one_of([st.fixed_dictionaries({**_common, **kind}) for kind in (_fact, _save, _save, _start)])
_STEPS = st.lists(st.one_of(_SAYS, _SAYS, WITHDRAWS, st.sampled_from(["replay", "ask"])), min_size=1, max_size=9)
_PROJECTS = ("shop", "billing")


def _hits(world, query, project=None):
    """All a search finds in a project; in all of them where it is None, in none where it is ""."""
    scope = {"everywhere": True} if project is None else {"project": world.place(project) if project else ""}
    return Memory(world.log.store).search(query, limit=200, **scope)


def _stated(hit):
    """The statements of a hit: of a fact its text, of a save its decisions, below its topic and its summary."""
    texts = [hit.text] if hit.type == "fact" else hit.text.split(" · ")
    return {statement_of(text) for text in texts}


def _can_be_asked(text):
    return bool(tokens(text))


def bullets_of(world):
    """The bullets of each MEMORY.md, and the project in which a search finds them; None for one of another machine."""
    slugs = {project_slug(world.place(name)): name for name in _PROJECTS}
    for path in Path(world.log.store.knowledge).rglob("MEMORY.md"):
        home = slugs.get(path.parent.name) if path.parent.parent.name == "projects" else ""
        lines = path.read_text("utf-8").splitlines()
        yield home, [line.partition("] ")[2] for line in lines if line.startswith("- [")]


def _sessions(world):
    path = Path(world.log.store.knowledge) / "sessions.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _asked(world):
    """What every wording finds, in each project and in all: asked before the files are brought up to date."""
    asked = {(text, name): _hits(world, text, name) for text in WORDINGS for name in (*_PROJECTS, "", None)}
    return {about: [(hit, _stated(hit)) for hit in hits] for about, hits in asked.items()}


def check(world, asked):
    bullets = list(bullets_of(world))
    for home, texts in bullets:
        for text in filter(_can_be_asked, texts):
            found = asked.get((text, home)) or _stated_by(world, text, home)
            assert any(statement_of(text) in stated for _, stated in found), ("no hit", home, text)
    sessions = _sessions(world)
    withdrawn = Retractions(event for event in world.events if event.type in ("retraction", "rejected", "restored"))
    held = [
        event for event in world.events if isinstance(event, Fact) and not (event.subagent or withdrawn.hides(event))
    ]
    for one in sessions:
        about = [fact for fact in held if fact.subject == (one["project"] or "")]
        saves = [event for event in world.events if event.conversation_id == one["session_id"] and not event.subagent]
        for text in filter(_can_be_asked, (*one["decisions"], *one["todos"])):
            if text in one["decisions"] and all(is_over(text, save, about) for save in saves if _decides(save, text)):
                continue  # what it decided then
            found = asked.get((text, None)) or _stated_by(world, text, None)
            theirs = [hit for hit, _ in found if hit.conversation_id == one["session_id"]]
            is_stated = any(statement_of(text) in stated for _, stated in found)  # by it, or by another before it
            assert theirs if text in one["todos"] else is_stated, ("no hit", one["session_id"], text)
    known = {statement_of(text) for _, texts in bullets for text in texts}
    for found in asked.values():
        facts = [next(iter(stated)) for hit, stated in found if hit.type == "fact"]
        assert set(facts) <= known, ("holds no more", set(facts) - known)
    for name in _PROJECTS:
        for text in WORDINGS:
            facts = [(hit.project, next(iter(stated))) for hit, stated in asked[text, name] if hit.type == "fact"]
            assert len(facts) == len(set(facts)), ("told twice", facts)


def _decides(save, text):
    return statement_of(text) in map(statement_of, getattr(save, "decisions", ()))


def _stated_by(world, text, home):
    return [(hit, _stated(hit)) for hit in _hits(world, text, home)]


def _saved(decisions, **fields):
    common = {"conversation_id": "a", "project": None, "replica": None, "subagent": None, "late": False, "layer": None}
    saved = {"type": "stage_summary", "scope": "session", "topic": "Birds", "summary": "Storks", "decisions": decisions}
    return {**common, **saved, "todos": [], "done": [], **fields}


@example(
    [_saved(["Herons nest in column seven"], todos=["Otters sign releases"]), _saved([], summary="苍鹭在第七列筑巢")]
)
@example([_saved(["Herons nest in column seven"]), "ask", _saved([], summary="苍鹭在第七列筑巢")])
@example([_saved([], todos=["her\u200bons nest in column seven"])])
@settings(max_examples=rounds(fixed=3, fuzz=400))
@given(_STEPS)
def test_what_the_files_say_holds_is_what_a_search_finds(steps):
    with a_log() as log:
        world = World(log)
        world.take_all(steps, lambda: _hits(world, "herons"))
        asked = _asked(world)
        Memory(log.store).replay()
        if not any(event.replica for event in world.events):  # what other machines mean by a path, a replay tells
            check(world, asked)
        check(world, _asked(world))


# --------------------------------------------------------------------------------------- whoever else decides what holds


def check_forget(world, bullets):
    """Each bullet can be forgotten by its words."""
    for _, texts in bullets:
        for text in texts:
            assert statement_of(text) == statement_of(forgettable(opened(world.log), text)[0].text)


def check_recall(world, bullets):
    """A prompt that says what a bullet says is told it: as a fact or a decision, once, or by what a stage came to."""
    for home, texts in bullets:
        for text in (text for text in texts if home is not None and len(recalling.subject_of(text)) > 1):
            asked = recalling.RecallRequest(text, world.place(home) if home else "", "another")
            found = [hit.found for hit in recalling.recall(world.log.store, asked, 99)]
            stating = sum(statement_of(text) in one.statements for one in found)
            summed_up = any(statement_of(text) == statement_of(text_in(one._event, "summary")) for one in found)
            assert stating == 1 or (stating == 0 and summed_up), ("recall", home, text, found)


def check_tools(world, bullets):
    """A tool finds each bullet of its project, outside of any each of the user, and no fact that is none."""
    of_user = {statement_of(text) for home, texts in bullets if home == "" for text in texts}
    for name in (*_PROJECTS, None):
        there = {statement_of(text) for home, texts in bullets if home == (name or "") for text in texts}
        said = current_statements(world.log, DEFAULTS, world.place(name) if name else None)
        facts = {statement_of(one.text) for one in said if isinstance(one.newest, Fact)}
        assert facts <= there | of_user, ("holds no more", name, facts)
        for text in there:
            assert matching(said, text), ("no tool finds", name, text)


def check_repetitions(world):
    """A fact is a repetition just if its conversation said it and that stands in a memory."""
    library = replay(world.log, opened(world.log).settings).index
    facts = [fact for name in library.names("memory") for fact in fact_scope(library, name).facts]
    standing = {source for fact in facts for source in fact.sources}
    said = [event for event in world.events if isinstance(event, Fact) and not event.subagent and not event.replica]
    for event in said:
        again = _find_repeated(world.log, replace(event, id="-", ts="~"))
        alike = [one for one in said if _as_said(one) == _as_said(event)]
        assert (again is not None) == any(one.id in standing for one in alike), ("said before", event, again)


def _as_said(fact):
    about = fact.conversation_id, fact.project, fact.effective_scope, key_of(fact.key or ""), fact.memory_type
    return statement_of(fact.content), *about


def check_absences(world, bullets):
    """What is in a memory is not explained away, and what is in none is."""
    there = {statement_of(text) for _, texts in bullets for text in texts}
    for text in WORDINGS:
        try:
            absences = [one for one in why_not(opened(world.log), text) if not one.event.subagent]
        except BadRequest:
            continue
        for one in absences:
            is_there = one.cause in ("there", "repetition", "no room")
            assert is_there == (statement_of(one.text) in there), (one.cause, text)
            if one.cause == "replaced":
                assert isinstance(one.by, Fact), one
                assert statement_of(one.by.content) in there, one
            assert one.by is not None or one.cause not in ("withdrawn", "rejected")


@example([_saved(["Herons nest in column seven"]), _saved([], summary="苍鹭在第七列筑巢")])
@example(
    [
        _saved([], scope="stage", topic="", summary="Herons nest in column seven"),
        _saved(["Herons nest in column seven"], scope="stage", topic="", summary="苍鹭在第七列筑巢"),
    ]
)
@settings(max_examples=rounds(fixed=3, fuzz=400))
@given(_STEPS)
def test_whoever_decides_what_holds_decides_as_the_files_do(steps):
    with an_open_world() as world:
        world.take_all(steps)
        Memory(world.log.store).replay()
        bullets = list(bullets_of(world))
        check_forget(world, bullets)
        check_recall(world, bullets)
        if not any(event.replica for event in world.events):  # a path of this machine is no project of another one
            check_tools(world, bullets)
        check_repetitions(world)
        check_absences(world, bullets)
