"""The check of the store, its settings, and every agent; reads everything, changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eventlog import days
from eventlog.app.install import health
from eventlog.app.install.health import Problem
from eventlog.app.install.host_report import Report, examine
from eventlog.app.install.install import InstallTarget
from eventlog.errors import BadSettings
from eventlog.hooks import error_log
from eventlog.settings import load
from eventlog.store import Store


class DoctorReport(NamedTuple):
    """Problems of the store, edited files that were set aside, a report per agent, and the failures hooks noted."""

    problems: list[Problem]
    set_aside: list[str]
    agents: list[Report]
    failures: list[dict[str, Any]]

    @property
    def needs_a_fix(self) -> bool:
        """Tell whether there is anything a person should see to."""
        serious = any(problem.serious for agent in self.agents for problem in agent.problems)
        return bool(serious or self.problems or self.failures)


def doctor(target: InstallTarget) -> DoctorReport:
    """Examine the store and every agent; raises OSError where the log cannot be read."""
    agents = examine(target)
    return DoctorReport(list(_problems(target)), _set_aside(target.store), agents, error_log.noted(target.store))


def _problems(target: InstallTarget) -> Iterator[Problem]:
    yield from _switches(target)
    yield from _settings(target.store)
    yield from health.examine(target.store)
    log = target.store.log
    for path in days.foreign_files(log):
        yield Problem(f"{path} is no day file and is never read", f"move it out of {log}")
    for bad in days.unreadable(log):
        what = f"{bad.file} cannot be read: {bad.reason}"
        yield Problem(what, "give it back to its owner, or move it out: the rest is read")


def _switches(target: InstallTarget) -> Iterator[Problem]:
    if target.environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        yield Problem("EVENTLOG_DISABLED is set: hooks record nothing", "unset EVENTLOG_DISABLED")
    switch = target.project / ".eventlog-disable"
    if switch.exists():
        yield Problem("hooks record nothing in this project", f"rm {switch}")


def _settings(store: Store) -> Iterator[Problem]:
    try:
        load.load(store)
    except BadSettings as error:
        yield Problem(str(error), "correct it: until then hooks go by the defaults, and replay refuses")


def _set_aside(store: Store) -> list[str]:
    """Copies of files that people had edited, kept when the files were rebuilt."""
    return sorted(map(str, Path(store.knowledge).rglob("*.md.edited-*")))
