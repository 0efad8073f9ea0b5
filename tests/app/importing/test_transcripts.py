"""Past conversations of every host are brought in, to the day they happened, once, and beside what hooks recorded."""

import json
from pathlib import Path

import pytest

from eventlog.app.ask.sessions import sessions
from eventlog.app.importing.transcripts import count_past
from eventlog.app.memory import Memory
from eventlog.app.open_store import Machine
from eventlog.format.errors import BadRequest
from eventlog.log.event_log import EventLog
from tests.support.builders import spawn
from tests.support.command_line import call, on_a_terminal
from tests.support.credentials import sample
from tests.support.effort import rounds
from tests.support.pasts import (
    NONE_AT_HAND,
    PLACES,
    REAL,
    WRITTEN,
    bring_in,
    conversation,
    forget,
    lay_out,
    put,
    told,
)
from tests.support.use_cases import opened

TOPICS = {
    "claude": "Rounding of cart prices",
    "codex": "Let the search retry on timeouts",
    "cursor": "Show the stock on the product page",
    "gemini": "German invoice",
    "copilot": "Please show the price with tax on the receipt",
    "qwen": "Let the basket remember its items",
    "droid": "Let the till print receipts",
}
IDS = {
    "claude": "5f0c",
    "codex": "019c32d0-ad7a-70b2-b378-c2b94a4ce4a3",
    "cursor": "c0de",
    "gemini": "b2e9ca8f-0000-4000-8000-000000000000",
    "copilot": "b1ade",
    "qwen": "7c0de",
    "droid": "d401d",
}
HOUR = 3600 * 10**9


@pytest.fixture
def place(tmp_path):
    return tmp_path / "home"


def _of(log, kind, *, subagents=False):
    return [event for event in log.read() if event.type == kind and bool(event.subagent) == subagents]


# ------------------------------------------------------------------------------------------------ every host


@pytest.mark.slow
@pytest.mark.parametrize("host", PLACES)
def test_a_past_conversation_becomes_its_start_its_end_and_its_summary_on_its_day(host, place, log):
    lay_out(place, host)
    done = bring_in(log, host, place)

    assert {"2026-02-20": 4 + (host == "claude")} == done.new
    assert [IDS[host]] == [event.conversation_id for event in _of(log, "session_start")]
    assert [TOPICS[host]] == [event.topic for event in _of(log, "stage_summary")]
    assert [3] == [event.layer for event in _of(log, "stage_summary")]
    assert ["import"] == [event.reason for event in _of(log, "session_end")]
    assert [True] == [bool(event.prompts) for event in _of(log, "conversation_text")]


def test_a_past_conversation_has_the_turns_that_were_finished(place, log):
    lay_out(place, "claude")
    path = place / next(iter(PLACES["claude"].values()))
    bring_in(log, "claude", place)
    finished = [row.turns for row in sessions(opened(log))]
    forget(log)
    first = next(line for line in path.read_text().splitlines() if "Fix the rounding" in line)
    path.write_text(f"{first}\n")
    bring_in(log, "claude", place, path)

    assert [1] == finished
    assert [0] == [row.turns for row in sessions(opened(log))]
    assert [] == _of(log, "session_end")


@pytest.mark.parametrize("host", sorted(PLACES.keys() - {"cursor"}))  # which does not tell where
def test_a_conversation_belongs_to_the_project_it_worked_in(host, place, log):
    lay_out(place, host)
    bring_in(log, host, place)

    assert {"/home/ada/shop"} == {event.project for event in log.read() if not event.subagent}


@pytest.mark.slow
@pytest.mark.parametrize("host", PLACES)
def test_a_second_import_adds_nothing(host, place, log):
    lay_out(place, host)
    first = bring_in(log, host, place)
    before = told(log)
    second = bring_in(log, host, place)

    assert (0, sum(first.new.values())) == (sum(second.new.values()), sum(second.known.values()))
    assert before == told(log)


@pytest.mark.slow
@pytest.mark.parametrize("host", PLACES)
def test_a_file_by_itself_is_the_same_as_the_hosts_folder(host, place, log):
    lay_out(place, host)
    bring_in(log, host, place)
    whole = told(log)
    forget(log)
    for path in PLACES[host].values():
        bring_in(log, host, place, place / path)

    assert whole == told(log)


def test_a_subagents_transcript_is_told_as_the_subagents(place, log):
    lay_out(place, "claude")
    bring_in(log, "claude", place)

    assert [("5f0c", "ab3df", 3)] == [
        (event.conversation_id, event.subagent, event.layer) for event in _of(log, "stage_summary", subagents=True)
    ]
    assert 1 == len(_of(log, "session_start"))


