"""What ended sessions leave is done by a process of its own: outside the host's group and pipes, one at a time, once."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from eventlog import Memory
from eventlog.app.build import workers
from eventlog.format.codec import to_fields
from eventlog.format.events import StageSummary
from eventlog.hooks import background
from eventlog.hosts.transcripts import read
from eventlog.log.event_log import EventLog
from eventlog.projections.engine import jobs
from eventlog.settings.schema import Settings
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.hook_calls import HOOK, run
from tests.support.host_calls import alone, events, tell
from tests.support.payloads import claude, cursor, data
from tests.support.tree import IMPORT_PATH, ROOT
from tests.support.use_cases import any_left, finalize

pytestmark = pytest.mark.slow

TRANSCRIPT = str(ROOT / "fixtures" / "transcripts" / "claude" / "5f0c.jsonl")
HOUR = 3600


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def _end(**fields):
    return {**claude("SessionEnd", reason="other"), "transcript_path": TRANSCRIPT, **fields}


def _notes(store):
    return sorted(path.name for path in (Path(store) / "cache" / "open").glob("*.json"))


def _wait_for(what, seconds=120.0):
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()


def _settled(store):
    return "5f0c.json" not in _notes(store) and (Path(store) / "knowledge" / "sessions.jsonl").exists()


# ------------------------------------------------------------------------------------------------ in the background


def test_the_end_of_a_session_is_seen_to_after_the_hook_has_answered(store):
    ended = run(store, _end())

    assert (0, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)
    assert _wait_for(lambda: _settled(store))
    assert ["Rounding of cart prices"] == [one.topic for one in events(store, "stage_summary")]


def test_a_settle_keeps_to_one_process_however_long_the_log_is(store, monkeypatch):
    monkeypatch.setattr(jobs, "_LONG", 0)
    monkeypatch.setattr(workers, "_started", lambda count: pytest.fail(f"{count} processes"))
    tell(alone(store), claude("SessionStart"))

    assert call("--store", store, "settle").code == 0
    assert (Path(store) / "knowledge" / "sessions.jsonl").exists()


def test_the_host_waits_for_no_pipe_of_the_background(tmp_path):
    """Seen once is enough: on a busy machine the background may be done before it is looked at."""
    assert any(_is_at_work_when_the_pipe_is_closed(tmp_path / f"store-{number}") for number in range(20))


def _is_at_work_when_the_pipe_is_closed(store):
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    hook = subprocess.Popen(
        [*HOOK, "--store", store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[writing],
        start_new_session=True,
    )
    os.close(writing)
    hook.communicate(data(_end()))
    closed = os.read(reading, 1)  # returns when nobody holds the other end any more
    still_at_work = bool(_notes(store))
    os.close(reading)

    assert b"" == closed
    assert _wait_for(lambda: _settled(store))
    return still_at_work


def test_killing_the_hosts_process_group_does_not_stop_the_background(store):
    shell = f"{' '.join(HOOK)} --store {store}; kill -9 -$$"
    subprocess.run(["sh", "-c", shell], input=data(_end()), start_new_session=True, capture_output=True, check=False)

    assert _wait_for(lambda: _settled(store))


# ------------------------------------------------------------------------------------------------ one at a time


def _spawned(monkeypatch):
    started: list[list[str]] = []
    monkeypatch.setattr(background, "_start", started.append)
    return started


def test_one_that_is_starting_is_enough(store, monkeypatch):
    started = _spawned(monkeypatch)
    Path(store, "cache").mkdir(parents=True)
    for _ in range(3):
        background.start_finalize(Store(str(store)))

    assert 1 == len(started)


def test_one_that_never_came_up_is_replaced(store, monkeypatch):
    started = _spawned(monkeypatch)
    alone(store)
    os.utime(store / "cache" / "settle.starting", (1, 1))
    background.start_finalize(Store(str(store)))

    assert 1 == len(started)


def test_one_at_work_is_enough(store, monkeypatch):
    from filelock import FileLock

    started = _spawned(monkeypatch)
    Path(store, "cache").mkdir(parents=True)
    with FileLock(store / "cache" / "settle.lock"):
        background.start_finalize(Store(str(store)))
        ran = call("settle", "--store", store)

    assert [] == started
    assert (0, "") == (ran.code, ran.out)


def test_settling_twice_is_settling_once(store):
    tell(alone(store), _end())
    run(store, _end())
    first, second = call("settle", "--store", store), call("settle", "--store", store)

    assert "wrote a summary of 5f0c" in first.out
    assert "0 knowledge files changed" in second.out
    assert 1 == len(events(store, "stage_summary"))


def test_where_no_session_is_over_nothing_is_waited_for(store, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited"))
    store.mkdir(exist_ok=True)

    assert 0 == call("settle", "--store", store).code


# ------------------------------------------------------------------------------------------------ caught up


def test_what_was_missed_is_caught_up_at_the_next_start(store):
    run(alone(store), _end())
    missed = _notes(store)
    (store / "cache" / "settle.starting").unlink()
    run(store, claude("SessionStart", session_id="another"))

    assert ["5f0c.json"] == missed
    assert _wait_for(lambda: _settled(store))


def test_a_session_without_an_end_is_over_when_it_has_been_silent_for_hours(store):
    alone(store)
    run(store, {**claude("Stop", prompt_id="p"), "transcript_path": TRANSCRIPT})
    log = EventLog(store)
    too_early = finalize(log)
    (note,) = (store / "cache" / "open").glob("*.json")
    os.utime(note, (time.time() - 7 * HOUR, time.time() - 7 * HOUR))

    assert [] == too_early
    assert any_left(log)
    assert 1 == len(finalize(log))
    assert ["Rounding of cart prices"] == [one.topic for one in events(store, "stage_summary")]
    assert not any_left(log)


def test_a_session_that_was_killed_is_of_the_day_it_was_at_work(store):
    log = EventLog(alone(store))
    run(store, {**claude("Stop", prompt_id="p"), "transcript_path": TRANSCRIPT})
    recorded = [to_fields(event) for event in log.read()]
    shutil.rmtree(store / "log")
    log.append_many([{**fields, "id": "", "ts": "2026-02-20T15:01:53.910307Z"} for fields in recorded])
    (note,) = (store / "cache" / "open").glob("*.json")
    os.utime(note, (time.time() - 7 * HOUR, time.time() - 7 * HOUR))
    (drawn,) = finalize(log)
    (row,) = Memory(store).sessions()

    assert "2026-02-20T15:01:53.910308Z" == drawn.ts == row.timestamp


def test_a_session_that_came_back_is_summarised_anew(store, tmp_path):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"type":"user","message":{"content":"first"}}\n' * 3)
    log = EventLog(alone(store))
    run(store, _end(transcript_path=str(transcript)))
    finalize(log)
    transcript.write_text('{"type":"user","message":{"content":"second"}}\n' * 3)
    run(store, _end(transcript_path=str(transcript), prompt_id="p-2"))
    finalize(log)

    assert ["first", "second"] == [one.topic for one in events(store, "stage_summary")]


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"session": 7}'])
def test_a_note_nobody_can_read_stops_nothing(store, note):
    log = EventLog(alone(store))
    run(store, _end())
    (store / "cache" / "open" / "broken.json").write_bytes(note)

    assert 1 == len(finalize(log))


def test_a_pipe_for_a_transcript_is_not_read(store, tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    run(alone(store), _end(transcript_path=str(tmp_path / "pipe.jsonl")))

    assert [] == finalize(EventLog(store))


def test_a_conversation_that_breaks_us_costs_only_itself(store, monkeypatch):
    def break_on_the_first(note, events):
        if note.session == "a":
            raise RecursionError("too deep")
        return read.read_transcript("claude-code", TRANSCRIPT)

    monkeypatch.setattr("eventlog.app.build.finalize._steps", break_on_the_first)
    for session in ("a", "b"):
        run(alone(store), _end(session_id=session))

    assert ["b"] == [event.conversation_id for event in finalize(EventLog(store))]
    assert ["a.json"] == _notes(store)


def test_a_failure_is_noted_and_tried_again(store, monkeypatch):
    log = EventLog(alone(store))
    run(store, _end())
    monkeypatch.setattr(
        "eventlog.hosts.transcripts.read.read_transcript", lambda *_: (_ for _ in ()).throw(OSError("gone"))
    )
    finalize(log)
    kept = _notes(store)
    monkeypatch.undo()

    assert ["5f0c.json"] == kept
    assert "OSError: gone" in (store / "cache" / "hook-errors.log").read_text()
    assert 1 == len(finalize(EventLog(store)))


# ------------------------------------------------------------------------------------------------ what is drawn


def test_without_a_transcript_the_log_is_one(store):
    alone(store)
    tell(store, cursor("beforeSubmitPrompt", prompt="Show the stock"))
    tell(store, cursor("afterFileEdit", file_path="/home/ada/shop/Stock.tsx", edits=[]))
    run(store, cursor("sessionEnd", reason="user_close"))
    (drawn,) = finalize(EventLog(store))

    assert isinstance(drawn, StageSummary)
    assert "Changed Stock.tsx." == drawn.summary
    assert ("cursor", 3) == (drawn.agent, drawn.layer)


def test_a_transcript_named_at_a_turns_end_is_read_at_the_sessions(store):
    copilot = {"sessionId": "b1ade", "cwd": "/home/ada/shop", "timestamp": 1_771_581_600_000}
    transcript = str(ROOT / "fixtures" / "transcripts" / "copilot" / "b1ade" / "events.jsonl")
    run(alone(store), {**copilot, "stopReason": "end_turn", "transcriptPath": transcript}, "--event", "agentStop")
    run(store, {**copilot, "reason": "user_exit"}, "--event", "sessionEnd")
    (drawn,) = finalize(EventLog(store))

    assert isinstance(drawn, StageSummary)
    assert "Please show the price with tax on the receipt" == drawn.topic


def test_a_summary_is_drawn_in_the_language_of_the_settings(store):
    run(alone(store), _end())
    (drawn,) = finalize(EventLog(store), Settings(locale="zh"))

    assert isinstance(drawn, StageSummary)
    assert "修改了 NOTES.md、" in drawn.summary


def test_a_secret_in_a_transcript_never_reaches_the_disk(store, tmp_path):
    secret = "ghp_" + "a1B2" * 9
    line = json.dumps({"type": "user", "message": {"content": f"use {secret}"}})
    (tmp_path / "t.jsonl").write_text(f"{line}\n" * 3)
    run(alone(store), _end(transcript_path=str(tmp_path / "t.jsonl")))
    finalize(EventLog(store))
    (drawn,) = events(store, "stage_summary")

    assert isinstance(drawn, StageSummary)
    assert "use [secret:github-token]" == drawn.topic
    assert secret not in "".join(path.read_text() for path in store.rglob("*") if path.is_file())


def test_a_session_of_one_turn_has_a_title_and_the_next_start_is_told_it(store, tmp_path):
    line = json.dumps({"type": "user", "message": {"content": "Where are totals rounded?"}})
    (tmp_path / "t.jsonl").write_text(f"{line}\n")
    run(alone(store), _end(transcript_path=str(tmp_path / "t.jsonl")))
    drawn = finalize(EventLog(store))
    listed = call("sessions", "--store", store)
    started = run(alone(store), claude("SessionStart", session_id="next")).stdout.decode()

    assert [] == drawn
    assert "Where are totals rounded?" in listed.out
    assert "Where are totals rounded?" in started
    assert not (store / "knowledge" / "sessions").exists()


def test_the_third_session_that_begins_alike_names_the_first_ones_anew(store, tmp_path):
    opening = "You work on the shop. Follow the rules.\n\nToday: "
    log = EventLog(alone(store))
    for number, text in enumerate(("totals are off", "no badge is shown", "round half even")):
        line = json.dumps({"type": "user", "message": {"content": opening + text}})
        (tmp_path / f"{number}.jsonl").write_text(f"{line}\n")
        run(store, _end(session_id=f"talk-{number}", transcript_path=str(tmp_path / f"{number}.jsonl")))
        finalize(log)

    named = {event.conversation_id: event for event in events(store, "stage_summary")}
    assert ["totals are off", "no badge is shown", "round half even"] == [one.topic for one in named.values()]
    assert [one.topic for one in named.values()] == [one.summary for one in named.values()]
    assert ["totals are off", "no badge is shown", "round half even"] == [
        event.title for event in events(store, "conversation_text") if event.title != "You work on the shop"
    ]


def test_settings_are_compiled_for_hooks_that_cannot_read_them(store):
    if Path(IMPORT_PATH, "yaml").exists():
        pytest.skip("libraries lie beside the package: hooks read settings themselves")
    store.mkdir()
    (store / "config.yaml").write_text("locale: zh\n")
    before = _asked(store, "a")
    call("settle", "--store", store)
    after = _asked(store, "b")

    assert "Nothing of this conversation has been saved" in before
    assert "本会话尚未保存" in after


def _asked(store, session):
    turns = [claude("Stop", session_id=session, prompt_id=f"p-{turn}") for turn in range(3)]
    return [run(alone(store), turn).stdout.decode() for turn in turns][-1]
