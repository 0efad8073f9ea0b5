"""A wording that a key had, and has no more, or that was corrected, is told by nobody, neither as a fact nor by a session.

Unless somebody says it once more, later. In any order, in any spelling, with a replay or before it, without the cache.
"""

import shutil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.ask.why_not import why_not
from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine
from eventlog.app.search import recall as recalling
from eventlog.app.serve import current_lines
from eventlog.app.serve.session_context import request_of, session_context
from eventlog.app.write.correct import correctable, edit, move, put_in_place
from eventlog.app.write.current_statements import current_statements
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.record_once import record_once
from eventlog.app.write.undo import undo, undoable
from eventlog.cli.mcp.tools import ToolCalls
from eventlog.format.events import Fact, StageSummary
from eventlog.format.retractions import Retractions
from eventlog.format.text import key_of
from eventlog.format.timestamps import order
from eventlog.projections.current.standing import likeness
from tests.laws.test_recall_laws import MINUTE, NOON, World, an_open_world
from tests.laws.test_search_laws import bullets_of
from tests.support.effort import rounds
from tests.support.fences import without_nonces
from tests.support.histories import a_log
from tests.support.replaced import is_corrected, is_over
from tests.support.use_cases import DEFAULTS, opened

pytestmark = pytest.mark.slow

PORTS = {
    "9443": ("The port is 9443", "the port is  9443.", "ＴＨＥ port is 9443！"),
    "9999": ("The port is 9999", "The Port is 9999"),
    "8080": ("The port is 8080",),
}
HOMES = {"a": "shop", "b": "shop", "e": "shop", "c": "billing", "d": None}  # where each conversation works
_said = st.sampled_from([wording for wordings in PORTS.values() for wording in wordings])
_common: dict[str, st.SearchStrategy] = {"conversation_id": st.sampled_from("aaabcd"), "late": st.booleans()}
_fact: dict[str, st.SearchStrategy] = {
    "type": st.just("fact"), "content": _said, "key": st.sampled_from(["port", "Port", "other", None]), "scope": st.sampled_from([None, None, "user"]),
    "instead_of": st.sampled_from([None, None, *([likeness(port[0]).hex()] for port in PORTS.values())]),
}  # fmt: skip
_save: dict[str, st.SearchStrategy] = {
    "type": st.just("stage_summary"), "scope": st.sampled_from(["stage", "session"]),
    "topic": st.just("") | _said, "summary": st.sampled_from(["Gateway", "Proxy"]) | _said | _said.map("Set up the gateway. {} → Proxy。".format), "decisions": st.lists(_said, max_size=2),
}  # fmt: skip
_SAYS = st.one_of([st.fixed_dictionaries({**_common, **kind}) for kind in (_fact, _fact, _save)])
_WITHDRAWS = st.fixed_dictionaries(
    {"type": st.sampled_from(["retraction", "restored"]), "target": st.integers(0, 7), "conversation_id": st.just("by-hand"), "late": st.just(False)}
)  # fmt: skip
_STEPS = st.lists(
    st.one_of(_SAYS, _SAYS, _SAYS, _WITHDRAWS, st.sampled_from(["replay", "ask"])), min_size=2, max_size=9
)


def _fact_of(content, key=None, conversation="a", **fields):
    return {"type": "fact", "content": content, "key": key, "conversation_id": conversation, "late": False, **fields}


def _save_of(*decisions, conversation="a", **fields):
    saved = {"type": "stage_summary", "scope": "session", "summary": "Gateway", "decisions": list(decisions)}
    return {**saved, "conversation_id": conversation, "late": False, **fields}


DECIDED = [
    _save_of("The port is 9443"), _fact_of("the port is  9443.", "port", "b"), _fact_of("The port is 9999", "port", "b")
]  # fmt: skip


CORRECTED = _fact_of("The port is 9999", instead_of=[likeness("The port is 9443").hex()])


def take(world, steps):
    world.take_all(map(_at_home, steps), lambda: told(world, "shop"))


def _at_home(step):
    home = HOMES.get(step["conversation_id"]) if isinstance(step, dict) else None
    return {**step, "project": home} if home else step


