"""What is left to be done is the same list wherever it is told, of any saves, in any order of sessions and projects."""

import itertools
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.ask.brief import brief
from eventlog.app.ask.period import period
from eventlog.app.open_store import Machine
from eventlog.app.page.page_model import page_of
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.write.forget import forget, forgettable
from eventlog.cli.mcp.tools import ToolCalls
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.text import statement_of
from eventlog.projections.current.standing import same_todo
from tests.laws.test_recall_laws import MINUTE, NOON, World
from tests.support.effort import rounds
from tests.support.histories import a_log
from tests.support.use_cases import opened

TEXTS = [
    "Herons nest in column seven",
    "herons  nest in column seven.",
    "苍鹭在第七列筑巢",
    "苍鹭 在第七列筑巢。",
    "Otters sign",
    "The otters have signed.",
]
DAY = 24 * 60 * MINUTE
_few = st.lists(st.sampled_from(TEXTS), max_size=2)
_SAVES = st.fixed_dictionaries(
    {
        "type": st.just("stage_summary"), "conversation_id": st.sampled_from("abc"), "project": st.sampled_from([None, "shop", "shop", "billing"]),
        "scope": st.sampled_from(["stage", "session"]), "summary": st.sampled_from(["Did it", *TEXTS]), "todos": _few, "done": _few,
        "layer": st.sampled_from([None, 1, 3]), "late": st.booleans(),
    }
)  # fmt: skip
_STEPS = st.lists(st.one_of(_SAVES, _SAVES, st.sampled_from(["replay", *TEXTS])), min_size=1, max_size=7)


def _save(session, **fields):
    common = {"type": "stage_summary", "project": "shop", "scope": "session", "summary": "Did it", "layer": None}
    return {**common, "late": False, "conversation_id": session, "todos": [], "done": [], **fields}


def _machine():
    return Machine.here()._replace(clock=lambda: NOON + MINUTE * 60)


def _told_at_start(world, project, **session):
    there = opened(world.log)._replace(machine=_machine())
    text = session_context(there, request_of(there, project, budget=60_000, **session)).context.text
    lines = text.partition("\n# Open to-dos\n\n")[2].split("\n")
    section = list(itertools.takewhile(lambda line: line.startswith("- [ ] "), lines))
    assert [line for line in text.split("\n") if line.startswith("- [ ] ")] == section  # and in no note
    return [line.removeprefix("- [ ] ") for line in section]


def _answers(world, project):
    """Who tells what is open there."""
    there, root = opened(world.log)._replace(machine=_machine()), Path(world.log.store.root).parent
    since = timestamps.from_ns(NOON - DAY)
    yield "start", _told_at_start(world, project)
    yield "today", [item.text for item in period(there, since, project=project).open]
    everywhere = period(there, since).open
    yield "today everywhere", [item.text for item in everywhere if item.project == project]
    yield "brief", brief(there, InstallTarget(world.log.store, root, Path(project), {})).todos
    yield "page", [text.partition(": ")[2] for text in page_of(there, projects=[project]).todos]


@pytest.mark.slow
@example([_save("a", todos=["Otters sign"]), _save("b", done=["otters sign."])])
@example([_save("a", todos=["Otters sign"]), _save("a", todos=["None left"])])
@example([_save("a", todos=["Otters sign"]), _save("b", done=["Otters sign"]), _save("a", summary="Did it again")])
@example([_save("a", todos=["Otters sign"]), _save("b", project="billing", done=["Otters sign"])])
@example([_save("a", todos=["Otters sign"]), _save("b", done=["Otters sign"]), "Otters sign"])
@example(  # nothing of the save that calls it done is left to find
    [_save("a", todos=["Otters sign"]), _save("b", summary=TEXTS[0], done=["Otters sign"]), TEXTS[0]]
)
@example(  # nor of the save that replaced what was to be done
    [_save("a", todos=["Otters sign"]), _save("a", summary=TEXTS[0], todos=[TEXTS[0]]), TEXTS[0]]
)
@settings(max_examples=rounds(fixed=4, fuzz=400))
@given(_STEPS)
def test_what_is_open_is_the_same_list_in_every_answer(steps):
    with a_log() as log:
        world = World(log)
        for step in steps:
            if step == "replay":
                Memory(log.store).replay()
            elif isinstance(step, str):
                _forget(world, step)
            else:
                world.take(step)
        for name in ("shop", "billing"):
            answers = {who: {statement_of(text) for text in told} for who, told in _answers(world, world.place(name))}
            assert all(told == answers["start"] for told in answers.values()), (name, answers)


@pytest.mark.parametrize("source", ["startup", "resume", "compact"])
def test_who_comes_back_is_told_of_its_own_what_nobody_has_done(source):
    with a_log() as log:
        world = World(log)
        for step in (_save("a", todos=["Otters sign", "Herons nest"]), _save("b", todos=["Ask"], done=["Otters sign"])):
            world.take(step)
        project = world.place("shop")

        left = _told_at_start(world, project, session="a", source=source)

        assert (["Ask", "Herons nest"] if source == "startup" else ["Herons nest"]) == left


