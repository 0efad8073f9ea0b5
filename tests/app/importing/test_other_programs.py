"""What other programs remember is brought in as they wrote it, once; what they took back stays taken back."""

import json
import os
import sqlite3
from contextlib import closing

import pytest

from eventlog.app.importing import transcripts
from eventlog.app.memory import Memory
from eventlog.format.errors import BadRequest
from eventlog.format.events import StageSummary
from eventlog.format.timestamps import to_ns
from tests.support.pasts import bring_in, put, told

MORNING = "2026-02-20T10:00:00Z"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return tmp_path / "shop"


def _lines(path, *objects, written=MORNING):
    data = b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in objects)
    return put(path, data, to_ns(f"{written[:-1]}.000000Z"))


def _said(log, kind="fact"):
    return [event for event in log.read() if event.type == kind]


def _memory(log):
    """The lines about the project that stand in its memory file."""
    Memory(log.store).replay()
    return [
        line.removeprefix("- [2026-02-20] ")
        for page in sorted(log.store_path.rglob("MEMORY.md"))
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("- ")
    ]


def _twice(log, source, place, path=None):
    """Import a source two times: the second adds nothing."""
    first = bring_in(log, source, place, path)
    before = told(log)
    assert 0 == sum(bring_in(log, source, place, path).new.values())
    assert before == told(log)
    return first


@pytest.fixture
def log(log, tmp_path):
    log.store_path = tmp_path / "store"
    return log


# ------------------------------------------------------------------------------------------------ notes and bullets

NOTES = """---
name: prices
description: How prices are kept
type: feedback
---

# Prices

- Prices are integers,
  in cents
- [Rounding](rounding.md) — half even

Rounded once, per line item.

```sh
- not a statement
```
"""


