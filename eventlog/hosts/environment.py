"""Tell whether a shell command is an agent's, and whose: hosts tell their agents' commands where they run.

Not for hooks, which are told by their payload: hosts inherit each other's environment.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePath

from eventlog import hosts
from eventlog.hosts.profile import profiles

_PS = ("ps", "-axo", "pid=,ppid=,command=")


def named_conversations(environ: Mapping[str, str]) -> dict[str, str]:
    """Map agents to the conversation ids their variables give; several where one host was started by another."""
    named = {agent: environ.get(hosts.session_variable(agent), "").strip() for agent in hosts.ROOMS}
    return {agent: conversation_id for agent, conversation_id in named.items() if conversation_id}


def is_run_by_agent(environ: Mapping[str, str]) -> bool:
    """Tell whether this process was started by an agent: its environment says so, or a program above it is one."""
    hosts_known = profiles().values()
    if named_conversations(environ) or any(environ.get(mark) for host in hosts_known for mark in host.marks):
        return True
    programs = {program for host in hosts_known for program in host.runs}
    return any(_runs_one_of(programs, command) for command in _above())


def _runs_one_of(programs: Collection[str], command: str) -> bool:
    """Tell whether a command line is that of such a program, or of an interpreter of it."""
    return any(PurePath(word).stem in programs for word in command.split("\0")[:2])


def _above() -> Iterator[str]:
    """Yield the command lines of the processes above this one, words separated by NUL; as far as one may look."""
    known = None if Path("/proc/self/stat").exists() else _listed()
    parent = os.getppid()
    while parent > 1:
        found = _process(parent) if known is None else known.get(parent)
        if found is None:
            return
        parent, command = found
        yield command


def _process(pid: int) -> tuple[int, str] | None:
    """Read the parent and the command line of a process of Linux."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1]), command
    except (OSError, ValueError, IndexError):
        return None


def _listed() -> dict[int, tuple[int, str]]:
    """Ask `ps` for all processes, where there is no /proc; none where it does not answer."""
    import subprocess  # a twentieth of the time of a verb, which needs it nowhere else

    try:
        said = subprocess.run(_PS, capture_output=True, check=True, timeout=2).stdout.decode("utf-8", "replace")
        lines = (line.split(None, 2) for line in said.splitlines())
        return {int(pid): (int(parent), command.replace(" ", "\0")) for pid, parent, command in lines}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
