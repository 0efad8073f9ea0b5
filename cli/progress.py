"""Show a progress bar for work longer than a second, on a terminal: phase, share done, time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from eventlog.app.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich import progress as rich_progress


_SILENT_SECONDS = 1.0


@contextmanager
def phase(name: str = "looking through the log") -> Iterator[Progress]:
    """Show that work is going on; loads and shows the bar after a second.

    A phase of other work is shown by the same bar.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    if _View.at_work:
        yield _View.at_work.phase(name)
        return
    from threading import Timer  # for terminals only

    view = _View.at_work = _View()
    timer = Timer(_SILENT_SECONDS, view.begin)
    timer.daemon = True
    timer.start()
    try:
        yield view.phase(name)
    finally:
        _View.at_work = None
        timer.cancel()
        view.end()


class _View:
    """The current phase, and the bar that shows it after the first second."""

    at_work: "ClassVar[_View | None]" = None

    def __init__(self) -> None:
        from threading import Lock

        self._lock = Lock()
        self._bar: rich_progress.Progress | None = None
        self._ended = False
        self._name, self._done, self._all = "", 0, 0

    def phase(self, name: str) -> Progress:
        """Begin a phase; the next call ends it."""
        self._show(name, 0, 0)
        return lambda done, total: self._show(name, done, total)

    def begin(self) -> None:
        """Draw the bar, unless the work has ended."""
        from rich import progress
        from rich.console import Console

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
        )
        with self._lock:
            if not self._ended:
                self._bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
                self._bar.add_task(self._name, completed=self._done, total=self._all or None)
                self._bar.start()

    def end(self) -> None:
        """Remove the bar."""
        with self._lock:
            self._ended = True
            if self._bar:
                self._bar.stop()

    def _show(self, name: str, done: int, total: int) -> None:
        with self._lock:
            begins = name != self._name
            self._name, self._done, self._all = name, done, total
            if self._bar is None or self._ended:
                return
            [task] = self._bar.task_ids
            if begins:
                self._bar.reset(task, description=name)
            self._bar.update(task, completed=done, total=total or None)