def _errand(place):
    """Lay out a session in which a program asked once, and nothing was changed."""
    said = {"sessionId": "r1", "entrypoint": "sdk-py", "timestamp": "2026-02-20T10:00:00.000Z", "cwd": "/home/ada/shop"}
    lines = [
        {**said, "type": "user", "message": {"role": "user", "content": "Review this change for vulnerabilities"}},
        {**said, "type": "assistant", "message": {"role": "assistant", "content": "The cart leaks no tokens."}},
    ]
    put(place / ".claude/projects/-home-ada-shop/r1.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def test_reviews_that_a_program_starts_are_no_sessions_of_the_users(place, log):
    _errand(place)
    bring_in(log, "claude", place)

    assert [("stage_summary", "r1")] == [(event.type, event.conversation_id) for event in log.read() if event.subagent]
    assert [] == [event for event in log.read() if not event.subagent]
    machine = Machine(str(place), {}, lambda: WRITTEN, "eventlog")
    assert 0 == count_past("claude", machine, log)


def test_a_review_that_hooks_recorded_is_not_told_once_more_as_a_helpers(place, log):
    _errand(place)
    about = {"conversation_id": "r1", "project": "/home/ada/shop", "agent": "claude-code"}
    log.append({"type": "session_start", **about, "ts": "2026-02-20T09:59:59Z", "source": "startup"})
    log.append({"type": "session_end", **about, "ts": "2026-02-20T10:00:01Z", "reason": "other"})
    done = bring_in(log, "claude", place)

    assert ["session_start", "session_end"] == [event.type for event in log.read()]
    assert (0, 1) == (sum(done.new.values()), sum(done.known.values()))


def test_a_thread_that_an_agent_started_is_told_as_the_subagents(place, log):
    meta = {
        "id": "child",
        "cwd": "/home/ada/shop",
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "root"}}},
    }
    said = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look for the bug"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Decision: it is in cart.py."}],
        },
    ]
    lines = [{"type": "session_meta", "payload": meta}, *({"type": "response_item", "payload": one} for one in said)]
    stamped = (json.dumps({"timestamp": "2026-02-20T10:00:00.000Z", **line}).encode() for line in lines)
    put(place / ".codex/sessions/2026/02/20/rollout-child.jsonl", b"\n".join(stamped) + b"\n")
    bring_in(log, "codex", place)

    assert [("stage_summary", "root", "child")] == [(e.type, e.conversation_id, e.subagent) for e in log.read()]


def test_an_older_subagent_of_gemini_is_told_as_the_subagents(place, log):
    task = "Your task is to do a deep investigation of the codebase to find all relevant files"
    chats = place / ".gemini" / "tmp" / "shop" / "chats"
    for minute, words in (("00", "Fix the rounding of prices"), ("05", task)):
        at = f"2026-02-20T10:{minute}:00.000Z"
        said = [
            {"type": role, "timestamp": at, "content": text} for role, text in (("user", words), ("gemini", "Done."))
        ]
        whole = {"sessionId": "b2e9ca8f", "startTime": at, "lastUpdated": at, "messages": said}
        put(chats / f"session-2026-02-20T10-{minute}-b2e9ca8f.json", json.dumps(whole).encode())
    bring_in(log, "gemini", place)

    helper = "session-2026-02-20T10-05-b2e9ca8f"
    assert [("b2e9ca8f", helper)] == [
        (event.conversation_id, event.subagent) for event in _of(log, "stage_summary", subagents=True)
    ]
    assert ["Fix the rounding of prices"] == [event.topic for event in _of(log, "stage_summary")]
    assert [["Fix the rounding of prices"]] == [event.prompts for event in _of(log, "conversation_text")]
    assert bring_in(log, "gemini", place).revised == 0


@pytest.mark.parametrize(
    "name", ["0b1ade00-0000-4000-8000-000000000000/events.jsonl", "0b1ade00-0000-4000-8000-000000000000.jsonl"]
)
def test_a_session_of_copilot_is_read_where_either_version_keeps_it(name, place, log):
    lines = [
        {"type": "session.start", "data": {"sessionId": "b1ade", "context": {"cwd": "/home/ada/shop"}}},
        {"type": "session.model_change", "data": {"newModel": "gpt-6"}},
        {"type": "user.message", "data": {"content": "Fix the rounding\n\n<current_datetime>x</current_datetime>"}},
        {"type": "assistant.message", "data": {"content": "Totals are rounded once."}},
    ]
    data = "".join(json.dumps({"timestamp": "2026-02-20T10:00:00.000Z", **line}) + "\n" for line in lines)
    put(place / ".copilot" / "session-state" / name, data.encode())
    bring_in(log, "copilot", place)

    assert [("b1ade", "gpt-6")] == [(event.conversation_id, event.model) for event in _of(log, "session_start")]
    assert [["Fix the rounding"]] == [event.prompts for event in _of(log, "conversation_text")]


