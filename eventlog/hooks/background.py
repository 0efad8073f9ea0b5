"""Work no host should wait for: a process of its own session, with none of the host's pipes.

Standard library only, and not even subprocess: importing it costs more than the hook.
"""

import sys
import time

from eventlog.fast import os
from eventlog.hooks import patience
from eventlog.store import Store
from eventlog.store.files import is_locked

_STARTS_WITHIN = 10.0  # seconds
_PAUSE = 0.5  # seconds: the host finishes first, and several ends are seen to together


def start_finalize(store: Store) -> None:
    """Start `eventlog settle` for the store, unless one is about to begin, or at work: it looks again at the end."""
    if is_locked(store.lock("settle")) or _is_starting(store.cached("settle.starting")):
        return
    command = [sys.executable, "-I", "-m", "eventlog", "settle", "--store", store.root]
    if os.name == "nt":
        _start_on_windows(command)
    else:
        _start(command)


def _start(command: "list[str]") -> None:
    """Return as soon as nothing the host does to our group can reach the new process.

    posix_spawn would also wait for the program to be loaded.
    """
    patience.stop()
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        return
    try:
        os.setsid()
        os.close(writing)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # a host waits until all ends of its pipes are closed
        time.sleep(_PAUSE)
        os.execv(command[0], command)
    finally:
        os._exit(127)  # noqa: SLF001 - so it is called


def _is_starting(path: str) -> bool:
    """Tell whether another process has just started one; if not, claim the start for a while."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return time.time() - os.stat(path).st_mtime < _STARTS_WITHIN
    except OSError:
        return False
    return False


def _start_on_windows(command: "list[str]") -> None:
    import subprocess

    flags = 0x8 | 0x200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, close_fds=True, creationflags=flags)
