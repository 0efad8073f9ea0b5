"""Where a hook begins: with all it needs, and in a process of its own.

The one seam of the house: a session's start is answered by a use case, two floors above the hooks. It is handed to
them here, and imported only when a session starts.
"""

import gc

from eventlog.hooks.serve import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from eventlog.hosts.call import HookCall
    from eventlog.store import Store


def main(argv: list[str]) -> "NoReturn":
    """Serve one call of a host, and leave with 0."""
    gc.disable()  # in so short a life, looking for garbage costs more than what it finds
    run(argv, start_context)


def start_context(store: "Store", call: "HookCall") -> str:
    """Build the text a session starts with; never empty."""
    from eventlog.app import session_start

    return session_start.start_context(store, call)
