"""Before a file is opened: is what was decided about it told, and is nothing told about other files?

A task is taken up by opening the files that its earlier sessions changed. A fact that names a file is needed by whoever
opens that file. Files nobody spoke of are those of the same name elsewhere in the project, and those every project has.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bench.memory.metrics import Interval, interval
from bench.memory.own import facts, path_of, rows
from bench.memory.world import Haystack
from eventlog import Memory
from eventlog.app.search.recall import RecallRequest, about_file, chosen_lines, recall_text

_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.\w{1,5}\b", re.ASCII)
_OF_EVERYBODY = ("README.md", "pyproject.toml", "package.json", "Makefile", "src/index.ts", "tests/conftest.py")

Tell = Callable[[str, str, str], str]  # project, path below it, conversation -> what is told


class BeforeFiles(NamedTuple):
    """Shares of files, tasks and lines; `decided` are tasks whose decision is told at the prompt or with a file."""

    named: Interval
    at_prompt: Interval
    decided: Interval
    beside: Interval  # lines told with a task's files that are of none of its sessions
    false: Interval
    chars: float  # per file of a task


def arms(haystack: Haystack) -> dict[str, Tell]:
    """Map the names of those who answer to what they tell."""
    memory = Memory(haystack.store)

    def ours(project: str, path: str, conversation: str) -> str:
        store = memory.log.store
        hits = about_file(store, RecallRequest(path, project, conversation), chosen_lines(store))
        return recall_text(hits, "en").partition("\n")[2]

    def searched(project: str, path: str, _conversation: str) -> str:
        return "\n".join(hit.text for hit in memory.search(path, project=project, limit=3)[:3])

    return {"nothing": lambda *_: "", "search for its path": searched, "ours, before a file": ours}


def measure(tell: Tell, haystack: Haystack) -> BeforeFiles:
    """Open every file of the set once; what a prompt alone tells is the hook's own."""
    sessions = {row["id"]: row for row in rows("sessions")}
    tasks = [row for row in rows("tasks") if "/" not in row["needs"] and "." not in row["needs"][-6:]]
    lines: list[float] = []
    prompted, decided, chars = [], [], []
    memory = Memory(haystack.store)
    for task in tasks:
        project, gold = path_of(task["project"]), [sessions[one] for one in task["sessions"]]
        at_prompt = memory.recall(task["prompt"], project=project)
        given = [tell(project, path, task["id"]) for one in gold for path in one["files"]]
        prompted.append(float(task["needs"] in at_prompt))
        decided.append(float(task["needs"] in at_prompt or any(task["needs"] in text for text in given)))
        own = [*(text for one in gold for text in (one["title"], *one["decisions"]))]
        lines += [float(not any(text in line for text in own)) for text in given for line in text.splitlines()]
        chars += [len(text) for text in given]
    named = [float(row["content"] in tell(project, path, row["id"])) for row, project, path in _named()]
    false = [float(bool(tell(project, path, "nobody"))) for project, path in _others()]
    per_file = sum(chars) / max(1, len(chars))
    return BeforeFiles(
        interval(named), interval(prompted), interval(decided), interval(lines), interval(false), per_file
    )


def _named() -> Iterator[tuple[dict[str, str], str, str]]:
    """Yield every fact that names files, with each of them."""
    for row in facts():
        for path in _PATH.findall(row["content"]) if row["project"] else ():
            yield row, path_of(row["project"]), path


def _others() -> Iterator[tuple[str, str]]:
    """Yield files nobody spoke of: each of them is named by no line of the set."""
    said = "\n".join(str(row) for name in ("facts.en", "facts.zh", "sessions") for row in rows(name))
    for project in sorted({row["project"] for row in rows("sessions")}):
        changed = {path for row in rows("sessions") if row["project"] == project for path in row["files"]}
        elsewhere = {f"elsewhere/{path.rpartition('/')[2]}" for path in changed}
        yield from ((path_of(project), path) for path in sorted(elsewhere | {*_OF_EVERYBODY}) if path not in said)
