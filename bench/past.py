"""`python -m bench.past [--sessions N] [--kib K]`: how long an import of past sessions takes, and a second one."""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

_FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
_DAYS, _PROJECTS, _TURN_BYTES = 365, 7, 1800
_WORDS = ("cart", "price", "index", "token", "cache", "retry", "schema", "worker", "queue", "parser", "cents", "order")


def main() -> None:
    """Write the sessions, import them twice, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m bench.past")
    parser.add_argument("--sessions", type=int, default=2000, help="past sessions of a year [%(default)s]")
    parser.add_argument("--kib", type=int, default=8, help="size of each [%(default)s]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        generate(Path(scratch) / "past", options.sessions, options.kib)
        for run in ("first", "second"):
            wall, cpu, said = _import(Path(scratch))
            print(f"{run}: {wall:.1f} s, {cpu:.1f} s of processor time, load {os.getloadavg()[0]:.0f}: {said}")


def generate(home: Path, sessions: int, kib: int) -> None:
    """Write the transcripts of a year, one file after the other: nothing is held but the one at hand."""
    chance = random.Random(7)
    for number in range(sessions):
        start = _FIRST_DAY + timedelta(days=_DAYS * number / sessions)
        cwd = f"/home/ada/src/project-{number % _PROJECTS}"
        path = home / "projects" / cwd.replace("/", "-") / f"{number:08x}-4f6e-4c7e-9f5e-2b8d41c0aa77.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        turns = max(1, kib * 1024 // _TURN_BYTES)
        path.write_bytes(b"".join(_lines(path.stem, cwd, start, turns, chance)))
        ended = (start + timedelta(minutes=turns)).timestamp()
        os.utime(path, (ended, ended))


def _lines(session: str, cwd: str, start: datetime, turns: int, chance: random.Random) -> Iterator[bytes]:
    common = {"isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": session, "gitBranch": "main"}
    parent = None
    for turn in range(turns):
        change = {"file_path": f"{cwd}/{chance.choice(_WORDS)}.py", "old_string": _text(chance, 5)}
        said: list[tuple[str, object]] = [
            ("user", _text(chance, 25)),
            ("assistant", [{"type": "tool_use", "name": "Edit", "input": {**change, "new_string": _text(chance, 10)}}]),
            ("assistant", [{"type": "text", "text": _text(chance, 40)}]),
        ]
        for place, (role, content) in enumerate(said):
            ts = (start + timedelta(minutes=turn, seconds=5 * place)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            message = {"role": role, "content": content, "model": "opus"}
            uuid = f"{turn}-{place}"
            about = {"type": role, "message": message, "uuid": uuid, "parentUuid": parent, "timestamp": ts}
            yield orjson.dumps({**common, **about}) + b"\n"
            parent = uuid


def _text(chance: random.Random, words: int) -> str:
    return " ".join(f"{chance.choice(_WORDS)}{chance.randrange(1000)}" for _ in range(words))


def _import(scratch: Path) -> tuple[float, float, str]:
    """Seconds on the wall, seconds of processor time, and the report."""
    command = (
        sys.executable,
        "-m",
        "eventlog",
        "--store",
        str(scratch / "store"),
        "import",
        "claude",
        str(scratch / "past"),
    )
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


if __name__ == "__main__":
    main()
