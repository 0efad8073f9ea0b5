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
BY_HAND = "Totals are rounded by hand"
NO_VERB = "no such verb"


class Program(NamedTuple):
    """How one program is told to do each job, and where its files are; nothing where it has no verb or file for it."""

    name: str
    package: str
    program: tuple[str, ...]
    begin: tuple[str, ...]
    save: tuple[str, ...]
    search: tuple[str, ...]
    withdraw: tuple[str, ...]
    typo: tuple[str, ...]
    overview: tuple[str, ...]
    rebuild: tuple[str, ...]
    wrong: tuple[str, ...]
    reason: tuple[str, ...] = ()
    rendered: str = ""  # a file it renders, below the home or the project
    log: str = ""  # its log, where that has lines


def _programs(bin_dir: Path) -> list[Program]:
    ours, pjm, wake = (sys.executable, "-m", "eventlog"), (str(bin_dir / "pjm"),), (str(bin_dir / "wake"),)
    quiet = ("--no-watch", "--no-global", "--no-hooks", "--no-backfill")
    decision = ("log", "decision", "--rationale", "so it was said", "--decision")
    return [
        Program(
            "eventlog", "agent-eventlog", ours,
            begin=("install", "claude", "--no-allow"), save=("fact",), search=("query", "--type", "fact", "--grep"),
            withdraw=("forget", "--yes"), typo=("sesions",), overview=(), rebuild=("replay",),
            wrong=("query", "--limit", "abc"), reason=("why",),
            rendered="**/knowledge/projects/*/MEMORY.md", log="**/log/*.jsonl",
        ),
        Program(
            "projectmem", "projectmem", pjm,
            begin=("init", *quiet), save=("note",), search=("search",), withdraw=(), typo=("serch", "x"),
            overview=("brief",), rebuild=("regenerate",), wrong=("context", "--recent", "abc"),
            rendered="**/.projectmem/summary.md", log="**/.projectmem/events.jsonl",
        ),
        Program(
            "wake-memory", "wake-memory", wake,
            begin=("init",), save=decision, search=("search",), withdraw=("withdraw",), typo=("serch", "x"),
            overview=("brief",), rebuild=("render-wake-dir",), wrong=("list", "--limit", "abc"),
            reason=("get", "d-001"),
            rendered="**/.wake/decisions.md",
        ),
    ]  # fmt: skip


