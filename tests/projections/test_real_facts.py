"""Facts that people and agents really noted become a memory, where they are at hand."""

import json

import pytest

from eventlog.format import codec
from tests.support.command_line import call, run
from tests.support.tree import ROOT

pytestmark = pytest.mark.slow

MEMOS = ROOT.parent / "shared" / "realdata" / "memos.jsonl"
needs_memos = pytest.mark.skipif(not MEMOS.exists(), reason="no real facts are at hand")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@needs_memos
def test_real_facts_go_to_the_days_they_happened_and_twice_is_once(store):
    first, second = (run("append", "--stdin", "--store", store, stdin=MEMOS.read_bytes()) for _ in range(2))
    given = [json.loads(line) for line in MEMOS.read_bytes().splitlines()]
    days = {file.stem: len(file.read_bytes().splitlines()) for file in (store / "log").iterdir()}

    assert (0, 0) == (first.code, second.code)
    assert 44 == first.out.count('"status":"ok"') == second.out.count('"status":"skipped"')
    assert {day: sum(one["ts"].startswith(day) for one in given) for day in days} == days
    assert 44 == sum(days.values())


@needs_memos
def test_real_facts_become_a_memory_and_a_session_is_printed_byte_for_byte(store):
    call("append", "--stdin", "--store", store, stdin=MEMOS.read_bytes())
    built, again = call("replay", "--store", store), call("replay", "--store", store)
    asked = call("query", "--session", "memo-session-01", "--format", "jsonl", "--store", store)
    lines = [line for file in sorted((store / "log").iterdir()) for line in file.read_text().splitlines()]

    assert (0, 0) == (built.code, again.code)
    assert " 0 files changed" in again.out
    assert list((store / "knowledge" / "projects").glob("*/MEMORY.md"))
    assert [
        line for line in lines if codec.decode(line.encode()).conversation_id == "memo-session-01"
    ] == asked.out.splitlines()