def holding(world, project, *, decisions=True, sessions=False):
    """The ports that hold about a project, "" for the user, by brute force; with what `sessions` came to."""
    withdrawn = Retractions(event for event in world.events if event.type in ("retraction", "restored"))
    valid = [event for event in world.events if not withdrawn.hides(event)]
    facts = [event for event in valid if isinstance(event, Fact) and event.subject == project]
    keys = {key_of(fact.key): fact for fact in sorted(facts, key=lambda fact: (fact.ts, fact.id)) if fact.key}
    texts = [fact.content for fact in keys.values() if not is_corrected(fact.content, fact, facts)]
    texts += [fact.content for fact in facts if not fact.key and not is_over(fact.content, fact, facts)]
    saves = [
        event for event in valid if isinstance(event, StageSummary) and (event.project or "") == project and decisions
    ]
    stated = [(text, save) for save in saves for text in save.decisions]
    parts = [(text, save) for save in saves for text in (save.topic, *save.summary.replace(" → ", ". ").split(". "))]
    stated += parts if sessions else []
    texts += [text for text, save in stated if not is_over(text, save, facts)]
    return ports(" ".join(texts))


def ports(text):
    return {port for port in PORTS if port in without_nonces(text)}


def told(world, name):
    """What is told of ports in a project, by who tells it."""
    world.asked += 1
    project, store = world.place(name), world.log.store
    yield (
        "search",
        "\n".join(hit.text for hit in Memory(store).search("port gateway 9443 9999 8080", project=project, limit=99)),
    )
    asked = recalling.RecallRequest("port gateway proxy 9443 9999 8080", project, f"new {world.asked}")
    yield "recall", recalling.recall_text(recalling.recall(store, asked, 99), "en").partition("\n")[2]
    there = opened(world.log)._replace(machine=Machine.here()._replace(clock=lambda: NOON))
    yield "start", session_context(there, request_of(there, project, session_type="main")).context.text
    said = current_statements(world.log, DEFAULTS, project)
    yield "tools", "\n".join(one.text for one in said)


def check(world):
    certain = holding(world, "", decisions=False)  # of none are decisions of no project
    for name in ("shop", "billing"):
        hold = holding(world, world.place(name))
        may = holding(world, world.place(name), sessions=True) | holding(world, "", sessions=True)
        for who, text in told(world, name):
            assert ports(text) <= may, (who, name, text)
            assert who == "recall" or hold | certain <= ports(text), (who, name, text)


def check_files(world):
    Memory(world.log.store).replay()
    shown = {home: ports(" ".join(texts)) for home, texts in bullets_of(world)}
    for name in ("shop", "billing", ""):
        assert shown.get(name, set()) == holding(world, world.place(name) if name else ""), name


def check_absences(world):
    for port, wordings in PORTS.items():
        if port not in {
            each for name in ("shop", "billing", "") for each in holding(world, world.place(name) if name else "")
        }:
            absences = why_not(opened(world.log), wordings[0]) if port in ports(str(world.events)) else []
            for one in absences:
                assert one.cause in ("replaced", "withdrawn", "summary"), (port, one.cause)  # these are in no memory
                assert isinstance(one.by, Fact) or one.cause != "replaced", (port, one)


@example(DECIDED)
@example([*DECIDED[:2], "replay", DECIDED[2], "ask"])
@example([*DECIDED[1:], "ask", {**DECIDED[0], "late": True}])
@example([*DECIDED, "ask", {**DECIDED[0], "conversation_id": "b"}])
@example([_fact_of("The port is 9443"), *DECIDED[1:], "ask", _fact_of("The port is 9443", conversation="b")])
@example([_save_of(summary="The port is 9443", topic="the port is  9443."), "replay", *DECIDED[1:], "ask"])
@example([CORRECTED, "replay", "ask", {**_fact_of("the port is  9443.", conversation="b"), "late": True}])
@example([_save_of("The port is 9443"), CORRECTED, "ask", {**_fact_of("The port is 9443", "other"), "late": True}])
@example([CORRECTED, "ask", _fact_of("The port is 9443", conversation="b")])
@example([*DECIDED, {"type": "retraction", "target": 2, "conversation_id": "by-hand", "late": False}])
@settings(max_examples=rounds(fixed=5, fuzz=400))
@given(_STEPS)
def test_a_wording_that_its_key_has_no_more_is_told_by_nobody_unless_it_is_said_later(steps):
    with an_open_world() as world:
        log = world.log
        take(world, steps)
        check(world)
        check_files(world)
        check(world)
        check_absences(world)
        shutil.rmtree(log.store.cache, ignore_errors=True)
        there = opened(log)._replace(machine=Machine.here()._replace(clock=lambda: NOON))
        for name in ("shop", "billing"):
            text = session_context(there, request_of(there, world.place(name), session_type="main")).context.text
            may = holding(world, world.place(name), sessions=True) | holding(world, "", sessions=True)
            assert holding(world, world.place(name)) | holding(world, "", decisions=False) <= ports(text) <= may


