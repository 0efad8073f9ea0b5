"""Check the installation: `eventlog doctor`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eventlog import __version__
from eventlog.app.setup.doctor import DoctorReport, doctor
from eventlog.app.setup.install.host_report import Problem, Report
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, count, hang, marked, padded, print_lines
from eventlog.format.text import one_line
from eventlog.hosts import rooms
from eventlog.store import Store

_RECENT = 3  # failures


@options.verb("eventlog doctor", "eventlog doctor --json")
def _doctor_command(store: Store) -> Answer:
    """Check the installation: agents found and registered, last hook of each, failures.

    Prints the fix of every problem and changes nothing. Leaves the lines of the log to `eventlog verify`: of damage it
    knows what the last replay has seen. Exits with 1 if something does not work; advice (!) is no failure.
    """
    found = doctor(options.install_target(store))
    code = EXIT_FOUND if found.needs_a_fix else 0
    return Answer(_as_dict(store, found), lambda: _show_report(found, Display(store)), code)


def _as_dict(store: Store, found: DoctorReport) -> dict[str, Any]:
    return {
        "store": store.root,
        "version": __version__,
        "log_files": found.log_files,
        "log_bytes": found.log_bytes,
        "written_at": found.written_at,
        "copied_from": found.copied_from or None,
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


_NAME = 9  # cells
_SAVING = {"allowed": "saves unasked", "asked": "asks before it saves", "refused": "may not save"}
_KB, _MB = 1000, 1_000_000


def _show_report(found: DoctorReport, display: Display) -> None:
    """Print the store and each installed agent with its problems, then the other agents in one line."""
    _line(_mark(found.problems), "store", f"{found.store}{_measured(found, display)}")
    _steps(found.problems)
    if found.copied_from:
        _line("·", "", f"copied from the store of {found.copied_from}; it has its own name")
    if found.set_aside:
        number = count(len(found.set_aside), "copy of an edited file is", "copies of edited files are")
        _line("!", "set aside", f"{number} kept: {found.set_aside[0]}{', …' if found.set_aside[1:] else ''}")
        _step("fix", "copy what you need, then remove them")
    here = [agent for agent in found.agents if agent.found or agent.installed or agent.problems]
    is_none = not any(agent.installed for agent in found.agents)
    for agent in here:
        _agent(agent, display, is_none=is_none)
    if unknown := [failure for failure in found.failures if failure.get("agent") not in rooms()]:
        _failures(found, unknown, display)
    if elsewhere := [agent.agent for agent in found.agents if agent not in here]:
        _line("·", "not here", ", ".join(elsewhere))
    if is_none:
        names = " ".join(agent.agent for agent in here) or "AGENT"
        _line("!", "next", f"no hook is installed: eventlog install {names}")


def _agent(agent: Report, display: Display, *, is_none: bool) -> None:
    if not agent.installed:
        _line("·", agent.agent, "found, not installed" + ("" if is_none else f": eventlog install {agent.agent}"))
    else:
        heard = (
            f"hooks work: the last {display.ago(agent.last)}" if agent.last else "installed; no hook has arrived yet"
        )
        saving = f" · {_saving(agent)}" if agent.saving or agent.servers else ""
        live = f" · answered live by process {agent.live}" if agent.live else ""
        _line(_mark(agent.problems), agent.agent, heard + saving + live)
        if agent.saving and agent.saving.fix:
            _step("to allow it", agent.saving.fix)
    for file in agent.servers:
        _line(" ", "", f"MCP server in {file}")
    _steps(agent.problems)


def _saving(agent: Report) -> str:
    by_tool = "by tool" if agent.servers else ""
    verdict = _SAVING[agent.saving.verdict] if agent.saving else "saves"
    return " ".join(filter(None, (verdict, by_tool)))


def _mark(problems: Iterable[Problem]) -> str:
    problems = list(problems)
    if any(problem.serious for problem in problems):
        return "✗"
    return "!" if any(problem.pending for problem in problems) else "✓"


def _steps(problems: Iterable[Problem]) -> None:
    for problem in problems:
        _line("✗" if problem.serious else "!" if problem.pending else "·", "", problem.what)
        _step("fix", problem.fix)


def _failures(found: DoctorReport, failed: Sequence[Mapping[str, Any]], display: Display) -> None:
    """Print failures of unknown agents; other failures are listed with their agents."""
    _line("✗", "failures", f"{count(len(failed), 'call')} of hooks failed; the last:")
    for failure in failed[-_RECENT:]:
        _line(" ", "", f"{_when(failure.get('ts'), display)}  {failure.get('error')}")
    _step("fix", f"read {found.store}/cache/hook-errors.*, then remove these files")


def _when(ts: object, display: Display) -> str:
    """Format a time; returns an invalid time unchanged."""
    try:
        return display.moment(str(ts))
    except ValueError:
        return str(ts)


def _measured(found: DoctorReport, display: Display) -> str:
    size = found.log_bytes
    room = f"{size / _MB:,.1f} MB" if size >= _MB else f"{size / _KB:,.1f} kB"
    log = f"{count(found.log_files, 'day file')}, {room}" if found.log_files else "nothing has happened yet"
    written = f" · knowledge written {display.ago(found.written_at)}" if found.written_at else ""
    return f" · {log}{written} · eventlog {__version__}"


def _step(word: str, text: str) -> None:
    _line(" ", "", f"{word}: {text}")


def _line(mark: str, name: str, text: str) -> None:
    print_lines(hang(f"{marked(mark)} {padded(name, _NAME)} ", one_line(text)))
