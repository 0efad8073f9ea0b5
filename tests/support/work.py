"""Work, counted: a figure that is the same on every machine, however busy, and whatever ran before."""

import gc
import sys
from collections.abc import Callable


def lines_run(do: Callable[[], object]) -> int:
    """Count the lines of our own code that a call runs, each time it runs them."""
    count = 0

    def trace(frame, what, _arg):
        nonlocal count
        if what == "call":
            return trace if frame.f_globals.get("__name__", "").startswith("eventlog.") else None
        count += what == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # what others have left is not our work
    sys.settrace(trace)
    try:
        do()
    finally:
        sys.settrace(before)
        gc.enable()
    return count
