"""Why something is not in a memory: each cause by itself."""

import pytest

from eventlog.app.forget import forget, forgettable
from eventlog.app.why_not import why_not
from eventlog.errors import BadRequest
from eventlog.events import Fact, Retraction, StageSummary
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
    said(log, "a helper said it", subagent="h")
    log.append(StageSummary(conversation_id="s1", summary="only summed up", ts=at(2)))
    planned(log, "Tea", "only planned")

    assert cause(log, "it is there") == ("there", there.id)
    assert cause(log, "IT IS THERE.") == ("repetition", there.id)
    assert cause(log, "nose") == ("replaced", new.id)
    assert cause(log, "withdrawn one") == ("withdrawn", retraction.id)
    assert cause(log, "of a bad session") == ("withdrawn", quarantine.id)
    assert cause(log, "a helper said it") == ("helper", None)
    assert cause(log, "only summed up") == ("summary", None)
    assert cause(log, "only planned") == ("planned", None)
    assert old.id != whole.id
    with pytest.raises(BadRequest, match="nobody has ever said"):
        why_not(opened(log), "nobody said this")


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
    assert "a person does not want it said: human" in shown.out
    assert "eventlog undo" in shown.out
    assert '"cause":"rejected"' in call("why", "--not", "wrong", "--json", "--store", log.store.root).out
    assert call("why", "--not", "wrong", "MEMORY.md", "--store", log.store.root).code == 2
