"""The executor of a replay: as many processes as there are processors, for as long as the replay lasts.

Processes are forked, on Linux and from the only thread: no other way of starting them leaves the program of our
importer alone. Where none can be forked, or any dies, this process does the jobs.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_MAX = 4  # what is not done apart takes as long as they all together
_AHEAD = 2  # jobs a worker that wait: their results wait in memory for their turn

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


class Workers:
    """Processes that begin with the first job, and end with the `with` around them; jobs of later are done here."""

    def __init__(self, limit: int = _MAX) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._count = min(limit, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._count = 1
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    @property
    def executor(self) -> "Workers | None":
        """Return itself where others can help, else None."""
        return self if self.are_any else None

    @property
    def are_any(self) -> bool:
        """Processes beside this may help; a clock that waits is no other thread at work."""
        if self._count == 1:
            return False
        return self._pool is not None or (sys.platform == "linux" and not _are_threads_at_work())  # a pool has threads

    def map(self, do: Callable[[_Job], _Result], jobs: Iterable[_Job], /) -> Iterator[_Result]:
        """Execute the jobs, a few at a time, beginning now; yield their results in order."""
        coming = ((job, self._submit(do, job)) for job in jobs)
        waiting = deque(islice(coming, self._count * _AHEAD))

        def results() -> Iterator[_Result]:
            for submitted in coming:
                waiting.append(submitted)
                yield _result(do, *waiting.popleft())
            while waiting:
                yield _result(do, *waiting.popleft())

        return results()

    def _submit(self, do: Callable[[_Job], _Result], job: _Job) -> "Future[_Result] | None":
        if self._count == 1:
            return None
        from concurrent.futures import BrokenExecutor

        try:
            self._pool = self._pool or _started(self._count)
            return self._pool.submit(do, job)
        except BrokenExecutor:
            return None
        except (OSError, RuntimeError):  # the user has as many processes and threads as they may have
            self._count = 1
            for begun in self._pool._processes.values() if self._pool else ():  # noqa: SLF001 - nobody hands them a job
                begun.kill()
            self._pool = None
            return None


def _result(do: Callable[[_Job], _Result], job: _Job, future: "Future[_Result] | None") -> _Result:
    from concurrent.futures import BrokenExecutor

    if future:
        try:
            return future.result()
        except BrokenExecutor:  # it was killed, or ran out of memory
            pass
    return do(job)


def _started(count: int) -> "ProcessPoolExecutor":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(count, mp_context=get_context("fork"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End with the replay that started it, also where that is killed; leave Ctrl-C to it.

    The locks of a process that lives on would stay locked.
    """
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def wait() -> None:
        if parent:
            parent.join()
        os._exit(1)

    try:
        threading.Thread(target=wait, daemon=True).start()
    except RuntimeError:  # no room for it: whose jobs these are does them
        os._exit(1)


def _are_threads_at_work() -> bool:
    if "threading" not in sys.modules:  # nobody has begun any
        return False
    import threading

    others = set(threading.enumerate()) - {threading.current_thread()}
    return not all(isinstance(thread, threading.Timer) for thread in others)
