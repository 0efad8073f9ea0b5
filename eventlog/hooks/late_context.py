"""`cache/late/`: contexts that could not be told when they were due, because the host shows its agent no answer there.

A small file per conversation, with how it went on: left at a clear or a compaction, taken by the first call whose
answer reaches the agent. Whoever takes it away tells, so two registrations tell it once.
"""

from eventlog.files import make_dirs
from eventlog.hosts.call import HookCall
from eventlog.lean import os
from eventlog.store import Store, conversation_name

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_LONGEST = 40  # bytes: `clear`, `compact`


def owe(store: Store, call: HookCall, source: str) -> None:
    """Note that the conversation is owed its context; where that cannot be written, it goes without."""
    path = _path(store, call)
    try:
        make_dirs(os.path.dirname(path))
        fd = os.open(path, _WRITE, 0o600)
    except OSError:
        return
    try:
        os.write(fd, source.encode()[:_LONGEST])
    finally:
        os.close(fd)


def take(store: Store, call: HookCall) -> str:
    """Take the note away and return its source; "" where nothing is owed, or another was faster."""
    path = _path(store, call)
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        source = os.read(fd, _LONGEST).decode(errors="replace")
        os.unlink(path)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return source


def _path(store: Store, call: HookCall) -> str:
    return store.cached("late", conversation_name(call.session))
