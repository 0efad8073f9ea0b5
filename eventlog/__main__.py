"""`python -m eventlog`, and the command `eventlog`."""

import os

from eventlog.cli.main import main


def run() -> None:
    """Run the command as a process of its own, which leaves at once where nothing is left to be put away."""
    main(os._exit)


if __name__ == "__main__":
    run()