# --------------------------------------------------------------------------------------------------- what is undone in prose

UNDONE = {
    "We use Redis for sessions": "Sessions now live in Postgres, Redis is gone",
    "订单服务使用 RabbitMQ 发送消息": "订单服务改用 Kafka 发送消息",
    "Messwerte speichern wir in InfluxDB": "Messwerte liegen in TimescaleDB statt in InfluxDB",
    "Deploys go out on Fridays": "Deploys go out on Tuesdays",
}
_came_to = {
    "type": st.just("stage_summary"),
    "scope": st.just("session"),
    "topic": st.sampled_from(["", "Session store"]),
}
_SAID = st.one_of(
    st.fixed_dictionaries({**_common, **_came_to, "summary": st.sampled_from([*UNDONE, *(f"{old}. Tests pass." for old in UNDONE)])}),
    st.fixed_dictionaries({**_common, **_came_to, "summary": st.just("Carts are blue"), "decisions": st.sampled_from([[new] for new in UNDONE.values()])}),
    st.fixed_dictionaries({**_common, "type": st.just("fact"), "content": st.sampled_from([*UNDONE.values()])}),
)  # fmt: skip


def check_undone(world):
    for old, new in UNDONE.items():
        said = {
            text: max((order(one) for one in world.events if text in str(one)), default=("", "")) for text in (old, new)
        }
        if ("", "") < said[old] < said[new]:
            project, there = world.place("shop"), opened(world.log)._replace(machine=_NOW)
            asked = recalling.RecallRequest(old, project, "another")
            text = recalling.recall_text(recalling.recall(world.log.store, asked, 99), "en")
            start = session_context(there, request_of(there, project, session_type="main")).context.text
            for told_text in (text, start):
                assert old not in told_text or new in told_text, (old, told_text)


_NOW = Machine.here()._replace(clock=lambda: NOON)


@example(
    [{**_save_of(conversation="a"), "summary": old} for old in UNDONE]
    + [_save_of(new, conversation="b") for new in UNDONE.values()]
    + [_save_of("Use RS256", conversation="e")]
)
@settings(max_examples=rounds(fixed=5, fuzz=200))
@given(st.lists(st.one_of(_SAID, _SAID, st.just("replay")), min_size=2, max_size=8))
def test_what_a_session_came_to_is_told_with_what_was_decided_against_it_since(steps):
    with an_open_world() as world:
        world.take_all({**step, "project": "shop"} if step != "replay" else step for step in steps)
        check_undone(world)
        Memory(world.log.store).replay()
        check_undone(world)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("old", UNDONE)
def test_where_no_memory_is_told_a_session_is_told_behind_what_was_decided_against_it(old, shared):
    with a_log() as log:
        world = World(log)
        came_to = [_save_of(), _save_of(UNDONE[old], conversation="b"), _save_of("Use RS256", conversation="e")]
        take(world, [{**came_to[0], "summary": old}, *came_to[1:], *(["replay"] if shared else [])])
        ten_days_later = Machine.here()._replace(clock=lambda: NOON + 10 * 1440 * MINUTE)
        there, kind = opened(log)._replace(machine=ten_days_later), "shared" if shared else "main"
        text = session_context(there, request_of(there, world.place("shop"), session_type=kind)).context.text

        assert f"{UNDONE[old]} ← {old}" in text


# --------------------------------------------------------------------------------------------------------------- deeds


def _forgotten(world):
    [item] = forgettable(opened(world.log), "The port is 9999")
    forget(opened(world.log), [item])


def _edited(world):
    edit(opened(world.log), correctable(opened(world.log), "The port is 9999"), "Ports are chosen by the host")


def _moved(world):
    move(opened(world.log), correctable(opened(world.log), "The port is 9999"), world.place("billing"))


def _removed_by_hand(world):
    _take_out(world, "9999")


def _take_out(world, words):
    [path] = Path(world.log.store.knowledge).glob("projects/shop-*/MEMORY.md")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if words not in line), "utf-8")
    replay_store(opened(world.log))


def _retracted_by_a_tool(world):
    tools = ToolCalls(world.log.store, "claude-code")
    tools.root = Path(world.place("shop")).as_uri()
    assert not tools.call("forget", {"ref": "The port is 9999"}, {})[1]
    replay_store(opened(world.log))


def _said_in_shop(world):
    return next((texts for home, texts in bullets_of(world) if home == "shop"), [])


