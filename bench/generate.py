"""A store of any size, the same on every machine: agents at work for a year, most of it tools, some of it words."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.measure import Run
from eventlog import EventLog, Fact
from eventlog.format import codec, ids, timestamps
from eventlog.format.events import Event

PROJECT = "/home/ada/src/project-3"  # one of seven
EVENTS_PER_CONVERSATION = 50  # the last is at 49
_FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
_WORDS = [
    "cart",
    "price",
    "index",
    "token",
    "cache",
    "retry",
    "schema",
    "worker",
    "queue",
    "parser",
    "cents",
    "order",
    "invoice",
    "search",
    "branch",
]
_AGENTS = ("claude-code", "cursor", "codex")


def generate(log_dir: Path, events: int, days: int = 365, first: datetime = _FIRST_DAY) -> None:
    """Write day files directly, as the log would have written them; no more than two days are in memory."""
    log_dir.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    conversations = max(1, events // EVENTS_PER_CONVERSATION)
    lines: dict[str, list[tuple[str, bytes]]] = {}
    for number in range(conversations):
        start = first + timedelta(days=number * days / conversations, seconds=chance.random())
        _write(log_dir, lines, before=start.strftime("%Y-%m-%d"))
        for event in _conversation(number, start, chance):
            lines.setdefault(event.ts[:10], []).append((event.ts, codec.encode(event) + b"\n"))
    _write(log_dir, lines)


def _write(log_dir: Path, lines: dict[str, list[tuple[str, bytes]]], before: str = "~") -> None:
    """Write the days that are over, and let go of them; conversations begin one after the other."""
    for day in [day for day in lines if day < before]:
        (log_dir / f"{day}.jsonl").write_bytes(b"".join(line for _, line in sorted(lines.pop(day))))


def after_a_fact(store: Path, run: Run) -> Run:
    """A run that finds something new in the log of a store, so that nothing that was made of it before holds."""
    log = EventLog(store)

    def after() -> object:
        log.append(Fact(conversation_id="bench", project=PROJECT, content=f"fact of {log.now()}"))
        return run()

    return after


def conversation_id(number: int) -> str:
    """The id of a generated conversation."""
    return f"{number:08x}-4f6e-4c7e-9f5e-2b8d41c0aa77"


def _conversation(number: int, start: datetime, chance: random.Random) -> Iterator[Event]:
    for position in range(EVENTS_PER_CONVERSATION):
        ts = (start + timedelta(seconds=20 * position)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        common = {
            "id": ids.derived(timestamps.to_ms(ts), f"{number}/{position}"),
            "ts": ts,
            "conversation_id": conversation_id(number),
            "project": f"/home/ada/src/project-{number % 7}",
            "agent": _AGENTS[number % 3],
        }
        yield codec.from_fields({**common, **_fields(position, chance)})


def _fields(position: int, chance: random.Random) -> dict[str, object]:
    match position:
        case 0:
            return {"type": "session_start", "source": "startup", "model": "opus", "git_branch": "main"}
        case 46:
            words = {"topic": _text(chance, 4), "summary": _text(chance, 30), "decisions": [_text(chance, 8)]}
            return {"type": "stage_summary", "scope": "session", **words}
        case 49:
            return {"type": "session_end", "reason": "prompt_input_exit"}
        case 7 | 23 | 39:
            return {"type": "fact", "content": _text(chance, 20), "entities": [chance.choice(_WORDS)]}
        case 9 | 19 | 29 | 38 | 48:
            return {"type": "turn_end", "turn_id": str(position), "status": "completed"}
    payload = {"tool_name": "Bash", "tool_input": {"command": _text(chance, 8)}, "tool_use_id": f"toolu_{position}"}
    return {"type": "host_event", "name": "PostToolUse", "payload": payload}


def _text(chance: random.Random, words: int) -> str:
    return " ".join(f"{chance.choice(_WORDS)}{chance.randrange(1000)}" for _ in range(words))
