"""`eventlog doctor`."""

import os
from pathlib import Path
from typing import Any

import click

from eventlog import days
from eventlog.app.install import health
from eventlog.app.install.doctor import Report, examine
from eventlog.app.install.health import Problem
from eventlog.cli import options
from eventlog.cli.agent_options import here
from eventlog.cli.main import EXIT_FOUND
from eventlog.cli.output import count, emit_pretty, say
from eventlog.errors import BadSettings
from eventlog.hooks import error_log
from eventlog.settings import load
from eventlog.store import Store

_RECENT = 3


@click.command(epilog=options.examples("eventlog doctor", "eventlog doctor --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> int:
    """Tell what is active: for each agent whether it is found and registered, when a hook last arrived, what failed.

    Names the exact fix of everything that is wrong. Changes nothing; exits with 1 where something needs a fix.
    """
    reports = examine(here(store))
    general = _general(store)
    failed = error_log.noted(store)
    if as_json:
        emit_pretty(_as_dict(store, reports, general, failed))
    else:
        _tell(store, reports, general, failed)
    serious = any(problem.serious for one in reports for problem in one.problems)
    return EXIT_FOUND if serious or general or failed else 0


def _general(store: Store) -> list[Problem]:
    """What is wrong whichever agent calls."""
    found = []
    if os.environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        found.append(Problem("EVENTLOG_DISABLED is set: hooks record nothing", "unset EVENTLOG_DISABLED"))
    switch = here(store).project / ".eventlog-disable"
    if switch.exists():
        found.append(Problem("hooks record nothing in this project", f"rm {switch}"))
    try:
        load.load(store)
    except BadSettings as error:
        found.append(Problem(str(error), "correct it: until then hooks go by the defaults, and replay refuses"))
    found += health.examine(store)
    found += [
        Problem(f"{path} is no day file and is never read", f"move it out of {store.log}")
        for path in days.foreign_files(store.log)
    ]
    found += [
        Problem(
            f"{bad.file} cannot be read: {bad.reason}", "give it back to its owner, or move it out: the rest is read"
        )
        for bad in days.unreadable(store.log)
    ]
    return found


def _set_aside(store: Store) -> list[str]:
    """Copies of files that people had edited, kept when the files were rebuilt."""
    return sorted(map(str, Path(store.knowledge).rglob("*.md.edited-*")))


def _tell(store: Store, reports: list[Report], general: list[Problem], failed: list[dict[str, object]]) -> None:
    say(f"store      {store.root}")
    _problems(general)
    if copies := _set_aside(store):
        kept = count(len(copies), "copy of an edited file is", "copies of edited files are")
        say(f"set aside  {kept} kept; take out what you need, then remove: {copies[0]}{', …' if copies[1:] else ''}")
    for one in reports:
        say(_state(one))
        _problems(list(one.problems))
        if one.found and not one.installed:
            say(f"             to install: eventlog install {one.agent}")
    if failed:
        say(f"failures   {len(failed):,} in {store.cache}/hook-errors.*; read them, then remove these files. The last:")
        for failure in failed[-_RECENT:]:
            say(f"  {failure.get('ts')} {failure.get('error')}")


def _state(one: Report) -> str:
    heard = f"last hook {one.last[:19].replace('T', ' ')} UTC" if one.last else "no hook has arrived"
    words = ["found" if one.found else "not found", "installed" if one.installed else "not installed"]
    return f"{one.agent:<10} {', '.join([*words, heard] if one.installed or one.last else words)}"


def _problems(problems: list[Problem]) -> None:
    for one in problems:
        say(f"  {'!' if one.serious else '-'} {one.what}")
        say(f"             fix: {one.fix}")


def _as_dict(
    store: Store, reports: list[Report], general: list[Problem], failed: list[dict[str, object]]
) -> dict[str, Any]:
    agents = [{**one._asdict(), "problems": [problem._asdict() for problem in one.problems]} for one in reports]
    return {
        "store": store.root,
        "problems": [problem._asdict() for problem in general],
        "set_aside": _set_aside(store),
        "agents": agents,
        "failures": failed[-_RECENT:],
        "failures_in_all": len(failed),
    }
