"""Standard streams for a process that was started without one of them, as by `>&-`."""

import os
import sys


def complete() -> None:
    """Open those that are closed to nothing.

    Otherwise the next file that is opened bears the number of a stream, and what is said goes into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            lowest = os.open(os.devnull, os.O_RDWR)  # of the numbers that are free: that of the stream
            os.set_inheritable(lowest, True)
            setattr(sys, name, open(lowest, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
