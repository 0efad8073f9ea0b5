"""`cache/late/`: contexts that were due while the host shows its agent no answer.

A small file per conversation, with how it went on: left at a clear or a compaction, taken by the first call whose
answer reaches the agent. Whoever takes it away tells, so two registrations tell it once.
"""

from eventlog.fast import os
from eventlog.hosts.call import HookCall
from eventlog.store import Store, conversation_name
from eventlog.store.files import read_regular, write_note

_LONGEST = 40  # bytes: `clear`, `compact`


def owe(store: Store, call: HookCall, source: str) -> None:
    """Note that the conversation is owed its context; where that cannot be written, it goes without."""
    write_note(_path(store, call), source.encode()[:_LONGEST])


def take(store: Store, call: HookCall) -> str:
    """Take the note away and return its source; "" where nothing is owed, or another was faster."""
    path = _path(store, call)
    try:
        source = read_regular(path)[:_LONGEST].decode(errors="replace")
        os.unlink(path)
    except OSError:
        return ""
    return source


def _path(store: Store, call: HookCall) -> str:
    return store.cached("late", conversation_name(call.session))
