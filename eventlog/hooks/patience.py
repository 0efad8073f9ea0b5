"""The time a hook has: whatever blocks (a lock, a disk, stdin, a FIFO), it is gone before its host minds.

One alarm, set anew for each step, that goes on ringing until it is heard: an interrupted call may be tried again by
whoever made it. `OutOfTime` is no Exception, so that nobody who expects errors takes it for one. Behind it stands a
thread in C, which ends the process also where no Python runs any more.

Time in which the machine is too busy to let us run is not counted, up to the same again: to lose an event then would
make nobody faster.

Nothing here does anything before `begin`, so that a hook called inside another program costs it nothing.
"""

import time

from eventlog.fast import os

BUDGET = 2.0  # seconds from the start of the hook to its end, at the latest

# shares of it, by which the steps must be done; what is left over is for leaving a trace
STDIN, READ, APPEND, ANSWER, LAST = (BUDGET * share for share in (0.3, 0.6, 0.7, 0.87, 0.95))
LOCK, LOCK_AGAIN = (BUDGET * share for share in (0.25, 0.025))  # waited for one; for one that was waited for before
_RINGS_AGAIN = 0.1  # seconds


class OutOfTime(BaseException):
    """The step has taken longer than it may."""


# plain names: a class to hold them would cost every call as much as a module
_began = 0.0  # monotonic seconds; 0 where nobody is waiting
_step = LAST
_last_words = b""


def begin() -> None:
    """Count from now, and end the process after `BUDGET` at the latest; where the system can."""
    try:
        import faulthandler

        # `import signal` costs two milliseconds
        from _signal import SIG_UNBLOCK, SIGALRM, pthread_sigmask, signal  # type: ignore[import-not-found]
    except ImportError:
        return
    global _began  # noqa: PLW0603
    _began = time.monotonic()
    signal(SIGALRM, _ring)
    pthread_sigmask(SIG_UNBLOCK, (SIGALRM,))  # a host may have started us with it blocked
    null = os.open(os.devnull, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0))
    faulthandler.dump_traceback_later(2 * BUDGET, exit=True, file=null)


def say_at_the_end(last_words: bytes) -> None:
    """Have this printed where the end comes before the answer; nothing, once that is given."""
    global _last_words  # noqa: PLW0603
    _last_words = last_words


def until(step: float) -> None:
    """Raise OutOfTime in whatever is being done `step` seconds after the beginning, and again until it is heard.

    At `LAST` nothing is raised: the process ends.
    """
    global _step  # noqa: PLW0603
    if _began:
        from _signal import ITIMER_REAL, setitimer

        _step = step
        setitimer(ITIMER_REAL, max(_began + step - time.monotonic(), 0.001), _RINGS_AGAIN)


def at_most(seconds: float, step: float) -> None:
    """Like `until`, and no longer than so many seconds from now."""
    until(min(step, time.monotonic() - _began + seconds))


def stop() -> None:
    """Do without the thread: a process that forks must have no other."""
    if _began:
        import faulthandler

        faulthandler.cancel_dump_traceback_later()


def _ring(*_: object) -> None:
    """Raises OutOfTime."""
    used = time.monotonic() - _began - min(_starved(), BUDGET)
    if used >= LAST:
        _leave()
    if used >= _step:
        raise OutOfTime


def _leave() -> None:
    """End the process, with what the host has to be told at least."""
    try:
        os.write(1, _last_words)
    finally:
        os._exit(0)  # noqa: SLF001 - so it is called


def _starved() -> float:
    """Seconds we could have run and were not let; 0 where the system does not say (proc(5), schedstat)."""
    try:
        with open("/proc/self/schedstat", "rb") as opened:
            return int(opened.read().split()[1]) / 1e9
    except (OSError, ValueError, LookupError):
        return 0.0
