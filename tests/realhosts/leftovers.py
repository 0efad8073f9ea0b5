"""No process outlives its scenario: where there is no fence, whatever lost its parent becomes ours, and is ended."""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_PATIENCE = 5  # seconds


def adopt() -> None:
    """Become the parent of every descendant that loses its own; where the system has no such thing, nothing happens."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_all() -> None:
    """End every descendant. To be called where nobody waits for one."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and (left := list(_descendants(os.getpid()))):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        time.sleep(0.05)


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                yield child
                yield from _descendants(child)
