"""The fastest way to call `eventlog hook`: `python -I -S …/eventlog/hook.py --agent claude`.

Without site (`-S`) nothing is on the path but the standard library, so the directory of the package is added here.

The one seam of the house: a session's start is answered by a use case, two floors above the hooks. It is handed to
them here, and imported only when a session starts.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from eventlog.hosts.call import HookCall
    from eventlog.store import Store


def main(argv: list[str]) -> "NoReturn":
    """Serve one call of a host, and leave with 0."""
    from eventlog.hooks.serve import run

    run(argv, start_context)


def start_context(store: "Store", call: "HookCall") -> str:
    """Build the text a session starts with; never empty."""
    from eventlog.app import session_start

    return session_start.start_context(store, call)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main(sys.argv[1:])
