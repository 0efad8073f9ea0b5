"""Where a hook begins: with all it needs, and in a process of its own.

The one seam of the house: a session's start, a prompt and a file are answered by use cases two floors above the hooks.
They are handed to them here, and imported only when a session starts, or somebody asks something.
"""

import sys

from eventlog.hooks.serve import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from eventlog.hosts.call import HookCall
    from eventlog.store import Store


def main(argv: list[str]) -> "NoReturn":
    """Serve one call of a host, and leave with 0."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from eventlog.fast import standard_streams

        standard_streams.complete()
    run(argv, start_context)


def start_context(store: "Store", call: "HookCall") -> str:
    """Build the text a session starts with, never empty; of a prompt or a file what is known of it, or nothing."""
    if call.asked or call.file:
        from eventlog.app.search import recall

        return recall.at_prompt(store, call)
    from eventlog.app.serve import session_start

    return session_start.start_context(store, call)
