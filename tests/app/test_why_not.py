"""Why something is not in a memory: each cause by itself."""

from pathlib import Path

import pytest

from eventlog import Memory
from eventlog.app.ask.why_not import why_not
from eventlog.app.naming.references import ShortIds
from eventlog.app.write.forget import forget, forgettable
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact, Retraction, StageSummary
from eventlog.settings.schema import MemorySettings, Settings
from tests.support.bases import planned
from tests.support.builders import at
from tests.support.command_line import call
from tests.support.use_cases import opened

SMALL = Settings(memory=MemorySettings(max_lines=10))


def said(log, content, number=0, **fields):
    return log.append(Fact(**{"conversation_id": "s1", "content": content, "ts": at(number), **fields}))


def cause(log, text, settings=SMALL):
    [found] = why_not(opened(log, settings), text)
    return found.cause, found.by.id if found.by else None


def test_each_cause_is_told_with_the_event_that_decided(log):
    there = said(log, "it is there", importance=5)
    old = said(log, "tests run with nose", key="runner")
    new = said(log, "tests run with pytest", 1, key="runner", importance=5)
    gone = said(log, "withdrawn one")
    retraction = log.append(Retraction(conversation_id="human", target=gone.id, ts=at(9)))
    whole = said(log, "of a bad session", conversation_id="bad")
    quarantine = log.append(Retraction(conversation_id="human", conversation="bad", ts=at(9)))
    said(log, "a helper recorded it", subagent="h")
    log.append(StageSummary(conversation_id="s1", summary="only summed up", ts=at(2)))
    planned(log, "Tea", "only planned")

    assert cause(log, "it is there") == ("there", there.id)
    assert cause(log, "IT IS THERE.") == ("repetition", there.id)
    assert cause(log, "nose") == ("replaced", new.id)
    assert cause(log, "withdrawn one") == ("withdrawn", retraction.id)
    assert cause(log, "of a bad session") == ("withdrawn", quarantine.id)
    assert cause(log, "a helper recorded it") == ("helper", None)
    assert cause(log, "only summed up") == ("summary", None)
    assert cause(log, "only planned") == ("planned", None)
    assert old.id != whole.id
    with pytest.raises(BadRequest, match="no fact or summary matches"):
        why_not(opened(log), "nobody said this")


def test_what_replaced_a_fact_is_named_also_where_a_decision_says_it_again(log):
    said(log, "the port is 8443", key="port")
    new = said(log, "the port is 9443", 1, key="port")
    log.append(StageSummary(conversation_id="s1", summary="moved", decisions=["the port is 9443"], ts=at(2)))

    assert ("replaced", new.id) == cause(log, "8443")


def test_the_verb_names_who_withdrew_it_what_replaced_it_and_what_it_repeats(log):
    Path(log.store.root).mkdir()
    Path(log.store.root, "config.yaml").write_text("memory: {max_lines: 10}\n")
    said(log, "tests run with nose", key="runner")
    new = said(log, "tests run with pytest", 1, key="runner", importance=5, agent="codex")
    said(log, "of some importance", 2)
    said(log, "of no importance", 3, importance=1)
    gone = said(log, "ports are odd")
    log.append(Retraction(conversation_id="s1", agent="cursor", target=gone.id, ts=at(9)))
    said(log, "helped by", subagent="h")
    short = ShortIds(log.store).of

    def told(text, *more):
        return call("why", "--not", text, *more, "--store", log.store.root).out

    assert f"it was retracted: cursor, 2026-02-20 12:00:09.000000Z [{short(retraction_of(log))}]" in told("ports")
    assert f"the same key replaced it: codex, 2026-02-20 12:00:01.000000Z [{short(new.id)}]" in told("nose")
    assert "with the words and date of its first event: codex" in told("Tests  run with PYTEST")
    assert "MEMORY.md has no room for it: rank 3 of 3" in told("of no importance")
    assert "a helper recorded it" in told("helped by")


def retraction_of(log):
    return next(event.id for event in log.read() if isinstance(event, Retraction))


SESSIONS = {
    "told": ("pytest", {}, "the session received it: claude-code"),
    "shared": ("pytest", {"session_type": "shared"}, "the session is shared"),
    "later": ("said later", {}, "it was recorded after the session last received"),
    "elsewhere": ("billing", {}, "it is about another project"),
    "withdrawn": ("ports are odd", {}, "it was retracted: cursor"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "start", "sentence"), SESSIONS.values(), ids=SESSIONS)
def test_why_a_session_was_not_told(tmp_path, text, start, sentence):
    memory = Memory(tmp_path / "store")
    said(memory.log, "tests run with pytest", memory_type="O")
    said(memory.log, "about billing", project="/p/billing")
    gone = said(memory.log, "ports are odd")
    memory.log.append(Retraction(conversation_id="s1", agent="cursor", target=gone.id))
    memory.replay()
    memory.context(project="/p/shop", session="new", agent="claude-code", **start)
    memory.log.append(Fact(conversation_id="s1", content="this was said later"))

    ran = call("why", "--not", text, "--session", "new", "--store", tmp_path / "store")

    assert ran.code == 0
    assert sentence in ran.out


def test_why_a_session_without_a_start_was_not_told(log):
    said(log, "tests run with pytest")

    assert "received nothing" in call("why", "--not", "pytest", "--session", "s1", "--store", log.store.root).out


def test_what_there_is_no_room_for_has_its_rank(log):
    for number in range(6):
        said(log, f"fact {number}", number, importance=5 - min(number, 4))

    [found] = why_not(opened(log, SMALL), "fact 5")

    assert (found.cause, found.place, found.rank, found.ranked) == ("no room", "MEMORY.md", 5, 6)


def test_what_a_person_rejected_says_by_what_and_how_to_take_that_back(log):
    said(log, "wrong thing")
    done = forget(opened(log), forgettable(opened(log), "wrong thing"))

    assert cause(log, "WRONG thing.") == ("rejected", done.events[0].id)
    shown = call("why", "--not", "wrong", "--store", log.store.root)
    assert "a person asked to forget it: human" in shown.out
    assert "eventlog undo" in shown.out
    assert '"cause":"rejected"' in call("why", "--not", "wrong", "--json", "--store", log.store.root).out
    assert call("why", "--not", "wrong", "MEMORY.md", "--store", log.store.root).code == 2
