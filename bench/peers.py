"""What two other programs run for the same moment, installed from the index into a scratch environment."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.hook import hook, stop
from bench.measure import Row, Run, compare, process


def rows(scratch: Path, store: Path) -> Iterator[Row]:
    """What each peer runs beside a turn's end of ours, from a process's start to its end."""
    turn = process(hook(store, "Stop"), lambda: stop("a-new-conversation-"))
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
        "wake-memory (its Stop hook)": lambda: run("wake", "claude-stop", stdin=stop("s")),
        "wake-memory (wake ingest)": lambda: run("wake", "ingest", stdin=stop("s")),
    }
