"""Work, counted: a figure that is the same on every machine, however busy."""

import sys
from collections.abc import Callable


def lines_run(do: Callable[[], object]) -> int:
    """Count the lines of Python that a call runs, each time it runs them."""
    count = 0

    def trace(_frame, what, _arg):
        nonlocal count
        count += what == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        do()
    finally:
        sys.settrace(before)
    return count
