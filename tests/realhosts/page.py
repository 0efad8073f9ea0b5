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
    """The page with the table of a run in the place of the one before."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    told = f"One run of {day} at commit {at}. Times say what was waited on that machine; the ratios are taken pair by pair."
    return f"{before}{BEGIN}\n{told}\n\n{table.strip()}\n{END}{after}"


def _git(checkout: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Skipped(f"git {arguments[0]}: {ran.stderr.strip()}")
    return ran.stdout
