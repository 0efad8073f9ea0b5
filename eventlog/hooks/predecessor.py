"""The event a session's start or end came after: most hosts give these calls no key, and a session may be short.

Registrations of one call come after the same event of the conversation; its next start or end comes after another.
"""

import time

from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.hosts.call import HookCall
from eventlog.store import Store, index_lookup
from eventlog.store.dayfile import path_of
from eventlog.store.files import read_end

# what hosts tell; summaries, receipts and requests of ours come from elsewhere, any time
_CALLS = ("host_event", "turn_end", "save_requested", "session_start", "session_end")
_OURS = "stop"  # the trigger of a request that is ours; another one is a compaction the host told of
_READ = 1 << 20  # bytes of the end of today's file


def predecessor(store: Store, call: HookCall) -> str:
    """Find the id of the conversation's newest call of another type, recorded today; "" where there is none."""
    data = _end_of_today(store)
    end = len(data)
    marks = index_lookup.marks(call.session)
    while (at := max((data.rfind(mark, 0, end) for mark in marks), default=-1)) >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        event = fastjson.object_in(data[start : data.find(b"\n", at)])
        if event.get("conversation_id") == call.session and not event.get("subagent"):
            kind = event.get("type")
            if kind in _CALLS and kind != call.type and event.get("trigger") != _OURS:
                return str(event.get("id"))
        end = start
    return ""


def _end_of_today(store: Store) -> bytes:
    try:
        return read_end(path_of(store.log, timestamps.from_ns(time.time_ns())[:10]), _READ)
    except OSError:
        return b""
