"""The machine a use case runs on: the one place above the log that asks whose home, which environment, what time.

A shell makes it and hands it in; a test makes another one.
"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from eventlog import timestamps
from eventlog.hooks import prompts


class Machine(NamedTuple):
    """Home directory, environment, clock (nanoseconds since the epoch), and how a shell calls this program."""

    home: str
    environ: Mapping[str, str]
    clock: Callable[[], int]
    program: str

    @classmethod
    def here(cls) -> "Machine":
        """Read the machine of this process."""
        return cls(os.path.expanduser("~"), os.environ, timestamps.system_clock, prompts.program())  # noqa: PTH111 - "~" where there is none

    @property
    def is_switched_off(self) -> bool:
        """Tell whether `EVENTLOG_DISABLED` switches memory off here."""
        return self.environ.get("EVENTLOG_DISABLED", "") not in ("", "0")

    def now(self) -> str:
        """Tell the time as a timestamp of the log."""
        return timestamps.from_ns(self.clock())