def test_the_second_file_a_resumed_session_leaves_is_no_conversation(place, log):
    chats = place / ".gemini/tmp/shop/chats"
    put(chats / "session-1.jsonl", b'{"sessionId":"b2","startTime":"2026-02-20T12:00:00.000Z","kind":"main"}\n')

    assert 0 == sum(bring_in(log, "gemini", place).new.values())


def test_a_past_conversation_is_found_by_what_was_asked_and_changed_in_it(place, log):
    conversation(place, "one", "2026-02-20T10:00:00.000000Z", words="Why do the receipts show the wrong tax?")
    bring_in(log, "claude", place)

    for asked in ("receipts tax", "one.py"):
        hits = Memory(log.store).search(asked, everywhere=True)
        assert {"one"} == {hit.conversation_id for hit in hits}


# ------------------------------------------------------------------------------------------------ beside hooks


def _hooks_said(log, *events):
    log.append_many(
        {"conversation_id": "one", "project": "/home/ada/shop", "agent": "claude-code", **e} for e in events
    )


START = {"type": "session_start", "ts": "2026-02-20T10:00:00.5Z", "source": "startup"}
SAVED = {"type": "stage_summary", "ts": "2026-02-20T10:10:00Z", "scope": "session", "summary": "Rounded", "layer": 1}
DRAWN = {**SAVED, "ts": "2026-02-20T10:31:00Z", "layer": 3}
TEXT = {"type": "conversation_text", "ts": "2026-02-20T10:31:00Z", "title": "Cart", "prompts": ["Fix it"], "files": []}
END = {"type": "session_end", "ts": "2026-02-20T10:30:01Z", "reason": "exit"}


@pytest.mark.parametrize(
    ("there", "added"),
    [
        ([], ["session_start", "session_end", "stage_summary", "conversation_text"]),
        ([START], ["session_end", "stage_summary", "conversation_text"]),
        ([START, SAVED], ["session_end", "conversation_text"]),
        ([START, END], ["stage_summary", "conversation_text"]),
        ([START, DRAWN, END], ["conversation_text", "stage_summary"]),  # what was drawn is drawn anew
        ([START, SAVED, END, TEXT], ["conversation_text"]),
    ],
)
def test_what_hooks_recorded_of_a_conversation_is_not_said_again(there, added, place, log):
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    _hooks_said(log, *there)
    before = {event.id for event in log.read()}
    bring_in(log, "claude", place)

    assert sorted(added) == sorted(event.type for event in log.read() if event.id not in before)


def test_a_conversation_that_went_on_after_it_was_imported_has_its_later_end_and_summary_added(place, log):
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    bring_in(log, "claude", place)
    conversation(place, "one", "2026-02-20T10:00:00.000000Z", minutes=600)
    bring_in(log, "claude", place)

    assert 1 == len(_of(log, "session_start"))
    assert ["2026-02-20T10:30", "2026-02-20T20:00"] == [event.ts[:16] for event in _of(log, "session_end")]


def test_a_conversation_that_may_be_going_on_is_left_for_later_unless_its_file_is_named(place, log):
    path = conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    soon = WRITTEN - HOUR // 4
    done = bring_in(log, "claude", place, now=soon)

    assert (1, set()) == (done.still_open, told(log))
    assert 4 == sum(bring_in(log, "claude", place, path, now=soon).new.values())


# ------------------------------------------------------------------------------------------------ killed, and again


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(rounds(fixed=2, fuzz=5)))
def test_an_import_killed_in_the_middle_is_completed_by_the_next(number, place, log):
    for day in range(6):
        conversation(place, f"c{day}", f"2026-02-1{day}T23:50:00.000000Z")
    bring_in(log, "claude", place)
    whole = told(log)
    forget(log)
    killed = spawn("-m", "tests.support.importer", log.store.root, place, number + 1)

    assert b"" == killed.communicate()[0]
    assert -9 == killed.returncode
    assert set() < told(log) < whole
    bring_in(log, "claude", place)
    assert whole == told(log)


# ------------------------------------------------------------------------------------------------ what is left out


def test_secrets_of_a_transcript_do_not_reach_the_disk(place, log):
    text, secret = sample("AWS key id")
    conversation(place, "one", "2026-02-20T10:00:00.000000Z", words=f"Upload with {text} from now on")
    bring_in(log, "claude", place)
    stored = b"".join(path.read_bytes() for path in Path(log.store.log).iterdir())

    assert secret.encode() not in stored
    assert b"[secret:aws-access-key]" in stored


def test_nothing_is_brought_in_from_a_project_where_memory_is_switched_off(place, log, tmp_path):
    (tmp_path / "quiet").mkdir()
    (tmp_path / "quiet" / ".eventlog-disable").touch()
    conversation(place, "one", "2026-02-20T10:00:00.000000Z", cwd=str(tmp_path / "quiet"))
    done = bring_in(log, "claude", place)

    assert (1, set()) == (done.switched_off, told(log))


