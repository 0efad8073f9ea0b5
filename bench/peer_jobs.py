"""`python -m bench.peer_jobs`: the same small jobs for eventlog, projectmem and wake-memory, as a Markdown table."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.peers import installed

SAID, CHINESE = "Prices are in cents", "编码问题已修复"


class Program(NamedTuple):
    """How one program is told to do each job; no words where it has no verb for it."""

    name: str
    begin: tuple[str, ...]
    save: tuple[str, ...]
    search: tuple[str, ...]
    withdraw: tuple[str, ...]
    typo: tuple[str, ...]


def _programs(bin_dir: Path) -> list[Program]:
    ours, pjm, wake = (sys.executable, "-m", "eventlog"), (str(bin_dir / "pjm"),), (str(bin_dir / "wake"),)
    quiet = ("--no-watch", "--no-global", "--no-hooks", "--no-backfill")
    decision = ("log", "decision", "--rationale", "so it was said", "--decision")
    return [
        Program(
            "eventlog",
            (*ours, "install", "claude", "--no-allow"),
            (*ours, "fact"),
            (*ours, "query", "--type", "fact", "--grep"),
            (*ours, "forget", "--yes"),
            (*ours, "sesions"),
        ),
        Program("projectmem", (*pjm, "init", *quiet), (*pjm, "note"), (*pjm, "search"), (), (*pjm, "serch", "x")),
        Program(
            "wake-memory",
            (*wake, "init"),
            (*wake, *decision),
            (*wake, "search"),
            (*wake, "withdraw"),
            (*wake, "serch", "x"),
        ),
    ]


class _Place:
    """A home and an empty repository of its own for one program."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        (root / "home").mkdir(parents=True)
        self.project.mkdir()
        own = {"WAKE_STORE": str(self.project / ".wake" / "events.db"), "WAKE_OUTPUT_DIR": str(self.project)}
        hidden = ("EVENTLOG_HOME", "CLAUDE_CODE_SESSION_ID")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        checkout = str(Path(__file__).resolve().parents[1])
        self._environ = {**kept, "HOME": str(root / "home"), "PYTHONPATH": checkout, **own}
        self.run("git", "init", "-q")

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, cwd=self.project, env=self._environ, capture_output=True, text=True, check=False)


def _jobs(program: Program, place: _Place) -> dict[str, str]:
    place.run(*program.begin)
    untracked = len(place.run("git", "status", "--short").stdout.splitlines())
    for text in (SAID, SAID, CHINESE):
        place.run(*program.save, text)
    found = place.run(*program.search, "cents").stdout.splitlines()
    nothing = place.run(*program.search, "unicorn")
    typo = place.run(*program.typo)
    withdrawn = place.run(*program.withdraw, "no-such-thing") if program.withdraw else None
    return {
        "paths it leaves in the repository when it begins": str(untracked),
        "the same said twice is found": f"{sum(SAID in line for line in found)} ×",
        "words in another order are found": _yes(SAID in place.run(*program.search, "cents prices").stdout),
        "Chinese words are found": _chinese(place.run(*program.search, "编码").stdout),
        "finding nothing, it says so": _yes(bool(nothing.stdout + nothing.stderr)),
        "a mistyped verb: exit code, and it asks what was meant": f"{typo.returncode}, "
        + _yes("mean" in typo.stdout + typo.stderr),
        "withdrawing what is not there is refused": _yes(withdrawn.returncode != 0) if withdrawn else "no such verb",
        "a search, from a cold process": f"{_median_ms(place, program):.0f} ms",
    }


def _chinese(said: str) -> str:
    return "as escapes" if json.dumps(CHINESE)[1:-1] in said else _yes(CHINESE in said)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _median_ms(place: _Place, program: Program, rounds: int = 7) -> float:
    took = []
    for _ in range(rounds):
        begun = time.perf_counter()
        place.run(*program.search, "cents")
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def main() -> None:
    """Install the two others into a scratch environment, do the jobs, print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        installed(Path(scratch))
        programs = _programs(Path(scratch, "venv", "bin"))
        done = [_jobs(program, _Place(Path(scratch, program.name))) for program in programs]
    print(f"| job | {' | '.join(program.name for program in programs)} |")
    print("| --- | --- | --- | --- |")
    for job in done[0]:
        print(f"| {job} | {' | '.join(answers[job] for answers in done)} |")


if __name__ == "__main__":
    main()
