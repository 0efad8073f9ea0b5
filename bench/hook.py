"""What an agent waits for: one hook, and several at once."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import orjson

import eventlog
from bench.measure import FLOOR, Row, compare, process

_SCRIPT = str(Path(eventlog.__file__).parent / "hook.py")
_AT_ONCE = 8
_calls = count()


def rows(store: Path, events: int) -> Iterator[Row]:
    """The bars of hooks, in a store of that many events."""
    one = _hook(store)
    yield compare(
        f"hook call (session end), store of {events:,}",
        process(one, _payload),
        "python -I -S -c pass",
        process(FLOOR),
        "≤ 1.5",
        rounds=41,
    )
    yield compare(
        f"{_AT_ONCE} hooks at once",
        lambda: _at_once(one),
        f"{_AT_ONCE} one after the other",
        lambda: [process(one, _payload)() for _ in range(_AT_ONCE)],
        "≤ 0.63",
    )


def _hook(store: Path) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", _SCRIPT, "--agent", "claude", "--event", "SessionEnd", "--store", str(store))


def _payload() -> bytes:
    turn = f"turn-{next(_calls)}"
    return orjson.dumps(
        {
            "session_id": "b255be60-9740-46f5-a38c-730a98bc24e9",
            "transcript_path": "/nowhere/b255be60.jsonl",
            "cwd": "/nowhere",
            "prompt_id": turn,
            "hook_event_name": "SessionEnd",
            "reason": "other",
        }
    )


def _at_once(command: tuple[str, ...]) -> None:
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(_AT_ONCE)]
    for one in running:
        assert one.stdin is not None
        one.stdin.write(_payload())
        one.stdin.close()
    for one in running:
        one.wait()