def test_an_agents_notes_to_itself_are_facts_of_their_project(place, log, tmp_path):
    folder = tmp_path / ".claude" / "projects" / "shop"
    put(folder / "memory" / "prices.md", NOTES.encode())
    _lines(folder / "5f0c.jsonl", {"type": "user", "cwd": str(place), "message": {"role": "user", "content": ""}})
    _twice(log, "claude", tmp_path)

    assert ["Prices are integers, in cents", "Rounded once, per line item."] == sorted(e.content for e in _said(log))
    assert {(str(place), "claude-code", "preference")} == {(e.project, e.agent, e.category) for e in _said(log)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_fifo_among_the_notes_or_transcripts_of_an_agent_holds_up_no_import(place, log, tmp_path):
    folder = tmp_path / ".claude" / "projects" / "shop"
    put(folder / "memory" / "prices.md", NOTES.encode())
    for name in ("memory/a.md", "a.jsonl", "5f0c/subagents/agent-a.jsonl"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)
    _lines(folder / "5f0c.jsonl", {"type": "user", "cwd": str(place), "message": {"role": "user", "content": "Hello"}})
    done = bring_in(log, "claude", tmp_path)

    assert {str(folder / "memory" / "a.md")} <= {bad.place for bad in done.damage}
    assert 2 == len(_said(log))


def test_a_statement_is_added_once_though_its_file_changes(place, log):
    path = put(place / "CLAUDE.md", b"# Style\n\n- Use tabs\n\nSome prose.\n", to_ns("2026-02-20T10:00:00.000000Z"))
    bring_in(log, "bullets", place, path)
    put(path, b"# Style\n\n- Use tabs\n- Write tests\n", to_ns("2026-02-22T10:00:00.000000Z"))
    bring_in(log, "bullets", place, path)

    assert [("Use tabs", "2026-02-20"), ("Write tests", "2026-02-22")] == [(e.content, e.ts[:10]) for e in _said(log)]
    assert {("style", str(place))} == {(e.category, e.project) for e in _said(log)}


def test_a_bullet_with_its_day_before_it_is_of_that_day(place, log):
    text = (
        "# MEMORY.md - 长期记忆\n\n## 重要决策\n- [2026-02-15] 使用文件系统存储上下文\n- [2026-02-14 ×3 ?] 两种会话\n"
        "- [2026-02-31] 不是日期\n- [2026-03-01] 是期限\n- [ ] 待办\n"
    )
    path = put(place / "MEMORY.md", text.encode(), to_ns("2026-02-20T10:00:00.000000Z"))
    bring_in(log, "bullets", place, path)
    bring_in(log, "bullets", place, path)

    assert [
        ("[2026-02-31] 不是日期", "2026-02-20"),
        ("[2026-03-01] 是期限", "2026-02-20"),
        ("两种会话", "2026-02-14"),
        ("使用文件系统存储上下文", "2026-02-15"),
        ("待办", "2026-02-20"),
    ] == sorted((event.content, event.ts[:10]) for event in _said(log))


@pytest.mark.parametrize(
    ("name", "day"), [("2026-02-15", "2026-02-15"), ("2026-02-31", "2026-02-20"), ("2026-03-01", "2026-02-20")]
)
def test_bullets_of_daily_notes_are_of_the_day_that_names_the_file(place, log, name, day):
    text = f"# {name}\n\n## 重要洞察\n- 保持简单是最好的设计原则\n- [2026-02-14] 昨日所见\n"
    path = put(place / f"memory/{name}.md", text.encode(), to_ns("2026-02-20T10:00:00.000000Z"))
    bring_in(log, "bullets", place, path)

    assert [("2026-02-14", "昨日所见"), (day, "保持简单是最好的设计原则")] == [
        (e.ts[:10], e.content) for e in _said(log)
    ]


def test_bullets_of_a_file_outside_any_repository_are_about_the_user(log, tmp_path):
    bring_in(log, "bullets", tmp_path, put(tmp_path / "AGENTS.md", b"1. Answer in German\n* [x] Never push\n"))

    assert [("Answer in German", None), ("Never push", None)] == sorted((e.content, e.project) for e in _said(log))


def test_no_line_of_a_key_becomes_a_statement(place, log):
    line = "MIIEpAIBAAKCAQEA1c0Hn3" + "q8Zx71abcd"
    first, last = (f"-----{word} PGP PRIVATE" + " KEY BLOCK-----" for word in ("BEGIN", "END"))
    text = f"- Use this key:\n{first}\nVersion: 1\n\n- {line}\n\n{line}\n{last}\n- Answer in German\n"
    bring_in(log, "bullets", place, put(place / "AGENTS.md", text.encode()))
    said = [event.content for event in _said(log)]

    assert ["Answer in German", "Use this key: [secret:private-key]"] == sorted(said)


def test_of_notes_that_are_too_long_the_last_line_is_left_out_not_cut(place, log, monkeypatch):
    monkeypatch.setattr(transcripts, "_LONGEST_FILE", 30)
    bring_in(log, "bullets", place, put(place / "AGENTS.md", "- Answer in German\n- Größe ääää\n".encode()))

    assert ["Answer in German"] == [event.content for event in _said(log)]


def test_bullets_need_a_file(place, log):
    with pytest.raises(BadRequest, match="nothing here"):
        bring_in(log, "bullets", place)


# ------------------------------------------------------------------------------------------------ daily notes


def test_daily_notes_and_summaries_become_facts_starts_ends_and_summaries(place, log):
    data = place / ".cursor" / "skills" / "memory-data"
    fact = {"id": "log-1", "type": "fact", "memory_type": "W", "content": "价格以分为单位", "timestamp": MORNING,
            "entities": ["cart"], "confidence": 0.8, "source": {"session": "c0de"}}  # fmt: skip
    _lines(
        data / "daily" / "2026-02-20.jsonl",
        {"id": "log-0", "type": "session_start", "timestamp": MORNING, "workspace": str(place), "session_id": "c0de"},
        fact,
        {**fact, "id": "log-2", "memory_type": "S", "content": "Half of the cart is done"},
        {**fact, "id": "log-3", "content": "Gone", "deleted_at": "2026-02-20T12:00:00Z"},
        {"id": "log-4", "type": "audit", "action": "git_commit", "timestamp": MORNING},
        {"id": "log-5", "type": "session_end", "reason": "completed", "timestamp": MORNING, "session_id": "c0de"},
    )
    summary = {"id": "sum-1", "session_id": "c0de", "topic": "Cart", "summary": "The cart is done", "decisions": ["a"],
               "todos": [], "timestamp": "2026-02-20T11:00:00Z", "source": "layer1_rules"}  # fmt: skip
    _lines(data / "sessions.jsonl", summary)
    done = _twice(log, "daily", place)

    assert [] == done.damage
    assert {(str(place), "cursor")} == {(e.project, e.agent) for e in log.read()}
    assert ["a", "价格以分为单位"] == _memory(log)  # a decision of the summary, and the fact
    assert [("stage", 1), ("session", 1)] == [(e.scope, e.layer) for e in _said(log, "stage_summary")]
    assert ["c0de", "c0de"] == [e.conversation_id for e in log.read() if e.type in ("session_start", "session_end")]
    assert ["audit"] == [e.name for e in _said(log, "host_event")]


def test_a_fact_is_brought_in_whatever_number_its_program_took_for_a_confidence(place, log):
    fact = {"type": "fact", "timestamp": MORNING}
    rated = [{**fact, "id": str(one), "content": str(one), "confidence": one} for one in (7, "high", 0.8)]
    done = bring_in(log, "daily", place, _lines(place / "2026-02-20.jsonl", *rated))

    assert [] == done.damage
    assert [("0.8", 0.8), ("7", 0.9), ("high", 0.9)] == sorted((e.content, e.confidence) for e in _said(log))


def test_what_a_replay_rendered_is_not_said_once_more(place, log):
    log.append(StageSummary(conversation_id="c0de", scope="session", topic="Cart", summary="Done", decisions=["a"]))
    Memory(log.store).replay()
    done = bring_in(log, "daily", place, log.store_path / "knowledge")

    assert ({}, [], 1) == (done.new, done.damage, len(_said(log, "stage_summary")))


def test_two_lines_of_the_same_time_without_an_id_are_two_facts(place, log):
    said = {"type": "fact", "timestamp": MORNING, "session_id": "c0de"}
    lines = [{**said, "content": text} for text in ("Prices are integers", "Carts are blue", "Carts are blue")]
    path = _lines(place / "2026-02-20.jsonl", *lines)
    _twice(log, "daily", place, path)
    _lines(path, lines[0], {**lines[1], "deleted_at": MORNING})
    bring_in(log, "daily", place, path)

    assert ["Carts are blue", "Prices are integers"] == sorted(event.content for event in _said(log))
    assert ["Prices are integers"] == _memory(log)


def test_a_bad_line_of_daily_notes_costs_only_itself(place, log):
    good = {"id": "1", "type": "fact", "content": "Kept", "timestamp": MORNING}
    path = _lines(place / "2026-02-20.jsonl", good, {**good, "timestamp": None}, {**good, "content": " "}, {"id": 7})
    path.write_bytes(b"123\n\xff\n" + path.read_bytes() + b'{"id":')
    done = bring_in(log, "daily", place, path)

    assert [f"{path}:{line}" for line in (1, 2, 4, 5, 6, 7)] == [bad.place for bad in done.damage]
    assert ["Kept"] == [event.content for event in _said(log)]


def test_a_drawn_summary_that_is_no_text_any_more_costs_only_itself(place, log):
    drawn = {"session_id": "c0de", "summary": "The cart is done", "timestamp": MORNING, "source": "layer3_auto"}
    path = _lines(place / "sessions.jsonl", drawn)
    bring_in(log, "daily", place, path)
    _lines(path, {**drawn, "summary": 5}, {**drawn, "summary": "The cart is rounded"})
    done = bring_in(log, "daily", place, path)

    assert [f"{path}:1"] == [bad.place for bad in done.damage]
    assert "The cart is rounded" in [event.summary for event in _said(log, "stage_summary")]


def test_a_line_the_log_refuses_is_named_and_the_others_are_brought_in(place, log):
    good = {"type": "fact", "timestamp": MORNING}
    path = _lines(
        place / "2026-02-20.jsonl",
        {**good, "id": "1", "content": "x" * (1 << 20)},
        {**good, "id": "2", "content": "Kept"},
    )
    counted = bring_in(log, "daily", place, path, dry_run=True)
    done = bring_in(log, "daily", place, path)

    assert [f"{path}:1"] == [bad.place for bad in done.damage] == [bad.place for bad in counted.damage]
    assert ["Kept"] == [event.content for event in _said(log)]


# ------------------------------------------------------------------------------------------------ last-word

PENDING = """version: 1.0.0
source: session_20260220-100000-ab12cd34
entries:
- key: {path: ~/.config/agents/USER.md, heading: Interests, level: 2}
  operation: update
  content: "- Agents"
  meta: {confidence: 0.9, reason: null, created_at: '2026-02-20T10:00:00.413843', session_id: s1}
- key: {path: /elsewhere/NOTES.md, heading: Interests, level: 2}
  operation: update
  content: "- Elsewhere"
  meta: {created_at: '2026-02-20T10:00:00.413843'}
"""


def test_pending_entries_of_last_word_become_plan_entries(log, tmp_path):
    path = put(tmp_path / ".config" / "agents" / "last-word" / "kb-1a2b.yaml", PENDING.encode())
    done = _twice(log, "last-word", tmp_path)

    [entry] = _said(log, "plan_entry")
    assert ("user", "Interests", "- Agents") == (entry.key.path, entry.key.heading, entry.content)
    assert ("s1", "2026-02-20T10:00:00.413843Z") == (entry.conversation_id, entry.ts)
    assert [f"{path}:8"] == [bad.place for bad in done.damage]
    assert "is not a knowledge base" in done.damage[0].reason


def test_a_file_that_is_no_plan_is_named_with_its_lines(log, tmp_path):
    folder = tmp_path / ".config" / "agents" / "last-word"
    put(folder / "config.yaml", b"version: 1\n")
    path = put(folder / "kb-1.yaml", b"version: 1.0.0\nentries:\n- operation: frobnicate\n")

    assert {f"{path}:3"} == {bad.place for bad in bring_in(log, "last-word", tmp_path).damage}


# ------------------------------------------------------------------------------------------------ peers' stores


def test_projectmem_events_become_facts_and_a_superseded_one_stays_out(place, log):
    event = {"timestamp": MORNING, "type": "decision"}
    _lines(
        place / ".projectmem" / "events.jsonl",
        {**event, "id": "evt_1", "summary": "Use JWT"},
        {**event, "id": "evt_2", "summary": "Use sessions", "supersedes": "evt_1", "files": ["auth.py"]},
        {
            **event,
            "id": "evt_3",
            "type": "attempt",
            "summary": "Cache tokens",
            "outcome": "failed",
            "notes": "they leak",
        },
    )
    done = _twice(log, "projectmem", place)

    assert [] == done.damage
    assert ["Use sessions", "Cache tokens – they leak (failed)"] == _memory(log)
    assert {str(place)} == {event.project for event in log.read()}


def test_an_event_without_a_name_supersedes_nothing(place, log):
    event = {"timestamp": MORNING, "type": "decision"}
    lines = [{**event, "summary": "Use JWT"}, {**event, "summary": "Use cookies"}]
    _lines(place / ".projectmem" / "events.jsonl", *lines)
    bring_in(log, "projectmem", place)

    assert ["Use JWT", "Use cookies"] == sorted(_memory(log))


WAKE = [
    ("decision_logged", {"decision_id": "d-001", "decision": "Prices are integers", "rationale": "floats drift"}),
    ("decision_logged", {"decision_id": "d-002", "decision": "Prices are cents", "supersedes": "d-001"}),
    ("constraint_logged", {"constraint_id": "c-001", "rule": "Never import pdb", "reason": "CI hangs"}),
    ("approach_rejected", {"rejection_id": "r-001", "approach": "Redis", "reason": "one more service"}),
    ("knowledge_logged", {"signpost_id": "k:auth", "topic": "auth", "summary": "old.py", "key_files": ["old.py"]}),
    ("knowledge_logged", {"signpost_id": "k:auth", "topic": "auth", "summary": "new.py", "key_files": ["new.py"]}),
    ("item_withdrawn", {"item_id": "r-001", "reason": "it is there now"}),
    ("context_checkpoint", {"summary": "Half done", "next_steps": "finish it"}),
    ("tool_called", {"tool": "Bash"}),
]


def _wake(number, kind, payload):
    return {"event_id": f"e{number}", "timestamp": f"2026-02-20T10:00:{number:02d}.5+00:00", "type": kind,
            "provider": "claude", "agent_id": "claude-code", "task_id": "default", "payload": payload}  # fmt: skip


def _as_lines(folder):
    _lines(folder / "events.jsonl", *(_wake(number, *one) for number, one in enumerate(WAKE)))


def _as_database(folder):
    folder.mkdir()
    with closing(sqlite3.connect(folder / "events.db")) as connection:
        connection.execute(
            "CREATE TABLE events (sequence_id INTEGER PRIMARY KEY, event_id TEXT, type TEXT, payload TEXT)"
        )
        for number, one in enumerate(WAKE):
            connection.execute("INSERT INTO events VALUES (?, '', '', ?)", (number, json.dumps(_wake(number, *one))))
        connection.commit()


@pytest.mark.parametrize("store", [_as_lines, _as_database])
def test_wake_memorys_items_become_facts_and_what_was_withdrawn_stays_out(store, place, log):
    store(place / ".wake")
    done = _twice(log, "wake-memory", place)

    assert [] == done.damage
    assert ["Prices are cents", "Never import pdb – CI hangs", "auth – new.py"] == _memory(log)
    assert [["finish it"]] == [event.todos for event in _said(log, "stage_summary")]
    assert {"claude-code"} == {event.agent for event in log.read()}


def test_what_is_withdrawn_there_after_an_import_is_withdrawn_here_by_the_next(place, log):
    lines = [_wake(number, *one) for number, one in enumerate(WAKE[2:4])]
    _lines(place / ".wake" / "events.jsonl", *lines)
    bring_in(log, "wake-memory", place)
    _lines(place / ".wake" / "events.jsonl", *lines, _wake(9, "item_withdrawn", {"item_id": "r-001"}))
    bring_in(log, "wake-memory", place)

    assert ["Never import pdb – CI hangs"] == _memory(log)


def test_what_follows_a_persons_note_does_not_take_it_back(place, log):
    note = ("human_annotation", {"text": "Ask Ada before a release"})
    lines = [_wake(number, *one) for number, one in enumerate([note, WAKE[0], ("item_withdrawn", {})])]
    _lines(place / ".wake" / "events.jsonl", *lines)
    bring_in(log, "wake-memory", place)

    assert ["Ask Ada before a release", "Prices are integers – floats drift"] == sorted(_memory(log))


def test_a_constraint_that_was_retired_stays_out(place, log):
    lines = [WAKE[2], WAKE[3], ("constraint_retired", {"rule": "Never import pdb"}), ("constraint_retired", {})]
    _lines(place / ".wake" / "events.jsonl", *(_wake(number, *one) for number, one in enumerate(lines)))
    bring_in(log, "wake-memory", place)

    assert ["Redis – one more service"] == _memory(log)


def test_a_row_that_is_no_object_costs_only_itself(place, log):
    _as_database(place / ".wake")
    path = place / ".wake" / "events.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE events SET payload = '{\"type\": ' WHERE sequence_id = 0")
        connection.execute("UPDATE events SET payload = '[]' WHERE sequence_id = 3")
        connection.commit()
    done = bring_in(log, "wake-memory", place)

    assert [f"{path}:0", f"{path}:3"] == [bad.place for bad in done.damage]
    assert ["Prices are cents", "Never import pdb – CI hangs", "auth – new.py"] == _memory(log)


def test_an_item_of_a_type_that_is_no_text_is_passed_over(place, log):
    _lines(place / ".wake" / "events.jsonl", _wake(1, ["decision_logged"], {}), _wake(2, *WAKE[3]))
    bring_in(log, "wake-memory", place)

    assert 1 == len(_said(log))


def test_a_database_nobody_can_read_is_named(place, log):
    path = put(place / ".wake" / "events.db", b"not a database, but long enough to be looked at" * 50)

    assert [str(path)] == [bad.place for bad in bring_in(log, "wake-memory", place).damage]