class _Place:
    """A home and an empty repository of its own for one program."""

    def __init__(self, root: Path, program: Program) -> None:
        self.root = root
        self._program = program.program
        self.project = root / "project"
        (root / "home").mkdir(parents=True)
        self.project.mkdir()
        own = {"WAKE_STORE": str(self.project / ".wake" / "events.db"), "WAKE_OUTPUT_DIR": str(self.project)}
        hidden = ("EVENTLOG_HOME", "CLAUDE_CODE_SESSION_ID")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        checkout = str(Path(__file__).resolve().parents[1])
        self._environ = {**kept, "HOME": str(root / "home"), "PYTHONPATH": checkout, **own}
        self.run("git", "init", "-q")

    def tell(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the program with these words."""
        return self.run(*self._program, *words)

    def file(self, pattern: str) -> Path | None:
        """Find a file of the program."""
        return next(iter(sorted(self.root.glob(pattern))), None) if pattern else None

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, cwd=self.project, env=self._environ, capture_output=True, text=True, check=False)


def _jobs(program: Program, place: _Place) -> dict[str, str]:
    place.tell(*program.begin)
    untracked = len(place.run("git", "status", "--short").stdout.splitlines())
    for text in (SAID, SAID, CHINESE):
        place.tell(*program.save, text)
    found = place.tell(*program.search, "cents").stdout.splitlines()
    nothing = place.tell(*program.search, "unicorn")
    typo = place.tell(*program.typo)
    wrong = place.tell(*program.wrong)
    withdrawn = place.tell(*program.withdraw, "no-such-thing") if program.withdraw else None
    return {
        "paths it leaves in the repository when it begins": str(untracked),
        "the same said twice is found": f"{sum(SAID in line for line in found)} ×",
        "words in another order are found": _yes(SAID in place.tell(*program.search, "cents prices").stdout),
        "Chinese words are found": _chinese(place.tell(*program.search, "编码").stdout),
        "finding nothing, it says so": _yes(bool(nothing.stdout + nothing.stderr)),
        "where the project stands, in one screen": _lines(place.tell(*program.overview)),
        "a bullet a person adds to a file it renders is there after a rebuild": _kept(program, place),
        "when a thing was said is told": _reason(program, place),
        "a mistyped verb: exit code, and it asks what was meant": f"{typo.returncode}, "
        + _yes("mean" in typo.stdout + typo.stderr),
        "a word for a number: exit code, and what it prints": f"{wrong.returncode}, {_lines(wrong)}",
        "withdrawing what is not there is refused": _yes(withdrawn.returncode != 0) if withdrawn else NO_VERB,
        "the version it tells is that of its package": _version(program, place),
    }


def _kept(program: Program, place: _Place) -> str:
    """Add a bullet where there are bullets, as a person would, and rebuild."""
    place.tell(*program.rebuild)
    file = place.file(program.rendered)
    if file is None:
        return "no such file"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if SAID in line)
    file.write_text("".join([*lines[: at + 1], f"- {BY_HAND}\n", *lines[at + 1 :]]), encoding="utf-8")
    place.tell(*program.rebuild)
    return _yes(BY_HAND in file.read_text(encoding="utf-8"))


def _reason(program: Program, place: _Place) -> str:
    """Ask of the file it rendered, or of the thing by its id."""
    if not program.reason:
        return NO_VERB
    file = place.file(program.rendered) if len(program.reason) == 1 else None
    told = place.tell(*program.reason, *([str(file)] if file else [])).stdout
    return _yes(SAID in told and time.strftime("%Y-%m-", time.gmtime()) in told)


def _damaged(program: Program, place: _Place) -> str:
    file = place.file(program.log)
    if file is None:
        return "no lines: SQLite"
    with file.open("a", encoding="utf-8") as log:
        log.write("garbage\n")
    return _yes(SAID in place.tell(*program.search, "cents").stdout)


def _version(program: Program, place: _Place) -> str:
    told = place.tell("--version")
    if told.returncode:
        return "tells none"
    code = f"from importlib.metadata import version; print(version({program.package!r}))"
    python = sys.executable if program.program[0] == sys.executable else str(Path(program.program[0]).parent / "python")
    package = place.run(python, "-c", code).stdout.strip()
    said = told.stdout.split()[-1]
    return _yes(said == package) if said == package else f"no: {said}, of {package}"


def _lines(told: "subprocess.CompletedProcess[str]") -> str:
    count = len((told.stdout + told.stderr).strip().splitlines())
    return f"{count} lines" if count != 1 else "1 line"


def _chinese(said: str) -> str:
    return "as escapes" if json.dumps(CHINESE)[1:-1] in said else _yes(CHINESE in said)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _in_turn(programs: list[Program], places: list[_Place], rounds: int = 15) -> list[str]:
    """Time a search of each, in turn, so that all meet the same machine; the ratio is taken round by round."""
    took = [[_ms(program, place) for program, place in zip(programs, places, strict=True)] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*took, strict=True)]
    ratios = [statistics.median(one[at] / one[0] for one in took) for at in range(len(programs))]
    return [f"{ms:.0f} ms, {ratio:.1f} ×" for ms, ratio in zip(medians, ratios, strict=True)]


def _ms(program: Program, place: _Place) -> float:
    begun = time.perf_counter()
    place.tell(*program.search, "cents")
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    """Install the two others into a scratch environment, do the jobs, print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        installed(Path(scratch))
        programs = _programs(Path(scratch, "venv", "bin"))
        places = [_Place(Path(scratch, program.name), program) for program in programs]
        done = [_jobs(program, place) for program, place in zip(programs, places, strict=True)]
        times = _in_turn(programs, places)
        damaged = [_damaged(program, place) for program, place in zip(programs, places, strict=True)]
        for answers, took, still_found in zip(done, times, damaged, strict=True):
            answers["a search, from a cold process"] = took
            answers["with a foreign line in its log, it still finds the rest"] = still_found
    print(f"| job | {' | '.join(program.name for program in programs)} |")
    print("| --- | --- | --- | --- |")
    for job in done[0]:
        print(f"| {job} | {' | '.join(answers[job] for answers in done)} |")


if __name__ == "__main__":
    main()
