"""The bench's store: the same everywhere, as the log would have written it, and with what makes a store slow."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.generate import PROJECT, generate
from eventlog.format import codec

pytestmark = pytest.mark.slow


def _lines(log: Path, events: int) -> list[bytes]:
    generate(log, events)
    return [line for file in sorted(log.iterdir()) for line in file.read_bytes().splitlines()]


def test_a_store_is_the_same_each_time_and_as_the_log_would_write_it(tmp_path: Path) -> None:
    lines = _lines(tmp_path / "once", 1000)
    assert lines == _lines(tmp_path / "again", 1000)
    assert lines == [codec.encode(codec.decode(line)) for line in lines]
    assert len(lines) == 1000


def test_a_store_has_what_lifelike_ones_have(tmp_path: Path) -> None:
    events = [json.loads(line) for line in _lines(tmp_path / "log", 5000)]
    facts = [event["content"] for event in events if event["type"] == "fact"]
    days = {(event["conversation_id"], event["ts"][:10]) for event in events}
    per_day = Counter(event["ts"][:10] for event in events)
    assert len({event["project"] for event in events}) > 30
    assert PROJECT in {event["project"] for event in events if event["type"] == "fact"}
    assert {"retraction", "stage_summary", "turn_end"} < {event["type"] for event in events}
    assert any("key" in event for event in events)
    assert any(f"{PROJECT}/src/" in content for content in facts)
    assert sum(not content.isascii() for content in facts) > len(facts) / 20
    assert max(Counter(conversation for conversation, _ in days).values()) > 40
    assert max(per_day.values()) > len(events) / 10