@pytest.mark.slow
@example([_save("a", todos=["Otters sign"]), _save("b", done=["otters sign."]), _save("a", summary="Did it again")])
@example([_save("a", todos=["Otters sign"]), _save("b", done=["Otters sign"]), _save("a", todos=["otters  sign."])])
@example([_save("a", todos=["Otters sign"]), _save("b", todos=["The otters have signed."])])
@settings(max_examples=rounds(fixed=4, fuzz=400))
@given(st.lists(_SAVES, min_size=1, max_size=7))
def test_the_summary_of_who_comes_back_leaves_open_what_the_list_of_to_dos_does(steps):
    with a_log() as log:
        world = World(log)
        for step in steps:
            world.take({**step, "project": "billing" if step["conversation_id"] == "c" else "shop"})
        there = opened(world.log)._replace(machine=_machine())
        for session in {step["conversation_id"] for step in steps}:
            project = world.place("billing" if session == "c" else "shop")
            request = request_of(there, project, budget=60_000, session=session, source="resume")
            own = "\n".join(line.text for line in session_context(there, request).parts.own).partition("\n## Open\n")[2]
            left = {same_todo(line[2:]) for line in own.splitlines()}
            listed = {*map(same_todo, _told_at_start(world, project, session=session, source="resume"))}
            others = (todo for step in steps if step["conversation_id"] != session for todo in step["todos"])

            assert left <= listed <= left | {*map(same_todo, others)}  # another may have named it again


@pytest.mark.parametrize("has_index", [True, False])
@pytest.mark.parametrize("done", ["otters  sign.", "Signed: the `otters`"])
def test_nobody_is_told_a_to_do_that_another_session_has_done(has_index, done):
    with a_log() as log:
        world = World(log)
        world.take(_save("a", todos=["Otters sign", "Herons nest"]))
        if has_index:
            Memory(log.store).replay()
        world.take(_save("b", summary="Ask", done=[done]))
        project, there = world.place("shop"), opened(log)._replace(machine=_machine())

        found = [hit.text for word in ("otters", "herons") for hit in Memory(log.store).search(word, project=project)]
        assert ["Did it", "[ ] Herons nest"] == found
        tools = ToolCalls(log.store, "claude-code")
        tools.root = Path(project).as_uri()
        assert "Otters" not in tools.call("recall", {"query": "otters herons"}, {})[0]
        assert "Otters" not in tools.call("why", {"ref": "Did it"}, {})[0]
        if not has_index:
            shutil.rmtree(log.store.cache)
        request = request_of(there, project, budget=60_000, session="a", source="resume")
        assert "Otters" not in session_context(there, request).context.text


def _forget(world, text):
    there = opened(world.log)
    try:
        forget(there, forgettable(there, text))
    except BadRequest:  # nobody has said so
        return


@pytest.mark.parametrize(
    ("todo", "done", "is_open"),
    [
        ("Write the man page of scan", "wrote man page for `scan`.", False),
        ("Add a test of ESTALE retries", "Test for ESTALE retries added", False),
        ("Mettre à jour la doc d'installation", "mettre à jour la doc d’installation", False),
        ("Write the man page of dedup", "Wrote the man page of scan", True),
        ("Update the formula to 1.4.1", "Updated the formula to 1.4.2", True),
        ("Enable the sync of drafts", "Disabled the sync of drafts", True),
        ("Turn the flag on for drafts", "Turned the flag off for drafts", True),
        ("Scale the workers up", "Scaled down the workers", True),
    ],
)
def test_a_to_do_is_done_in_words_that_differ_in_inflection_and_order_alone(todo, done, is_open):
    with a_log() as log:
        world = World(log)
        world.take(_save("a", todos=[todo]))
        world.take(_save("b", done=[done]))

        assert [todo] * is_open == _told_at_start(world, world.place("shop"))


def test_a_to_do_that_two_sessions_leave_in_other_words_is_told_once():
    with a_log() as log:
        world = World(log)
        world.take(_save("a", todos=["Write the man page of scan"]))
        world.take(_save("b", todos=["write man page for `scan`"]))

        assert ["write man page for `scan`"] == _told_at_start(world, world.place("shop"))


def test_what_a_person_has_forgotten_is_not_told_as_done():
    with a_log() as log:
        world = World(log)
        for step in (_save("a", todos=["Otters sign"]), _save("b", done=["Otters sign"])):
            world.take(step)
        since = timestamps.from_ns(NOON - DAY)
        assert "Otters sign" in [item.text for item in period(opened(log), since).done]

        _forget(world, "Otters sign")

        assert "Otters sign" not in [item.text for item in period(opened(log), since).done]
