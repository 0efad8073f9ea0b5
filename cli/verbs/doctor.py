"""`eventlog doctor`."""

from collections.abc import Iterable
from typing import Any

import click

from eventlog.app.doctor import DoctorReport, doctor
from eventlog.app.install.health import Problem
from eventlog.app.install.host_report import Report
from eventlog.app.install.permissions import Saving
from eventlog.cli import options
from eventlog.cli.agent_options import here
from eventlog.cli.main import EXIT_FOUND
from eventlog.cli.output import count, emit_pretty, say
from eventlog.store import Store

_RECENT = 3


@click.command(epilog=options.examples("eventlog doctor", "eventlog doctor --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> int:
    """Tell what is active: for each agent whether it is found and registered, when a hook last arrived, what failed.

    Names the exact fix of everything that is wrong. Changes nothing; exits with 1 where something needs a fix.
    """
    found = doctor(here(store))
    if as_json:
        emit_pretty(_as_dict(store, found))
    else:
        _tell(store, found)
    return EXIT_FOUND if found.needs_a_fix else 0


def _tell(store: Store, found: DoctorReport) -> None:
    say(f"store      {store.root}")
    _tell_problems(found.problems)
    if copies := found.set_aside:
        kept = count(len(copies), "copy of an edited file is", "copies of edited files are")
        say(f"set aside  {kept} kept; take out what you need, then remove: {copies[0]}{', …' if copies[1:] else ''}")
    for agent in found.agents:
        say(_state(agent))
        if agent.saving:
            say(f"             saving is {agent.saving.verdict}{_to_allow(agent.saving)}")
        for file in agent.servers:
            say(f"             MCP server in {file}")
        _tell_problems(agent.problems)
        if agent.found and not agent.installed:
            say(f"             to install: eventlog install {agent.agent}")
    if failed := found.failures:
        say(f"failures   {len(failed):,} in {store.cache}/hook-errors.*; read them, then remove these files. The last:")
        for failure in failed[-_RECENT:]:
            say(f"  {failure.get('ts')} {failure.get('error')}")


def _state(agent: Report) -> str:
    heard = f"last hook {agent.last[:19].replace('T', ' ')} UTC" if agent.last else "no hook has arrived"
    words = ["found" if agent.found else "not found", "installed" if agent.installed else "not installed"]
    return f"{agent.agent:<10} {', '.join([*words, heard] if agent.installed or agent.last else words)}"


def _to_allow(saving: Saving) -> str:
    return f" by its default permissions; to allow it: {saving.fix}" if saving.fix else ""


def _tell_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        say(f"  {'!' if problem.serious else '-'} {problem.what}")
        say(f"             fix: {problem.fix}")


def _as_dict(store: Store, found: DoctorReport) -> dict[str, Any]:
    return {
        "store": store.root,
        "problems": [problem._asdict() for problem in found.problems],
        "set_aside": found.set_aside,
        "agents": [
            {
                **agent._asdict(),
                "problems": [problem._asdict() for problem in agent.problems],
                "saving": agent.saving._asdict() if agent.saving else None,
            }
            for agent in found.agents
        ],
        "failures": found.failures[-_RECENT:],
        "failures_in_all": len(found.failures),
    }
