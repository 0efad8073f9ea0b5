"""`python -m eventlog`, and the command `eventlog`."""

import gc
import os

from eventlog.cli.main import main

_OBJECTS = 150_000  # made before garbage is looked for; most verbs take fewer, a replay too, and end soon after


def run() -> None:
    """Run the command as a process of its own, which leaves at once where nothing is left to be put away."""
    gc.set_threshold(_OBJECTS)
    main(os._exit)


if __name__ == "__main__":
    run()
