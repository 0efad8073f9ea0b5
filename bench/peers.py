"""What two other programs run for the same moment, installed from the index into a scratch environment."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from bench.hook import hook, stop
from bench.measure import Row, Run, compare, process


def rows(scratch: Path, store: Path) -> Iterator[Row]:
    """What each peer runs beside the like of ours, from a process's start to its end."""
    turn = process(hook(store, "Stop"), lambda: stop("a-new-conversation-"))
    numbers = count()
    fact = (sys.executable, "-m", "eventlog", "--store", str(store), "fact", "--session", "bench")
    for name, note in _notes(scratch).items():
        if "note" in name:

            def said() -> None:
                process((*fact, f"Prices are in cents {next(numbers)}"))()

            yield compare(name, note, "eventlog fact", said, "≥ 5", rounds=9)
        else:
            yield compare(name, note, "turn end", turn, "≥ 5", rounds=9)


def _notes(scratch: Path) -> dict[str, Run]:
    """How each peer writes down one thing, in a project and a home of its own."""
    project = scratch / "project"
    project.mkdir()
    run = partial(installed(scratch), project)
    begin(run)
    return {
        "projectmem (pjm note)": lambda: run("pjm", "note", "Prices are in cents"),
        "wake-memory (its Stop hook)": lambda: run("wake", "claude-stop", stdin=stop("s")),
        "wake-memory (wake ingest)": lambda: run("wake", "ingest", stdin=stop("s")),
    }


def installed(scratch: Path) -> Callable[..., bytes]:
    """Install both; the result runs one command of theirs in a directory, `run(project, "pjm", …)`, for its output."""
    programs = scratch / "venv" / "bin"
    subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
    subprocess.run(
        [str(programs / "pip"), "install", "-q", "projectmem", "wake-memory"], check=True, capture_output=True
    )

    def run(project: Path, *command: str, stdin: bytes = b"") -> bytes:
        store = {"WAKE_STORE": str(project / ".wake" / "events.db"), "WAKE_OUTPUT_DIR": str(project)}
        environ = {**os.environ, "HOME": str(scratch), "PATH": f"{programs}:{os.environ['PATH']}", **store}
        done = subprocess.run(command, cwd=project, env=environ, input=stdin, check=True, capture_output=True)
        return done.stdout

    return run


def begin(run: Callable[..., bytes]) -> None:
    """Make an empty repository a project of both."""
    run("git", "init", "-q")
    run("pjm", "init", "--no-watch", "--no-global", "--no-hooks", "--no-backfill")
    run("wake", "init")
