"""What hooks could not do is noted, with everything that would be lost without."""

import threading

import pytest

from eventlog.log import EventLog
from tests.hooking import errors_of, events_of, run, tell
from tests.payloads import claude

QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def test_a_log_that_cannot_be_written_is_noted(store):
    store.mkdir()
    (store / "log").write_text("in the way")
    ended = run(store, QUIET)
    (error,) = errors_of(store)

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert "NotStored" in error["error"]
    assert "Bash" == error["event"]["payload"]["tool_name"]


def test_an_event_that_could_not_be_stored_can_be_appended_later(store):
    long = claude("UserPromptSubmit", prompt_id="p-1", prompt="word " * 300, notes=["x" * 1500] * 20)
    store.mkdir()
    (store / "log").write_text("in the way")
    tell(store, long)
    (store / "log").unlink()
    (error,) = errors_of(store)
    EventLog(store).append(error["event"])
    (kept,) = events_of(store)
    tell(store / "other", long)
    (expected,) = events_of(store / "other")

    assert expected.payload == kept.payload
    assert (expected.name, expected.project) == (kept.name, kept.project)


def test_what_failed_after_the_event_was_stored_lost_nothing(store, monkeypatch):
    monkeypatch.setattr("eventlog.agents.nets.answer", lambda *_, **__: 1 / 0)
    tell(store, QUIET)
    (error,) = errors_of(store)

    assert 1 == len(events_of(store))
    assert "ZeroDivisionError: division by zero" == error["error"]
    assert "" == error["payload"]


def test_the_error_log_does_not_grow_without_end(store):
    threads = [threading.Thread(target=tell, args=(store, b"x" * 5000)) for _ in range(4)]
    log = store / "cache" / "hook-errors.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"{}\n" * 400_000)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(store, b"last")

    assert log.stat().st_size < 1 << 20
    assert "last" == errors_of(store)[-1]["payload"]
