"""The table of a run on `docs/hosts.md`, with the commit it was made at."""

import re
import subprocess
from pathlib import Path

from tests.realhosts import places
from tests.realhosts.outcome import Skipped

PAGE = places.CHECKOUT / "docs" / "hosts.md"
BEGIN, END = "<!-- begin: written by `make hosts WHICH=--docs` -->", "<!-- end -->"
COMMIT = re.compile(r"at commit ([0-9a-f]{7,40})\b")


def commit(checkout: Path = places.CHECKOUT) -> str:
    """The commit of a checkout without changes; raises Skipped where there is none: nobody could look at what was run."""
    if changed := _git(checkout, "status", "--porcelain", "--untracked-files=no"):
        raise Skipped(
            f"{len(changed.splitlines())} files are not committed: the page would name a commit that is not this"
        )
    return _git(checkout, "rev-parse", "--short=12", "HEAD").strip()


def exists(name: str, checkout: Path = places.CHECKOUT) -> bool:
    """Whether a commit is in the history."""
    command = ["git", "merge-base", "--is-ancestor", name, "HEAD"]
    return subprocess.run(command, cwd=checkout, capture_output=True, check=False).returncode == 0


def with_table(page: str, table: str, at: str, day: str) -> str:
    """The page with the rows of a run, each with its day and commit; rows that were not played stay as they are.

    Where a host has another version by now nothing stays.
    """
    before, _, rest = page.partition(BEGIN)
    old, _, after = rest.partition(END)
    head, rows, notes = _parts(table, f" run of {day} at commit {at} |")
    old_head, old_rows, old_notes = _parts(old)
    if head == old_head:
        notes = {**{key: lines for key, lines in old_notes.items() if key not in rows}, **notes}
        rows = old_rows | rows
    lines = [*head, *rows.values(), "", *(line for key in rows for line in notes.get(key, []))]
    told = "Times say what was waited on that machine; the ratios are taken pair by pair."
    return "\n".join([f"{before}{BEGIN}", told, "", *lines]).strip() + f"\n{END}{after}"


def _parts(table: str, run: str = "") -> tuple[list[str], dict[str, str], dict[str, list[str]]]:
    """Split a table into its head, its rows, and the notes below it, by behaviour; a new one gets the column of the run."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    head, rows = lines[:2], lines[2:]
    if run:
        head = [line + more for line, more in zip(head, (" run |", " --- |"), strict=False)]
    notes: dict[str, list[str]] = {}
    for line in table.splitlines():
        if line.startswith("- `"):
            notes.setdefault(line.split("`")[1], []).append(line)
    return head, {row.split("`")[1]: row + run for row in rows}, notes


def _git(checkout: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Skipped(f"git {arguments[0]}: {ran.stderr.strip()}")
    return ran.stdout
