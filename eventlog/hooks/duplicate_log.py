"""`cache/avoided.log`: a line for each duplicate that was not written, for `eventlog stats`.

Lost with the cache. Imported inside agents' hooks, when a call arrives again.
"""

import time

from eventlog.format import timestamps
from eventlog.store.files import append_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.store import Store

_LARGEST = 8 << 20  # bytes; then duplicates are no longer counted


def count_duplicate(store: "Store", what: str) -> None:
    """Count a duplicate `event` (of a hook) or `statement` (of an agent); never raises."""
    try:
        day = timestamps.from_ns(time.time_ns())[:10]
        append_bounded(store.cached("avoided.log"), f"{day} {what}".encode(), _LARGEST, starts_anew=False)
    except OSError:
        return


def duplicates_by_day(store: "Store") -> "list[str]":
    """List the day of each duplicate, unordered; none without a cache."""
    try:
        with open(store.cached("avoided.log"), encoding="ascii", errors="replace") as opened:
            return [line.split(" ", 1)[0] for line in opened if line.endswith("\n")]
    except OSError:
        return []
