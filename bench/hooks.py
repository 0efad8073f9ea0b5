"""What an agent waits for at a turn's end, and beside what others do: `python -m bench.hooks [--events N] [--peers]`.

With `--peers`, projectmem and wake-memory are installed from the index into a scratch environment, and what they run
for the same moment is measured: a note, a Stop hook, the ingestion of a hook's payload.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import orjson

import eventlog
from bench.generate import conversation_id, generate
from bench.measure import FLOOR, Row, Run, compare, process
from eventlog.log import EventLog

_SCRIPT = str(Path(eventlog.__file__).parent / "hook.py")
_PLAIN = (sys.executable, "-I", "-c", "pass")
_calls = count()


def rows(store: Path, events: int) -> Iterator[Row]:
    """A turn's end with its decision, and a session's end, in an indexed store of that many events."""
    EventLog(store).index.catch_up()
    for what, session in (("has saved", conversation_id(0)), ("is new", "a-new-conversation-")):
        run = process(_hook(store, "Stop"), partial(_stop, session))
        name = f"turn end of a conversation that {what}, store of {events:,}"
        yield compare(name, run, "python -I -S -c pass", process(FLOOR), "≤ 2.0", rounds=41)
    end = process(_hook(store, "SessionEnd"), _end)
    yield compare(f"session end, store of {events:,}", end, "python -I -S -c pass", process(FLOOR), "≤ 1.5", rounds=41)
    turn = process(_hook(store, "Stop"), lambda: _stop("a-new-conversation-"))
    yield compare("turn end", turn, "python3 -I -c pass", process(_PLAIN), "", rounds=41)


def peers(scratch: Path, store: Path) -> Iterator[Row]:
    """What each peer runs beside a turn's end of ours, from a process's start to its end."""
    turn = process(_hook(store, "Stop"), lambda: _stop("a-new-conversation-"))
    for name, note in _notes(scratch).items():
        yield compare(name, note, "turn end", turn, "≥ 5", rounds=9)


def _notes(scratch: Path) -> dict[str, Run]:
    """How each peer writes down one thing, in a project and a home of its own."""
    programs = scratch / "venv" / "bin"
    project = scratch / "project"
    project.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
    subprocess.run(
        [str(programs / "pip"), "install", "-q", "projectmem", "wake-memory"], check=True, capture_output=True
    )
    store = {"WAKE_STORE": str(project / ".wake" / "events.db"), "WAKE_OUTPUT_DIR": str(project)}
    environ = {**os.environ, "HOME": str(scratch), "PATH": f"{programs}:{os.environ['PATH']}", **store}

    def run(*command: str, stdin: bytes = b"") -> None:
        subprocess.run(command, cwd=project, env=environ, input=stdin, check=True, capture_output=True)

    run("git", "init", "-q")
    run("pjm", "init", "--no-watch", "--no-global", "--no-hooks", "--no-backfill")
    run("wake", "init")
    return {
        "projectmem (pjm note)": lambda: run("pjm", "note", "Prices are in cents"),
        "wake-memory (its Stop hook)": lambda: run("wake", "claude-stop", stdin=_stop("s")),
        "wake-memory (wake ingest)": lambda: run("wake", "ingest", stdin=_stop("s")),
    }


def _hook(store: Path, event: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", _SCRIPT, "--agent", "claude", "--event", event, "--store", str(store))


def _stop(session: str) -> bytes:
    number = next(_calls)
    session = f"{session}{number}" if session.endswith("-") else session
    return _payload("Stop", session_id=session, prompt_id=f"turn-{number}", stop_hook_active=False)


def _end() -> bytes:
    return _payload("SessionEnd", session_id="ended", prompt_id=f"turn-{next(_calls)}", reason="other")


def _payload(name: str, **fields: object) -> bytes:
    common = {"transcript_path": "/nowhere/transcript.jsonl", "cwd": "/nowhere", "hook_event_name": name}
    return orjson.dumps({**common, **fields})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks")
    parser.add_argument("--events", type=int, default=100_000, help="size of the store [%(default)s]")
    parser.add_argument("--peers", action="store_true", help="install projectmem and wake-memory and compare")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        store = Path(scratch) / "store"
        generate(store / "log", options.events)
        for row in [*rows(store, options.events), *(peers(Path(scratch), store) if options.peers else ())]:
            ours, theirs = row.seconds * 1000, row.reference_seconds * 1000
            print(f"{row.what:<70} {ours:8.1f} ms  {row.reference:<22} {theirs:7.1f} ms  {row.ratio:6.2f}  {row.goal}")


if __name__ == "__main__":
    main()
