"""The machine a use case runs on: the one place above the log that asks whose home, which environment, what time.

A shell makes it and hands it in; a test makes another one.
"""

import os
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from eventlog.format import timestamps
from eventlog.hooks import prompts


class Machine(NamedTuple):
    """Home directory, environment, clock (nanoseconds since the epoch), and how a shell calls this program.

    `is_typed` tells whether a person types the command, and no agent.
    """

    home: str
    environ: Mapping[str, str]
    clock: Callable[[], int]
    program: str
    is_typed: Callable[[], bool] = lambda: False

    @classmethod
    def here(cls) -> "Machine":
        """Read the machine of this process."""
        home = os.path.expanduser("~")  # noqa: PTH111 - "~" where there is none
        return cls(home, os.environ, timestamps.system_clock, prompts.program(), _is_typed)

    @property
    def is_switched_off(self) -> bool:
        """Tell whether `EVENTLOG_DISABLED` switches memory off here."""
        return self.environ.get("EVENTLOG_DISABLED", "") not in ("", "0")

    def now(self) -> str:
        """Tell the time as a timestamp of the log."""
        return timestamps.from_ns(self.clock())


def _is_typed() -> bool:
    """Tell whether there is a terminal, and no agent that has one: some give their commands a terminal of their own."""
    if not any(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    from eventlog.hosts.environment import is_run_by_agent

    return not is_run_by_agent(os.environ)