@pytest.mark.parametrize("deed", [_forgotten, _edited, _moved, _removed_by_hand, _retracted_by_a_tool])
def test_taking_the_successor_away_brings_no_decision_back_and_undo_gives_all_back(deed):
    with a_log() as log:
        world = World(log)
        two = _save_of("The port is 9443", "Round half even")
        take(world, [two, _fact_of("The port is 9443", conversation="b"), *DECIDED[1:], "replay"])
        assert ["Round half even", "The port is 9999"] == _said_in_shop(world)

        deed(world)
        for text in (" ".join(_said_in_shop(world)), *(text for _, text in told(world, "shop"))):
            assert "9443" not in text
        assert "Round half even" in _said_in_shop(world)

        if deed is not _retracted_by_a_tool:
            undo(opened(log), undoable(opened(log)))
            assert ["Round half even", "The port is 9999"] == sorted(_said_in_shop(world))
            assert "9443" not in " ".join(text for _, text in told(world, "shop"))


def test_saying_a_summary_again_without_a_decision_says_none_again_that_was_replaced():
    with a_log() as log:
        world = World(log)
        take(world, [_save_of("The port is 9443", "Round half even", "Use RS256"), *DECIDED[1:], "replay"])

        _take_out(world, "RS256")

        assert {"Round half even", "The port is 9999"} == set(_said_in_shop(world))


def test_a_wording_that_another_key_still_has_is_told_where_it_was_decided():
    with a_log() as log:
        world = World(log)
        take(world, [*DECIDED, _fact_of("The port is 9443", "other")])

        [summary] = [hit.text for hit in Memory(log.store).search("gateway", project=world.place("shop"))]

        assert "Gateway · The port is 9443" == summary


@pytest.mark.parametrize("source", ["startup", "resume"])
def test_a_large_log_without_a_cache_tells_no_decision_from_files_that_a_key_has_replaced(source, monkeypatch):
    monkeypatch.setattr(current_lines, "_SMALL_LOG", 0)
    with a_log() as log:
        world = World(log)
        take(world, [_save_of("The port is 9443", "Round half even"), *DECIDED[1:], "replay"])
        shutil.rmtree(log.store.cache)
        ten_days_later = Machine.here()._replace(clock=lambda: NOON + 10 * 1440 * MINUTE)
        there = opened(log)._replace(machine=ten_days_later)
        text = session_context(there, request_of(there, world.place("shop"), session="a", source=source)).context.text

        assert {"9999"} == ports(text)
        assert "Round half even" in text


def test_what_a_key_has_no_more_is_said_again_by_a_conversation_that_had_said_it():
    with a_log() as log:
        world = World(log)
        take(world, [_fact_of("The port is 9443"), *DECIDED[1:]])
        again = Fact(conversation_id="a", project=world.place("shop"), content="The port is 9443")

        stored = record_once(log, again)

        assert stored.new
        replay_store(opened(log))
        assert {"The port is 9443", "The port is 9999"} == set(_said_in_shop(world))


# ---------------------------------------------------------------------------------------------------------- corrections


def _replaced_by_command(world):
    found = correctable(opened(world.log), "The port is 9443")
    speaker = {"conversation_id": "b", "agent": "codex", "speaker": None, "layer": None}
    put_in_place(opened(world.log), found, {"content": "The port is 9999"}, speaker)


def _reworded_by_hand(world):
    [path] = Path(world.log.store.knowledge).glob("projects/shop-*/MEMORY.md")
    path.write_text(path.read_text("utf-8").replace("9443", "9999"), "utf-8")
    replay_store(opened(world.log))


def _reworded_twice(world):
    edit(opened(world.log), correctable(opened(world.log), "The port is 9443"), "The port is 8080")
    edit(opened(world.log), correctable(opened(world.log), "The port is 8080"), "The port is 9999")


@pytest.mark.parametrize("deed", [_replaced_by_command, _reworded_by_hand, _reworded_twice])
@pytest.mark.parametrize(
    "before", [_fact_of("The port is 9443"), _save_of("The port is 9443", summary="The port is 9443")]
)
def test_what_was_corrected_is_told_by_nobody_also_where_it_arrives_later(before, deed):
    with a_log() as log:
        world = World(log)
        take(world, [before, "replay"])
        deed(world)
        late = {**_fact_of("the port is  9443.", conversation="b"), "late": True}
        take(world, ["ask", late, {**_save_of("The port is 9443", conversation="c"), "project": "shop", "late": True}])

        for _ in range(2):
            assert {"9999"} == {port for _, text in told(world, "shop") for port in ports(text)}
            replay_store(opened(log))
        assert ["The port is 9999"] == _said_in_shop(world)
