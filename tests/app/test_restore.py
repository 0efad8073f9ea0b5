"""A memory or a knowledge base as it was, and back again."""

from pathlib import Path

import pytest

from eventlog.app.forget import forget, forgettable
from eventlog.app.rebuild import replay_store
from eventlog.app.restore import restorable
from eventlog.app.undo import undo, undoable
from eventlog.app.what_if import by_path, replay_at, text_of
from eventlog.errors import BadRequest
from eventlog.events import Fact, Retraction
from eventlog.log import EventLog
from tests.support.bases import planned, user_md, write_user
from tests.support.use_cases import opened


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


def said(log, content, **fields):
    return log.append(Fact(conversation_id="s1", content=content, **fields))


def files(log):
    memory = text_of(by_path(replay_at(opened(log)))["MEMORY.md"])
    assert memory == Path(log.store.knowledge, "MEMORY.md").read_text().split("\n")[:-3]
    return memory, user_md().read_text()


@pytest.mark.parametrize("file", ["MEMORY.md", "user"])
def test_a_file_is_as_it_was_and_undo_makes_it_what_it_is(log, file):
    first, other = said(log, "tests run with nose", key="runner"), said(log, "ports are odd")
    said(log, "to be forgotten")
    planned(log, "Tea", "Green")
    planned(log, "Milk", "None")
    replay_store(opened(log))
    before, then = files(log), list(log.read())[-1].ts
    said(log, "tests run with pytest", key="runner")
    log.append(Retraction(conversation_id="human", target=other.id))
    forget(opened(log), forgettable(opened(log), "to be forgotten"))
    planned(log, "Tea", "Oolong")
    replay_store(opened(log))
    write_user(user_md().read_text().replace("None", "Oats"))
    replay_store(opened(log))
    after = files(log)

    undo(opened(log), restorable(opened(log), file, then))

    which = ["MEMORY.md", "user"].index(file)
    assert files(log)[which] == before[which] != after[which]
    assert files(log)[1 - which] == after[1 - which]
    last = max(event.id for event in log.read() if event.type == "restored")
    undo(opened(log), undoable(opened(log), last))
    assert files(log) == after
    assert first.id


def test_what_is_as_it_was_and_files_that_only_tell_are_refused(log):
    said(log, "ports are odd")
    replay_store(opened(log))

    with pytest.raises(BadRequest, match="as it was then"):
        restorable(opened(log), "MEMORY.md", "~")
    with pytest.raises(BadRequest, match="only a MEMORY"):
        restorable(opened(log), "sessions.jsonl", "2026-01-01")
