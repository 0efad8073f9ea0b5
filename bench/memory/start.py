"""What a session is given at its start today: is the line it will need literally there?"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.memory.metrics import Interval, interval

BUDGETS = (9000, 3000)  # characters: the default, and a third of it
_EVENTLOG = (sys.executable, "-m", "eventlog")
Need = tuple[str, str, str]  # group, project, line


def presence(needs: Iterable[Need], store: Path, budget: int) -> dict[str, Interval]:
    """By group, the share of needed lines that stand in the context of their project.

    Knowledge files are rebuilt first, as they are at the end of a session; a store that does not exist stays so.
    """
    if store.exists():
        _run(store, "replay")
    wanted = list(needs)
    projects = dict.fromkeys(need[1] for need in wanted) if store.exists() else ()  # no project is known without
    contexts = {project: _context(store, project, budget) for project in projects}
    found: dict[str, list[float]] = {}
    for group, project, line in wanted:
        found.setdefault(group, []).append(float(line in contexts.get(project, "")))
    return {group: interval(shares) for group, shares in found.items()}


def _context(store: Path, project: str, budget: int) -> str:
    return _run(store, "context", "--project", project, "--budget", str(budget))


def _run(store: Path, *words: str) -> str:
    """The output of one verb, in a home without files."""
    environ = {**os.environ, "HOME": str(store.parent)}
    command = (*_EVENTLOG, "--store", str(store), *words)
    return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout
