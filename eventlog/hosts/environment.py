"""Find the agent that runs a shell command, by the environment that hosts give their agents' commands.

Not for hooks, whose payload names the host: hosts inherit each other's environment.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from eventlog.hosts import named_conversations
from eventlog.hosts.profile import profiles

_PS = ("ps", "-axo", "pid=,ppid=,command=")


def is_run_by_agent(environ: Mapping[str, str]) -> bool:
    """Return whether an agent started this process, by its environment or a program above it."""
    all_hosts = profiles().values()
    if named_conversations(environ) or any(environ.get(mark) for host in all_hosts for mark in host.marks):
        return True
    programs = {program for host in all_hosts for program in host.runs}
    # a command line runs one of them directly, or by an interpreter
    return any(PurePath(word).stem in programs for command in _above() for word in command.split("\0")[:2])


def _above() -> Iterator[str]:
    """Yield the command lines of the processes above, words separated by NUL, as far as they can be read."""
    listed = None if Path("/proc/self/stat").exists() else _listed()
    parent = os.getppid()
    while parent > 1:
        found = _process(parent) if listed is None else listed.get(parent)
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
    """List all processes by `ps`, for systems without /proc; none where it fails."""
    import subprocess  # costs a twentieth of a verb, which needs it nowhere else

    try:
        listing = subprocess.run(_PS, capture_output=True, check=True, timeout=2).stdout.decode("utf-8", "replace")
        lines = (line.split(None, 2) for line in listing.splitlines())
        return {int(pid): (int(parent), command.replace(" ", "\0")) for pid, parent, command in lines}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
