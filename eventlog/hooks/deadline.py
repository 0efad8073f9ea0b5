"""The deadline of a hook: when a lock, a disk, stdin or a FIFO blocks, the hook ends before its host gives up.

An alarm, set for each stage, rings until it is handled: an interrupted call may be retried by its caller. `OutOfTime`
is no Exception, so that no handler of errors catches it. A thread in C backs the alarm, and ends the process also
where no Python code runs any more.

Time in which a busy machine does not run this process is not counted, up to the same again: losing an event then would
make nothing faster.

Nothing here has an effect before `start`, so that a hook called inside another program costs it nothing.
"""

import time

from eventlog.fast import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

BUDGET = 2.0  # seconds from the start of the hook to its end, at the latest

# shares of it, by which the stages must be done; the rest is for noting a failure
STDIN, READ, APPEND, ANSWER, LAST = (BUDGET * share for share in (0.3, 0.6, 0.7, 0.87, 0.95))
LOCK, LOCK_AGAIN = (BUDGET * share for share in (0.25, 0.025))  # to wait for it; where others wait already
_RINGS_AGAIN = 0.1  # seconds


class OutOfTime(BaseException):
    """Raised where a stage takes too long."""


# plain names: a class to hold them would cost every call as much as a module
_began = 0.0  # monotonic seconds; 0 before `start`
_stage = LAST
fallback_answer = b""  # printed where the hook ends without its own
_end: "Callable[[int], NoReturn]" = os._exit  # noqa: SLF001 - so it is called
_null = -1  # where the thread in C writes
_starved_before = 0.0  # seconds this process had waited for a processor when a call began that is not its first
rang = False  # since the start


def start(began: float = 0.0, end: "Callable[[int], NoReturn]" = os._exit) -> None:  # noqa: SLF001 - so it is called
    """Count from now, or from that monotonic time, and end the process after `BUDGET` at the latest, where it can."""
    try:
        import faulthandler

        # `import signal` costs two milliseconds
        from _signal import SIG_UNBLOCK, SIGALRM, pthread_sigmask, signal  # type: ignore[import-not-found]
    except ImportError:
        return
    global _began, _end, _null, _starved_before, rang  # noqa: PLW0603
    _began, _end, rang = began or time.monotonic(), end, False
    _starved_before = _starved() if began else 0.0
    signal(SIGALRM, _ring)
    pthread_sigmask(SIG_UNBLOCK, (SIGALRM,))  # a host may have started us with it blocked
    _null = os.open(os.devnull, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        faulthandler.dump_traceback_later(2 * BUDGET, exit=True, file=_null)
    except RuntimeError:  # the user has as many processes as they may have
        return


def stop() -> None:
    """Stop counting: this process goes on after the call."""
    global _began  # noqa: PLW0603
    if _began:
        from _signal import ITIMER_REAL, setitimer

        stop_thread()
        os.close(_null)
        _began = 0.0
        setitimer(ITIMER_REAL, 0)


def set_stage(stage: float) -> None:
    """Raise OutOfTime `stage` seconds after the start, and again until it is handled; at `LAST`, end the process."""
    global _stage  # noqa: PLW0603
    if _began:
        from _signal import ITIMER_REAL, setitimer

        _stage = stage
        setitimer(ITIMER_REAL, max(_began + stage - time.monotonic(), 0.001), _RINGS_AGAIN)


def set_stage_within(seconds: float, stage: float) -> None:
    """Set the stage as `set_stage` does, at most so many seconds from now."""
    set_stage(min(stage, time.monotonic() - _began + seconds))


def stop_thread() -> None:
    """Stop the thread: a process that forks must not have another."""
    if _began:
        import faulthandler

        faulthandler.cancel_dump_traceback_later()


def _ring(*_: object) -> None:
    """Raise OutOfTime; at the last stage, end the process with the fallback answer."""
    global rang  # noqa: PLW0603
    if not _began:
        return
    rang = True
    used = time.monotonic() - _began - min(_starved() - _starved_before, BUDGET)
    if used >= LAST:
        try:
            os.write(1, fallback_answer)
        finally:
            _end(0)
    if used >= _stage:
        raise OutOfTime


def _starved() -> float:
    """Return the seconds this process waited for a processor; 0 where they are not counted (proc(5), schedstat)."""
    try:
        with open("/proc/self/schedstat", "rb") as opened:
            return int(opened.read().split()[1]) / 1e9
    except (OSError, ValueError, LookupError):
        return 0.0
