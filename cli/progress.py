"""A bar for what takes longer than a second, on a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SILENT_SECONDS = 1.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Make what is told how much is done, and how much there is in all."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, visible=False)
        begun = time.monotonic()

        def show(done: int, total: int) -> None:
            slow = time.monotonic() - begun > _SILENT_SECONDS
            bar.update(task, completed=done, total=total, visible=slow)

        yield show