def test_bad_lines_are_named_and_the_rest_is_brought_in(place, log):
    path = conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    put(path, b"\xff\n[1]\n\n" + path.read_bytes() + b'{"half')
    done = bring_in(log, "claude", place)

    assert [f"{path}:1", f"{path}:2"] == [bad.place for bad in done.damage]
    assert 4 == sum(done.new.values())


def test_only_what_reaches_into_that_time_or_project_is_brought_in(place, log):
    conversation(place, "old", "2026-02-10T10:00:00.000000Z")
    conversation(place, "new", "2026-02-20T10:00:00.000000Z")
    conversation(place, "other", "2026-02-20T10:00:00.000000Z", cwd="/home/ada/till")
    bring_in(log, "claude", place, since="2026-02-15T00:00:00.000000Z", project="/home/ada/shop")

    assert {"new"} == {event.conversation_id for event in log.read()}


def test_a_dry_run_counts_what_would_be_added_and_writes_nothing(place, log):
    conversation(place, "one", "2026-02-20T23:50:00.000000Z")
    planned = bring_in(log, "claude", place, dry_run=True)

    assert set() == told(log)
    assert {"2026-02-20": 1, "2026-02-21": 3} == planned.new == bring_in(log, "claude", place).new
    assert 0 == sum(bring_in(log, "claude", place, dry_run=True).new.values())


def test_a_place_that_is_not_there_is_an_error(place, log):
    with pytest.raises(BadRequest, match="nothing here"):
        bring_in(log, "claude", place)


# ------------------------------------------------------------------------------------------------ real files


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason=NONE_AT_HAND)
@pytest.mark.parametrize("host", ["claude", "codex", "copilot", "gemini"])
def test_a_real_transcript_is_brought_in_once(host, place, log):
    for path in sorted(REAL.glob(f"{host}-*.jsonl")):
        bring_in(log, host, place, path)
    before = told(log)
    for path in sorted(REAL.glob(f"{host}-*.jsonl")):
        assert not bring_in(log, host, place, path).damage

    assert {"session_start", "session_end"} <= {kind for _, _, kind, _ in before}
    assert before == told(log)


# ------------------------------------------------------------------------------------------------ the verb


@pytest.mark.parametrize("name", ["shop", "/home/ada/shop", "ada/shop"])
def test_a_project_may_be_named_that_the_log_does_not_know_yet(place, monkeypatch, name):
    monkeypatch.setenv("HOME", str(place))
    for one, cwd in (("wanted", "/home/ada/shop"), ("another", "/home/ada/workshop"), ("third", "/home/ada/till")):
        conversation(place, one, "2026-02-20T10:00:00.000000Z", cwd=cwd)
    ran = call("import", "claude", "--project", name, "--store", place / "store")

    assert (0, 4) == (ran.code, json.loads(ran.out)["new"])
    assert {"wanted"} == {event.conversation_id for event in EventLog(place / "store").read()}


def test_a_project_that_no_transcript_is_of_is_said_to_be_none(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    ran = call("import", "claude", "--project", "shpo")

    assert 2 == ran.code
    assert "'shpo'" in ran.err


def test_the_verb_reports_and_exits_with_4_where_something_could_not_be_read(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    ran = call("import", "claude")

    assert (0, {"status": "ok", "new": 4, "known": 0, "revised": 0, "still_open": 0, "switched_off": 0, "damaged": 0}, "") == (
        ran.code, json.loads(ran.out), ran.err,
    )  # fmt: skip
    put(place / ".claude/projects/x/two.jsonl", b"{\n")
    ran = call("import", "claude")
    assert (4, 0) == (ran.code, json.loads(ran.out)["new"])
    assert "two.jsonl:1: not a JSON object" in ran.err


@pytest.mark.slow
def test_a_new_installation_says_on_a_terminal_how_much_there_is_to_import(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")

    assert "1 transcript of past sessions: eventlog import claude" in on_a_terminal("install", "claude", "--no-allow")
    assert "past sessions" not in on_a_terminal("install", "claude", "--no-allow")


def test_what_was_imported_is_not_offered_again(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    conversation(place, "one", "2026-02-20T10:00:00.000000Z")
    call("import", "claude", "--store", place / "store")
    conversation(place, "two", "2026-02-20T11:00:00.000000Z")
    log, machine = EventLog(place / "store"), Machine.here()

    assert (1, 0) == (count_past("claude", machine, log), count_past("codex", machine, log))


def test_a_dry_run_of_the_verb_lists_the_days(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    conversation(place, "one", "2026-02-20T23:50:00.000000Z")

    assert "claude\t2026-02-20\t1\t0\nclaude\t2026-02-21\t3\t0\n" == call("import", "claude", "--dry-run").out
    assert 2 == call("import", "clade").code
