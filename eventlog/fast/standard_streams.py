"""Standard streams for a process that started with a closed stream, as by `>&-`."""

import os
import sys


def complete() -> None:
    """Open closed streams to the null device: else the next opened file gets their number, and their output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            lowest = os.open(os.devnull, os.O_RDWR)  # of the numbers that are free: that of the stream
            os.set_inheritable(lowest, True)
            setattr(sys, name, open(lowest, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
