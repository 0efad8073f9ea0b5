"""A store opened on a machine: what nearly every use case works on.

`Machine` is the one place above the log that asks whose home, which environment, what time. A shell makes it and hands
it in; a test makes another one.
"""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from eventlog.format import timestamps
from eventlog.format.errors import NotStored
from eventlog.hooks import prompts
from eventlog.log.event_log import EventLog
from eventlog.projects.root import project_root
from eventlog.settings.schema import Settings
from eventlog.store import Store, spool
from eventlog.store.replica import own_replica_of


class Machine(NamedTuple):
    """Home directory, environment, clock (nanoseconds since the epoch), and how a shell calls this program.

    `is_typed` tells whether a person types the command, and no agent. `cwd` is the working directory; "" for none.
    """

    home: str
    environ: Mapping[str, str]
    clock: Callable[[], int]
    program: str
    is_typed: Callable[[], bool] = lambda: False
    cwd: str = ""

    @classmethod
    def here(cls) -> "Machine":
        """Read the machine of this process."""
        home = os.path.expanduser("~")  # noqa: PTH111 - "~" where there is none
        cwd = ""
        with suppress(OSError):  # a directory that was removed
            cwd = os.getcwd()  # noqa: PTH109
        return cls(home, os.environ, timestamps.system_clock, prompts.program(), _is_typed, cwd)

    @property
    def project(self) -> str:
        """The project of the working directory; "" for none."""
        return project_root(self.cwd) if self.cwd else ""

    def now(self) -> str:
        """Return the time as a timestamp of the log."""
        return timestamps.from_ns(self.clock())


def _is_typed() -> bool:
    """Return whether there is a terminal, and no agent that has it: some agents give their commands a terminal."""
    if not any(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    from eventlog.hosts.profile import is_run_by_agent

    return not is_run_by_agent(os.environ)


class OpenStore(NamedTuple):
    """The log of a store, the settings in force, and the machine it is on."""

    log: EventLog
    settings: Settings
    machine: Machine

    @property
    def store(self) -> Store:
        """The paths of the store."""
        return self.log.store

    @property
    def replica(self) -> str:
        """The name of the store; "" while it has none of its own."""
        return own_replica_of(self.store)


def open_log(store: Store, machine: Machine) -> EventLog:
    """Open the log, with what waited for it; to record something, a mistake in `config.yaml` is no obstacle."""
    if os.path.exists(store.redacting):  # noqa: PTH110 - its place may not be looked at
        from eventlog.app.write.erasing.erase_everywhere import complete  # a redaction was killed

        with suppress(NotStored):  # a full disk must not keep events out; doctor tells
            complete(store)
    log = EventLog(store, clock=machine.clock)
    take_in(log)
    return log


def take_in(log: EventLog) -> None:
    """Append what waits for the log: events of hooks, and what changed in the files of a team."""
    spool.take_in(log.store)
    if os.path.exists(log.store.trusted):  # noqa: PTH110 - its place may not be looked at
        from eventlog.app.team.decisions import settle

        with suppress(NotStored, OSError, ValueError):  # to ask a log is no reason to fail
            settle(log)


def open_store(store: Store, machine: Machine) -> OpenStore:
    """Open the log and read the settings; raises BadSettings."""
    from eventlog.settings import load  # brings YAML along, which only this needs

    return OpenStore(open_log(store, machine), load.load(store).settings, machine)
